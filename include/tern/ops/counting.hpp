// Elements counted and looked for: unique, unique_consecutive, bincount, histc, isin. Their results are not on the
// tape.
#pragma once
#include "../core/named_tuple.hpp"
#include "take.hpp"

namespace tern { inline namespace TERN_BUILD {

/// What unique and unique_consecutive give besides the elements. With dim, it takes the positions of that dimension as
/// elements.
struct UniqueOptions {
  bool return_inverse = false, return_counts = false;
  std::optional<Index> dim{};
};

/// The different elements in ascending order; for each element of the input the position of its equal, and how often
/// each occurs. What was not asked for is undefined.
template <class D, class T>
struct UniqueElements : std::tuple<Tensor<D, T>, Tensor<D, Index>, Tensor<D, Index>> {
  using Tuple = std::tuple<Tensor<D, T>, Tensor<D, Index>, Tensor<D, Index>>;
  Tensor<D, T>& output = std::get<0>(*this);
  Tensor<D, Index>& inverse_indices = std::get<1>(*this);
  Tensor<D, Index>& counts = std::get<2>(*this);

  UniqueElements() = default;
  TERN_NAMED_TUPLE(UniqueElements)
};

namespace detail {

/// The rows of a matrix in ascending order, compared column by column, and their positions before.
template <class D, class T>
ValuesAndIndices<D, T> sorted_rows(const Tensor<D, T>& rows, CallSite here) {
  const Index columns = rows.size(1);
  const ValuesAndIndices<D, T> last = sort(select(rows, 1, columns - 1, here), 0, false, here);
  if (columns == 1) return {unsqueeze(last.values, 1, here), last.indices};
  Tensor<D, Index> order = last.indices;
  for (Index column = columns - 1; column-- > 0;)
    order = index_select(order, 0, argsort(index_select(select(rows, 1, column), 0, order), 0));
  return {index_select(rows, 0, order, here), order};
}

/// The first of each run of equal elements, either of the sorted elements or of those in their own order.
template <class D, class T>
UniqueElements<D, T> first_of_runs(const CallSite& op, const Tensor<D, T>& x, const UniqueOptions& options,
                                   bool is_sorted) {
  const CallScope scope(op);
  const CallSite here = op;
  const Array& a = *x.checked(op);
  const bool by_position = options.dim.has_value();
  if (by_position && a.ndim == 0) Error::fail(op, {"a 0-d tensor has no dimension ", *options.dim});
  const int dim = by_position ? wrap_dim(op, *options.dim, a.ndim) : 0;
  const Tensor<D, T> in = by_position ? transpose(x.detach(), 0, dim, here) : reshape(x.detach(), -1, here);
  const Index n = in.size(0);
  if (n > 0 && in.numel() == 0)
    Error::fail(op, {"positions of dimension ", dim, " of ", a.shape(), " have no elements"});
  const Tensor<D, T> rows = reshape(in, {n, n ? in.numel() / n : 1}, here);
  const auto [sorted, order] =
      is_sorted ? sorted_rows(rows, here) : ValuesAndIndices<D, T>{rows, arange_like(x, 0, 1, n)};
  Tensor<D, bool> is_first = full<D, bool>(n, true, x.device());
  if (n > 1) {
    const Tensor<D, bool> differs = ne(narrow(sorted, 0, 1, n - 1), narrow(sorted, 0, 0, n - 1));
    copy_(narrow(is_first, 0, 1, n - 1), rows.size(1) == 1 ? view(differs, n - 1) : any(differs, 1));
  }
  const Tensor<D, Index> starts = positions_of(is_first);
  UniqueElements<D, T> found;
  Shape to = in.shape();
  to[0] = starts.numel();
  const Tensor<D, T> output = reshape(index_select(sorted, 0, starts, here), to, here);
  found.output = by_position ? contiguous(transpose(output, 0, dim, here), here) : output;
  if (options.return_inverse) {
    const Tensor<D, Index> numbers =
        scatter(zeros<D, Index>(n, x.device()), 0, order, sub(cumsum(is_first, 0), 1), here);
    found.inverse_indices = by_position ? numbers : reshape(numbers, x.shape(), here);
  }
  if (options.return_counts) {
    const Tensor<D, Index> end = full<D, Index>(1, n, x.device());
    found.counts = n ? sub(cat({narrow(starts, 0, 1, starts.numel() - 1, here), end}, 0, here), starts) : starts;
  }
  return found;
}

}  // namespace detail

/// The different elements in ascending order, with their counts and the input's numbers for them if asked for. NaN is
/// different from every element. The host waits for their number.
template <Device D, Element T>
UniqueElements<D, T> unique(const Tensor<D, T>& x, const UniqueOptions& options, CallSite here = {}) {
  return detail::first_of_runs({"unique", here}, x, options, true);
}
template <Device D, Element T>
Tensor<D, T> unique(const Tensor<D, T>& x, CallSite here = {}) {
  return unique(x, UniqueOptions{}, here).output;
}
/// The same with PyTorch's arguments. The elements are in order, `sorted` or not.
template <Device D, Element T, std::same_as<bool> Sorted>
UniqueElements<D, T> unique(const Tensor<D, T>& x, Sorted, bool return_inverse = false, bool return_counts = false,
                            std::optional<Index> dim = {}, CallSite here = {}) {
  return unique(x, UniqueOptions{return_inverse, return_counts, dim}, here);
}

/// One of each run of equal elements that follow each other, in their order.
template <Device D, Element T>
UniqueElements<D, T> unique_consecutive(const Tensor<D, T>& x, const UniqueOptions& options, CallSite here = {}) {
  return detail::first_of_runs({"unique_consecutive", here}, x, options, false);
}
template <Device D, Element T>
Tensor<D, T> unique_consecutive(const Tensor<D, T>& x, CallSite here = {}) {
  return unique_consecutive(x, UniqueOptions{}, here).output;
}

namespace detail {

/// terms[i] added at position x[i] of zeros. There are at least minlength of them.
template <class D, class T>
Tensor<D, T> sums_by_number(const Tensor<D, Index>& x, const Tensor<D, T>& terms, Index minlength, CallSite here) {
  if (x.checked("bincount")->ndim != 1) Error::fail("bincount", {"a vector of numbers is needed, not ", x.shape()});
  if (minlength < 0) Error::fail("bincount", {"minlength must not be negative: ", minlength});
  if (terms.dim() && terms.numel() != x.numel())
    Error::fail("bincount", {"weights of shape ", terms.shape(), " for numbers of shape ", x.shape()});
  if (const Index least = x.numel() ? amin(x).item(here) : 0; least < 0)
    Error::fail("bincount", {"the numbers must not be negative: ", least});
  const Index count = x.numel() ? amax(x).item(here) + 1 : 0;
  const Tensor<D, T> zero = zeros<D, T>(count > minlength ? count : minlength, x.device());
  return scatter_add(zero, 0, x, expand(terms, x.shape(), here), here);
}

}  // namespace detail

/// How often each number 0, 1, 2 … occurs in the vector x, up to the largest, or for at least minlength numbers. The
/// host waits for the largest number. Error for a negative one.
template <Device D, std::integral I>
  requires(Element<I> && !std::is_same_v<I, bool>)
Tensor<D, Index> bincount(const Tensor<D, I>& x, Index minlength = 0, CallSite here = {}) {
  const CallScope scope({"bincount", here});
  x.checked("bincount");
  return detail::sums_by_number(to_type(x, i64), full<D, Index>({}, 1, x.device()), minlength, here);
}
/// The same with PyTorch's arguments: bincount(x, {}, 6).
template <Device D, std::integral I>
  requires(Element<I> && !std::is_same_v<I, bool>)
Tensor<D, Index> bincount(const Tensor<D, I>& x, detail::NoneType, Index minlength, CallSite here = {}) {
  return bincount(x, minlength, here);
}
/// The same with the sums of weights, one weight for each element of x. Weights that are not float are summed as
/// double.
template <Device D, std::integral I, Element W>
  requires(Element<I> && !std::is_same_v<I, bool>)
auto bincount(const Tensor<D, I>& x, const Tensor<D, W>& weights, Index minlength = 0, CallSite here = {}) {
  const CallScope scope({"bincount", here});
  x.checked("bincount");
  if (weights.checked("bincount")->ndim != 1)
    Error::fail("bincount", {"the weights must be a vector, not ", weights.shape()});
  using Sum = std::conditional_t<std::is_same_v<W, float>, float, double>;
  return detail::sums_by_number(to_type(x, i64), to_type(weights.detach(), detail::Type<Sum>{}), minlength, here);
}

/// How many elements lie in each of `bins` intervals of equal length between min and max; by default between the
/// smallest and the largest element, for which the host waits. Others, and NaN, do not count.
template <Device D, Floating T>
Tensor<D, T> histc(const Tensor<D, T>& x, Index bins = 100, detail::RealNumber min = 0, detail::RealNumber max = 0,
                   CallSite here = {}) {
  const CallScope scope({"histc", here});
  x.checked("histc");
  if constexpr (detail::is_half_v<T>) return to_type(histc(to_type(x, f32), bins, min, max, here), detail::Type<T>{});
  if (bins < 1) Error::fail("histc", {"bins must be positive, not ", bins});
  const Tensor<D, T> in = reshape(x.detach(), -1, here);
  double low = min, high = max;
  if (low == high && in.numel() > 0) low = double(amin(in).item(here)), high = double(amax(in).item(here));
  if (low == high) low -= 1, high += 1;
  if (!(low < high && high - low < std::numeric_limits<double>::infinity()))
    Error::fail("histc", {"no intervals between ", low, " and ", high});
  const auto is_inside = [low, high](auto v) { return (v >= decltype(v)(low)) & (v <= decltype(v)(high)); };
  const auto number = [is_inside, low, high, bins](auto v) {
    return where(is_inside(v), (v - low) / (high - low) * double(bins), 0);
  };
  const Tensor<D, T> none = zeros<D, T>(bins, x.device());  // refuses more bins than an int64 could count
  const Tensor<D, Index> at =
      clamp_max(to_type(detail::map<T>({"histc", CallSite::unknown}, number, in), i64), bins - 1);
  return scatter_add(none, 0, at,
                     to_type(detail::map<bool>({"histc", CallSite::unknown}, is_inside, in), detail::Type<T>{}), here);
}

/// True for each element that is among the test elements; with invert, that is not. NaN is among none.
template <Device D, Element T>
Tensor<D, bool> isin(const Tensor<D, T>& elements, const Tensor<D, T>& test_elements, bool invert = false,
                     CallSite here = {}) {
  const CallScope scope({"isin", here});
  elements.checked("isin");
  const Index count = test_elements.checked("isin")->numel;
  if (count == 0) return full<D, bool>(elements.shape(), invert, elements.device());
  const Tensor<D, T> sorted = msort(reshape(test_elements.detach(), -1, here), here), in = elements.detach();
  const Tensor<D, Index> at = clamp_max(searchsorted(sorted, reshape(in, -1, here), false, {}, here), count - 1);
  const Tensor<D, T> nearest = reshape(index_select(sorted, 0, at, here), in.shape(), here);
  return invert ? ne(nearest, in) : eq(nearest, in);
}
template <Device D, Element T>
Tensor<D, bool> isin(const Tensor<D, T>& elements, detail::number_t<T> test_element, bool invert = false,
                     CallSite here = {}) {
  const CallScope scope({"isin", here});
  return invert ? ne(elements, test_element, here) : eq(elements, test_element, here);
}
template <Device D, Element T>
Tensor<D, bool> isin(detail::number_t<T> element, const Tensor<D, T>& test_elements, bool invert = false,
                     CallSite here = {}) {
  const CallScope scope({"isin", here});
  const Tensor<D, bool> found = any(eq(test_elements, element, here), {}, false, here);
  return invert ? logical_not(found) : found;
}

TERN_SAME_PLACE(isin)

}}  // namespace tern

TERN_NAMED_TUPLE_SIZE(tern::UniqueElements, 3)
