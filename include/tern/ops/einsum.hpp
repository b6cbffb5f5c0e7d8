// Sums of products over named dimensions.
#pragma once
#include <string>

#include "matmul.hpp"
#include "reduce.hpp"
#include "shape.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// A tensor and a label for each of its dimensions: a letter, or for the dimensions of an ellipsis 1, 2 …, the last
/// being 1.
template <class D, class T>
struct Labelled {
  Tensor<D, T> tensor;
  std::string labels;
};

inline bool has_label(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

/// The subscripts before and after the arrow. Error on anything else.
struct TERN_API EinsumEquation {
  std::vector<std::string> inputs{""};  // an ellipsis is stored as a dot
  std::string output;
  bool has_output = false;

  explicit EinsumEquation(const std::string& equation);
};

/// The subscript with its ellipsis replaced by labels for the dimensions that the letters leave.
TERN_API std::string spread_ellipsis(const std::string& subscript, int dims);

/// The labels of the output, given those of all inputs. Error if one occurs twice, or in no input.
TERN_API std::string output_labels(const EinsumEquation& subscripts, const std::string& all,
                                   const std::string& equation);

/// Takes the diagonal of dimensions that share a label.
template <class D, class T>
Labelled<D, T> with_distinct_labels(Labelled<D, T> x, CallSite here) {
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    for (std::size_t j = x.labels.find(x.labels[i], i + 1); j != std::string::npos;
         j = x.labels.find(x.labels[i], i + 1)) {
      if (x.tensor.size(int(i)) != x.tensor.size(int(j)))
        Error::fail({"einsum", here},
                    {"a repeated subscript names sizes ", x.tensor.size(int(i)), " and ", x.tensor.size(int(j))});
      x.tensor = movedim(diagonal(x.tensor, 0, Index(i), Index(j), here), -1, Index(i), here);
      x.labels.erase(j, 1);
    }
  return x;
}

/// Sums over the dimensions whose labels are not in `kept`.
template <class D, class T>
Labelled<D, T> summed_to(Labelled<D, T> x, const std::string& kept, CallSite here) {
  Dims dims;
  std::string labels;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (has_label(kept, x.labels[i])) labels += x.labels[i];
    else dims.push_back(Index(i));
  }
  if (dims.empty()) return x;
  return {sum(x.tensor, dims, false, here), labels};
}

/// Permutes the dimensions into the order of `labels`. A label without a dimension gets one of size 1.
template <class D, class T>
Tensor<D, T> ordered_as(const Labelled<D, T>& x, const std::string& labels, CallSite here) {
  Dims order;
  Shape to;
  for (const char label : labels) {
    const std::size_t at = x.labels.find(label);
    if (at != std::string::npos) order.push_back(Index(at));
    to.push_back(at == std::string::npos ? 1 : x.tensor.size(int(at)));
  }
  return reshape(permute(x.tensor, order, here), to, here);
}

/// The product of two tensors, summed over the labels of both that are not in `kept`. A batch of matrix products.
template <class D, class T>
Labelled<D, T> contracted(Labelled<D, T> a, Labelled<D, T> b, const std::string& kept, CallSite here) {
  a = summed_to(a, kept + b.labels, here);
  b = summed_to(b, kept + a.labels, here);
  std::string batch, rows, columns, inner;
  for (const char label : a.labels)
    (!has_label(b.labels, label) ? rows : has_label(kept, label) ? batch : inner) += label;
  for (const char label : b.labels)
    if (!has_label(a.labels, label)) columns += label;
  const auto size_in = [](const Labelled<D, T>& x, char label) { return x.tensor.size(int(x.labels.find(label))); };
  const auto sizes_of = [&](const std::string& labels) {
    Shape sizes;
    for (const char label : labels) {
      const Index m = has_label(a.labels, label) ? size_in(a, label) : 1,
                  n = has_label(b.labels, label) ? size_in(b, label) : 1;
      if (m != n && m != 1 && n != 1) Error::fail({"einsum", here}, {"one subscript names sizes ", m, " and ", n});
      sizes.push_back(m == 1 ? n : m);
    }
    return sizes;
  };
  const auto as_matrices = [&](const Labelled<D, T>& x, const std::string& first, const std::string& second) {
    Tensor<D, T> y = ordered_as(x, batch + first + second, here);
    y = expand(y, sizes_of(batch + first + second), here);
    return reshape(y, {sizes_of(batch).numel(), sizes_of(first).numel(), sizes_of(second).numel()}, here);
  };
  const Tensor<D, T> product = bmm(as_matrices(a, rows, inner), as_matrices(b, inner, columns), here);
  return {reshape(product, sizes_of(batch + rows + columns), here), batch + rows + columns};
}

}  // namespace detail

/// The sum of products that an equation such as "bij,jk->bik" describes. It sums over the subscripts that do not stand
/// after the arrow. Without an arrow, the subscripts that occur once stay, in alphabetical order. Tensors are combined
/// two at a time, from the left.
template <Device D, Element T>
Tensor<D, T> einsum(const std::string& equation, const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallScope scope({"einsum", here});
  detail::EinsumEquation subscripts(equation);
  if (tensors.empty() || subscripts.inputs.size() != tensors.size())
    Error::fail("einsum", {Index(subscripts.inputs.size()), " subscripts for ", Index(tensors.size()),
                           " tensors: ", equation.c_str()});
  std::vector<detail::Labelled<D, T>> parts;
  std::string all;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const int dims = tensors[k].checked("einsum")->ndim;
    parts.push_back({tensors[k], detail::spread_ellipsis(subscripts.inputs[k], dims)});
    all += parts[k].labels;
    parts[k] = detail::with_distinct_labels(parts[k], here);
  }
  const std::string output = detail::output_labels(subscripts, all, equation);
  detail::Labelled<D, T> result = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k) {
    std::string kept = output;
    for (std::size_t later = k + 1; later < parts.size(); ++later) kept += parts[later].labels;
    result = detail::contracted(result, parts[k], kept, here);
  }
  return detail::ordered_as(detail::summed_to(result, output, here), output, here);
}

template <Device D, Element T>
Tensor<D, T> einsum(const std::string& equation, std::initializer_list<Tensor<D, T>> tensors, CallSite here = {}) {
  return einsum(equation, std::vector<Tensor<D, T>>(tensors), here);
}
/// The same, with the tensors as arguments.
template <Device D, Element T, std::convertible_to<Tensor<D, T>>... More>
Tensor<D, T> einsum(detail::At<const char*> equation, const Tensor<D, T>& first, const More&... more) {
  return einsum(equation.tensor, std::vector<Tensor<D, T>>{first, more...}, equation.here);
}

/// y_o = x1ᵀ W_o x2 + b_o, with x1 [.., m], x2 [.., n], weight [out, m, n] and bias [out] or undefined.
template <Device D, Floating T>
Tensor<D, T> bilinear(const Tensor<D, T>& x1, const Tensor<D, T>& x2, const Tensor<D, T>& weight,
                      const Tensor<D, T>& bias = {}, CallSite here = {}) {
  const CallScope scope({"bilinear", here});
  if (weight.checked("bilinear")->ndim != 3)
    Error::fail("bilinear", {"the weight must be [out, m, n], not ", weight.shape()});
  const Index out = weight.size(0), m = weight.size(1), n = weight.size(2);
  detail::Shape to = x1.checked("bilinear")->shape(), other = x2.checked("bilinear")->shape();
  bool fits = to.n > 0 && to.n == other.n && to.back() == m && other.back() == n;
  for (int i = 0; fits && i + 1 < to.n; ++i) fits = to[i] == other[i];
  if (!fits || (bias.defined() && !(bias.shape() == detail::Shape{out})))
    Error::fail("bilinear",
                {"inputs of shapes ", to, " and ", other, " do not fit a weight of shape ", weight.shape()});
  to[to.n - 1] = out;
  const auto both_sides = [&](const auto& u, const auto& v, const auto& w) {
    const auto matrix = reshape(permute(w, {1, 0, 2}, here), {m, out * n}, here);
    const auto halves = reshape(mm(reshape(u, {-1, m}, here), matrix, here), {-1, out, n}, here);
    return reshape(bmm(halves, reshape(v, {-1, n, 1}, here), here), to, here);
  };
  if (!bias.defined()) return detail::rounded_once(both_sides, x1, x2, weight);
  return detail::rounded_once(
      [&](const auto& u, const auto& v, const auto& w, const auto& b) { return add(both_sides(u, v, w), b, here); }, x1,
      x2, weight, bias);
}

TERN_SAME_PLACE(bilinear)

}}  // namespace tern

#ifndef TERN_COMPILED
#include "einsum.ipp"
#endif
