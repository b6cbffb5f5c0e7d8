// Data sets, from which a loader makes batches.
#pragma once
#include <concepts>
#include <span>
#include <tuple>

#include "../tensor/map.hpp"
#include "random_key.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// size() is the number of samples. batch(samples) is a std::tuple or std::pair of tensors in host memory, whose first
/// dimension counts samples. Several threads call batch() at once.
template <class S>
concept Dataset = requires(const S& set, std::span<const Index> samples) {
  { set.size() } -> std::convertible_to<Index>;
  std::tuple_size<decltype(set.batch(samples))>::value;
};

/// A data set whose batches draw random numbers, which come from the key.
template <class S>
concept RandomDataset = Dataset<S> && requires(const S& set, std::span<const Index> samples, const RandomKey& key) {
  set.batch(samples, key);
};

namespace detail {
template <class... T>
std::tuple<T...> as_tuple(std::tuple<T...> batch) {
  return batch;
}
template <class A, class B>
std::tuple<A, B> as_tuple(std::pair<A, B> batch) {
  return batch;
}
}  // namespace detail

/// The batch of these samples, a std::tuple. If the set draws random numbers, they come from the key.
template <class S>
auto batch_of(const S& set, std::span<const Index> samples, const RandomKey& key) {
  if constexpr (RandomDataset<S>) return detail::as_tuple(set.batch(samples, key));
  else return detail::as_tuple(set.batch(samples));
}
template <class S>
using BatchOf = decltype(detail::as_tuple(std::declval<const S&>().batch(std::span<const Index>())));

namespace detail {

/// Error unless x, which the set's batch() has made, has a row for each of n samples. `set` counts sets from 0; -1: the
/// only one.
TERN_API void check_rows(const char* op, const tern::detail::Array* x, Index n, Index set = -1);

/// Fails because a data set has no such sample.
[[noreturn]] TERN_API void refuse_sample(CallSite set, Index sample, Index size);

/// The sample's number as a position. Error that names the data set unless it is one of `size` samples.
inline std::size_t checked_sample(const CallSite& set, Index sample, Index size) {
  if (sample < 0 || sample >= size) [[unlikely]]
    refuse_sample(set, sample, size);
  return std::size_t(sample);
}
/// The number of the sample set[i], where -1 is the last one. Error that names the data set if there is none.
inline Index sample_at(const CallSite& set, Index i, Index size) {
  if (i < -size || i >= size) [[unlikely]]
    refuse_sample(set, i, size);
  return i < 0 ? i + size : i;
}
inline void check_samples(const CallSite& set, std::span<const Index> samples, Index size) {
  for (const Index sample : samples) checked_sample(set, sample, size);
}

/// x if it is row-major, else a row-major copy.
template <class T>
Tensor<Cpu, T> row_major(const Tensor<Cpu, T>& x) {
  if (x.checked("TensorDataset")->contiguous) return x;
  const Tensor<Cpu, T> y = empty<Cpu, T>(x.shape());
  tern::detail::backend::run<Cpu>(tern::detail::backend::Copy{*y.impl(), *x.impl()});
  return y;
}

/// Copies the given rows of x, which is row-major, to the rows of out.
TERN_API void gather_rows(const tern::detail::Array& out, const tern::detail::Array& x, std::span<const Index> rows);

}  // namespace detail

/// Samples stored in tensors of equal first size. Sample i is (x[i], y[i], …).
template <class... T>
class TensorDataset {
 public:
  explicit TensorDataset(const Tensor<Cpu, T>&... tensors, CallSite here = {})
      : tensors_([&] {
          const CallScope scope(here);
          return std::tuple<Tensor<Cpu, T>...>(detail::row_major(tensors)...);
        }()) {
    const CallScope scope(here);
    const tern::detail::Array* const all[] = {tensors.impl()...};
    for (const tern::detail::Array* tensor : all) {
      if (tensor->ndim == 0) Error::fail("TensorDataset", {"a tensor has no dimension that counts samples"});
      if (tensor->dims[0] != all[0]->dims[0])
        Error::fail("TensorDataset", {"first sizes differ: ", all[0]->shape_ref(), " and ", tensor->shape_ref()});
    }
    size_ = all[0]->dims[0];
  }

  Index size() const { return size_; }

  /// Sample i, as views of the tensors; -1 is the last one. Error if there is none.
  std::tuple<Tensor<Cpu, T>...> operator[](tern::detail::At<Index> at) const {
    const Index i = detail::sample_at({"TensorDataset", at.here}, at.tensor, size_);
    return std::apply(
        [&](const auto&... tensor) { return std::tuple<Tensor<Cpu, T>...>(tensor.select(0, i, at.here)...); },
        tensors_);
  }

  std::tuple<Tensor<Cpu, T>...> batch(std::span<const Index> samples, CallSite here = {}) const {
    const CallScope scope(here);
    detail::check_samples({"TensorDataset", here}, samples, size_);
    return std::apply([&](const auto&... tensor) { return std::tuple<Tensor<Cpu, T>...>(take(tensor, samples)...); },
                      tensors_);
  }

 private:
  template <class U>
  static Tensor<Cpu, U> take(const Tensor<Cpu, U>& x, std::span<const Index> samples) {
    tern::detail::Shape shape = x.shape();
    shape[0] = Index(samples.size());
    Tensor<Cpu, U> out = empty<Cpu, U>(shape);
    detail::gather_rows(*out.impl(), *x.impl(), samples);
    return out;
  }

  std::tuple<Tensor<Cpu, T>...> tensors_;
  Index size_;
};
template <class... T>
TensorDataset(const Tensor<Cpu, T>&...) -> TensorDataset<T...>;

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "dataset.ipp"
#endif
