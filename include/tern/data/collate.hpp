// Batches made from samples, by default or by a function of the user's.
#pragma once
#include <type_traits>
#include <vector>

#include "loader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// The shape of n stacked samples. Error if their shapes differ.
TERN_API tern::detail::Shape stacked_shape(const tern::detail::Array& first, const tern::detail::Array& x, Index n,
                                           Index i);

/// The element type for a sample's number: int64 for integers, else its own type.
template <class Number>
using number_element =
    std::conditional_t<std::is_integral_v<Number> && (sizeof(Number) > 1 || !Element<Number>), Index, Number>;

/// n tensors as [n, …], or n numbers as [n].
template <class T, class PartOf>
Tensor<Cpu, T> stack_parts(Index n, const PartOf& part_of, const Tensor<Cpu, T>*) {
  Tensor<Cpu, T> out;
  for (Index i = 0; i < n; ++i) {
    const Tensor<Cpu, T> x = row_major(part_of(i));
    const tern::detail::Shape shape = stacked_shape(*part_of(0).impl(), *x.impl(), n, i);
    if (!out.defined()) out = empty<Cpu, T>(shape);
    if (x.numel()) std::memcpy(out.data() + i * x.numel(), x.data(), std::size_t(x.numel()) * sizeof(T));
  }
  return out;
}
template <class Number, class PartOf>
  requires std::is_arithmetic_v<Number>
auto stack_parts(Index n, const PartOf& part_of, const Number*) {
  using T = number_element<Number>;
  const Tensor<Cpu, T> out = empty<Cpu, T>({n});
  for (Index i = 0; i < n; ++i) out.data()[i] = T(part_of(i));
  return out;
}

}  // namespace detail

/// A batch of samples that are std::tuples or std::pairs of tensors and numbers, or a tensor each. Tensors of one shape
/// become [n, …], numbers [n].
template <template <class...> class Sample, class... Part>
  requires(std::tuple_size<Sample<Part...>>::value == sizeof...(Part))
auto default_collate(const std::vector<Sample<Part...>>& samples, CallSite here = {}) {
  const CallScope scope(here);
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    return std::tuple(detail::stack_parts(
        Index(samples.size()), [&](Index i) -> const Part& { return std::get<k>(samples[std::size_t(i)]); },
        static_cast<const Part*>(nullptr))...);
  }(std::index_sequence_for<Part...>());
}
template <Element T>
std::tuple<Tensor<Cpu, T>> default_collate(const std::vector<Tensor<Cpu, T>>& samples, CallSite here = {}) {
  const CallScope scope(here);
  return detail::stack_parts(
      Index(samples.size()), [&](Index i) -> const auto& { return samples[std::size_t(i)]; }, samples.data());
}

namespace detail {
template <class Part>
inline constexpr bool collates_part = std::is_arithmetic_v<Part>;
template <class T>
inline constexpr bool collates_part<Tensor<Cpu, T>> = true;
template <class Sample>
inline constexpr bool collates = false;
template <class T>
inline constexpr bool collates<Tensor<Cpu, T>> = true;
template <template <class...> class Sample, class... Part>
  requires(std::tuple_size<Sample<Part...>>::value == sizeof...(Part))
inline constexpr bool collates<Sample<Part...>> = (collates_part<Part> && ...);

struct DefaultCollate {
  template <class Sample>
  auto operator()(const std::vector<Sample>& samples) const {
    static_assert(collates<Sample>,
                  "a sample is a Tensor<Cpu>, or a std::tuple or std::pair of these and numbers; of others, give the "
                  "loader or collated() a function that makes a std::tuple of tensors of a std::vector of samples");
    if constexpr (collates<Sample>) return default_collate(samples);
    else return std::tuple<>();
  }
};
}  // namespace detail

/// Samples by index: size() and set[i], which may be of any type. Several threads call it at once.
template <class S>
concept SampleSet = requires(const S& set, Index i) {
  { set.size() } -> std::convertible_to<Index>;
  set[i];
};

/// A data set that makes batches of samples by a function.
template <class Set, class Collate>
class Collated {
 public:
  /// True if batches are samples stacked as they are, so that they can as well be taken one by one.
  static constexpr bool stacks_samples = std::is_same_v<Collate, detail::DefaultCollate>;

  Collated(Set&& set, const Collate& collate) : set_(std::forward<Set>(set)), collate_(collate) {}

  Index size() const { return Index(set_.size()); }

  /// Sample i as it is in the set; -1 is the last one. Error if there is none.
  auto operator[](tern::detail::At<Index> i) const {
    const CallScope scope(i.here);
    return sample(detail::sample_at({"collated", i.here}, i.tensor, size()));
  }

  auto batch(std::span<const Index> samples, CallSite here = {}) const {
    const CallScope scope(here);
    detail::check_samples({"collated", here}, samples, size());
    std::vector<std::remove_cvref_t<decltype(set_[0])>> chosen;
    chosen.reserve(samples.size());
    for (const Index i : samples) chosen.push_back(sample(i));
    return collate_(chosen);
  }

 private:
  decltype(auto) sample(Index i) const { return set_[static_cast<decltype(set_.size())>(i)]; }

  Set set_;
  Collate collate_;
};

/// Batches of the set's samples. collate(std::vector of samples) returns a std::tuple of tensors. The set is a
/// std::vector, or any type with size() and operator[]. A variable must outlive the result; a temporary is moved into
/// it.
template <class Set, class Collate = detail::DefaultCollate>
  requires SampleSet<std::remove_cvref_t<Set>>
auto collated(Set&& set, const Collate& collate = {}) {
  return Collated<Set, std::decay_t<Collate>>(std::forward<Set>(set), collate);
}

/// A set of samples by number of which no more is known; a range is read as a stream (stream.hpp).
template <class S>
concept PlainSet =
    SampleSet<std::remove_cvref_t<S>> && !Dataset<std::remove_cvref_t<S>> && !requires(S& set) { set.begin(); };

/// Batches of a set's samples, each of which is a std::tuple, a std::pair or a tensor: loader(collated(set)).
template <Device D, PlainSet Set>
auto loader(Set&& set, const LoaderOptions& options = {}, CallSite here = {}) {
  return loader<D>(collated(std::forward<Set>(set)), options, here);
}
template <Device D, PlainSet Set>
auto loader(Set&& set, tern::detail::Positional<Index> batch_size, tern::detail::Positional<bool> shuffle = false,
            CallSite here = {}) {
  return loader<D>(collated(std::forward<Set>(set)), batch_size, shuffle, here);
}
/// The same with a sampler, or with a function that makes a batch of a std::vector of samples.
template <Device D, PlainSet Set, class By>
auto loader(Set&& set, const LoaderOptions& options, const By& by, CallSite here = {}) {
  if constexpr (Sampler<By>) return loader<D>(collated(std::forward<Set>(set)), options, by, here);
  else return loader<D>(collated(std::forward<Set>(set), by), options, here);
}

/// The same of a part of such a set: `loader<Cpu>(random_split(set, {0.9, 0.1})[0], {.batch_size = 32}, collate)`.
template <Device D, class Set, class Collate>
  requires(Dataset<std::remove_cvref_t<Set>> && SampleSet<std::remove_cvref_t<Set>> && !Sampler<Collate>)
auto loader(Set&& set, const LoaderOptions& options, const Collate& collate, CallSite here = {}) {
  return loader<D>(collated(std::forward<Set>(set), collate), options, here);
}

template <class S>
concept NoDataset =
    !Dataset<std::remove_cvref_t<S>> && !SampleSet<std::remove_cvref_t<S>> && !requires(S& set) { set.begin(); };

/// Says what a data set is.
template <Device D, NoDataset Set, class... Arguments>
auto loader(Set&&, const LoaderOptions& = {}, const Arguments&...) {
  static_assert(
      sizeof(Set) == 0,
      "a data set has size() const, and operator[](i) const or batch(samples) const: workers call them at the "
      "same time; one with read() and label() is passed to transformed() first");
  return std::vector<std::tuple<>>();
}
template <Device D, NoDataset Set>
auto loader(Set&& set, tern::detail::Positional<Index>, tern::detail::Positional<bool> = false) {
  return loader<D>(std::forward<Set>(set), LoaderOptions());
}

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "collate.ipp"
#endif
