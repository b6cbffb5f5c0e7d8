// Rows of a table, looked up by number: one by one, or reduced in bags.
#pragma once
#include <optional>

#include "../core/choice.hpp"
#include "../tensor/creation.hpp"
#include "gather.hpp"
#include "transfer.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The row that padding_idx names; a negative one counts from the end. backend::no_row if there is none. Error if it is
/// not one of the table's rows.
TERN_API Index padding_row(const CallSite& op, std::optional<Index> padding_idx, Index rows);

}  // namespace detail

/// y[..., :] = weight[x[...], :]. Row padding_idx, which may count from the end, gets no gradient.
template <Device D, Element T>
Tensor<D, T> embedding(const Tensor<D, Index>& x, const Tensor<D, T>& weight, std::optional<Index> padding_idx = {},
                       CallSite here = {}) {
  if (weight.checked({"embedding", here})->ndim != 2)
    Error::fail({"embedding", here}, {"the table must be a matrix, not ", weight.shape()});
  const Index rows = weight.size(0), padding = detail::padding_row({"embedding", here}, padding_idx, rows);
  detail::Shape to = x.checked({"embedding", here})->shape();
  to.push_back(weight.size(1));
  Tensor<D, T> table = weight;
  if (padding != detail::backend::no_row &&
      detail::records(weight)) {  // the same values, with the padding row detached
    const Tensor<D, bool> trained = ones<D, bool>({rows, 1}, weight.device());
    trained.select(0, padding).fill_(false);
    table = where(trained, weight, weight.detach());
  }
  return reshape(detail::take_rows({"embedding", here}, table, reshape(x, {-1}, here)), to, here);
}

struct EmbeddingBagOptions {
  detail::Choice<BagMode, "sum", "mean", "max"> mode = BagMode::mean;
  bool include_last_offset = false;       // the last offset is the end of the last bag
  std::optional<Index> padding_idx = {};  // this row, which may count from the end, is skipped
};

namespace detail {

template <class D, class T>
Tensor<D, T> reduced_bags(const CallSite& op, backend::Bags bags, const Tensor<D, T>& weight,
                          const Tensor<D, Index>& numbers, const Tensor<D, Index>& starts, const Tensor<D, T>& scale);

/// The gradient of reduced_bags (sum and mean) by its table. It is linear in g, so its own gradient is reduced_bags
/// again.
template <class D, class T>
Tensor<D, T> bags_gradient(backend::Bags bags, Index rows, const Tensor<D, T>& g, const Tensor<D, Index>& numbers,
                           const Tensor<D, Index>& starts, const Tensor<D, T>& scale) {
  if constexpr (is_half_v<T>) {  // sums in float
    const Type<float> promoted;
    const auto factors = scale.defined() ? to_type(scale, promoted) : Tensor<D, float>();
    return to_type(bags_gradient(bags, rows, to_type(g, promoted), numbers, starts, factors), Type<T>{});
  } else {
    const Tensor<D, T> dense = contiguous(g.detach());
    const Tensor<D, T> y = zeros<D, T>({rows, g.size(1)}, g.device());
    backend::run<D, T>(
        backend::EmbeddingBagGradient{bags, *y.impl(), *dense.impl(), *numbers.impl(), *starts.impl(), scale.impl()});
    const CallSite op{"embedding_bag", CallSite::unknown};
    if (scale.defined())
      record(op, y,
             wrt(g, saved(numbers, starts, scale),
                 [bags](const Tensor<D, T>& gg, const auto& n, const auto& s, const auto& w) {
                   return reduced_bags({"embedding_bag", CallSite::unknown}, bags, gg, n, s, w);
                 }));
    else
      record(op, y, wrt(g, saved(numbers, starts), [bags](const Tensor<D, T>& gg, const auto& n, const auto& s) {
               return reduced_bags({"embedding_bag", CallSite::unknown}, bags, gg, n, s, Tensor<D, T>());
             }));
    return y;
  }
}

template <class D, class T>
Tensor<D, T> reduced_bags(const CallSite& op, backend::Bags bags, const Tensor<D, T>& weight,
                          const Tensor<D, Index>& numbers, const Tensor<D, Index>& starts, const Tensor<D, T>& scale) {
  const Tensor<D, T> table = contiguous(weight.detach());
  const Index rows = table.size(0), columns = table.size(1), count = starts.numel() - 1;
  const Tensor<D, T> y = empty<D, T>({count, columns}, weight.device());
  const bool max = bags.mode == BagMode::max;
  const Tensor<D, Index> chosen = max ? full<D, Index>({count, columns}, rows, weight.device()) : Tensor<D, Index>();
  backend::run<D, T>(backend::EmbeddingBag{bags, *y.impl(), *table.impl(), *numbers.impl(), *starts.impl(),
                                           scale.impl(), chosen.impl()});
  if (max) {
    record(op, y, wrt(weight, saved(chosen), [rows, columns](const Tensor<D, T>& g, const auto& at) {
             // An empty bag has no maximum. Its gradient goes to an extra row at the end, which is cut off.
             return narrow(scatter_add(zeros<D, T>({rows + 1, columns}, g.device()), 0, at, g), 0, 0, rows);
           }));
  } else if (scale.defined()) {
    record(op, y,
           wrt(weight, saved(numbers, starts, scale.detach()),
               [bags, rows](const Tensor<D, T>& g, const auto& n, const auto& s, const auto& w) {
                 return bags_gradient(bags, rows, g, n, s, w);
               }));
  } else {
    record(op, y,
           wrt(weight, saved(numbers, starts), [bags, rows](const Tensor<D, T>& g, const auto& n, const auto& s) {
             return bags_gradient(bags, rows, g, n, s, Tensor<D, T>());
           }));
  }
  return y;
}

/// The start of each bag, and the end of the last one, for x of this shape: from offsets, or for bags of equal length.
TERN_API Tensor<Cpu, Index> bag_starts(const Shape& x, const Tensor<Cpu, Index>& offsets, bool include_last);

}  // namespace detail

/// The sum, mean or maximum of rows of the table for each bag of numbers. x is [bags, length], or a vector with offsets
/// that say where each bag starts. The host waits for offsets that are on a device. per_sample_weights, in x's shape,
/// scale the rows of a sum.
template <Device D, Element T>
Tensor<D, T> embedding_bag(const Tensor<D, Index>& x, const Tensor<D, T>& weight, const Tensor<D, Index>& offsets,
                           EmbeddingBagOptions options = {}, const Tensor<D, T>& per_sample_weights = {},
                           CallSite here = {}) {
  const CallScope scope({"embedding_bag", here});
  x.checked("embedding_bag");
  if (weight.checked("embedding_bag")->ndim != 2)
    Error::fail("embedding_bag", {"the table must be a matrix, not ", weight.shape()});
  const Index rows = weight.size(0);
  const Index padding = detail::padding_row({"embedding_bag", CallSite::unknown}, options.padding_idx, rows);
  // The host checks offsets. If they are on a device, it waits for them.
  const Tensor<Cpu, Index> given = offsets.defined() ? to_device(offsets, Cpu{}) : Tensor<Cpu, Index>();
  const Tensor<D, Index> starts =
      to_device(detail::bag_starts(x.shape(), given, options.include_last_offset), x.device());
  const Tensor<D, Index> numbers = reshape(x, {-1}, here).contiguous(here);
  detail::backend::run<D>(detail::backend::CheckRange{"embedding_bag", *numbers.impl(), rows});
  const detail::backend::Bags bags{options.mode, padding};
  if (!per_sample_weights.defined())
    return detail::reduced_bags({"embedding_bag", here}, bags, weight, numbers, starts, Tensor<D, T>());
  if (options.mode != BagMode::sum) Error::fail("embedding_bag", {"per_sample_weights need mode sum"});
  if (!(per_sample_weights.shape() == x.shape()))
    Error::fail("embedding_bag", {"per_sample_weights of shape ", per_sample_weights.shape(),
                                  " do not fit an input of shape ", x.shape()});
  if (!detail::records(per_sample_weights))
    return detail::reduced_bags({"embedding_bag", here}, bags, weight, numbers, starts,
                                reshape(per_sample_weights, {-1}).contiguous());
  // The weights need a gradient: sum scaled rows as a table of their own, so that table and weights both get theirs.
  const detail::Type<compute_t<T>> promoted;
  const auto taken = to_type(detail::take_rows({"embedding_bag", here}, weight, numbers), promoted, here);
  const auto scaled = mul(taken, to_type(reshape(per_sample_weights, {-1, 1}, here), promoted, here), here);
  auto kept = scaled;
  if (padding != detail::backend::no_row)
    kept = where(eq(numbers, padding).reshape({-1, 1}), zeros_like(scaled.detach()), scaled);
  const auto y = detail::reduced_bags({"embedding_bag", here}, {BagMode::sum}, kept,
                                      detail::arange_like(numbers, 0, 1, numbers.numel()), starts, {});
  return to_type(y, detail::Type<T>{}, here);
}
template <Device D, Element T>
Tensor<D, T> embedding_bag(const Tensor<D, Index>& x, const Tensor<D, T>& weight, EmbeddingBagOptions options = {},
                           CallSite here = {}) {
  return embedding_bag(x, weight, Tensor<D, Index>(), options, Tensor<D, T>(), here);
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "embedding.ipp"
#endif
