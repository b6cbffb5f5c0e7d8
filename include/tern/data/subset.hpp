// Parts of data sets, and data sets joined into one.
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "collate.hpp"
#include "image.hpp"
#include "samplers.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// A data set that several parts refer to: they own a temporary together, and nothing of a variable.
template <class Set>
std::shared_ptr<const std::remove_cvref_t<Set>> shared_set(Set&& set) {
  using Stored = std::remove_cvref_t<Set>;
  if constexpr (std::is_lvalue_reference_v<Set>) return {std::shared_ptr<const Stored>(), &set};
  else return std::make_shared<const Stored>(std::forward<Set>(set));
}

/// Whether the set's batches are samples stacked as they are.
template <class Set>
inline constexpr bool stacks_samples_of = false;
template <class Set>
  requires requires { Set::stacks_samples; }
inline constexpr bool stacks_samples_of<Set> = Set::stacks_samples;

}  // namespace detail

/// The given samples of a data set. A set that is a variable must outlive this; a temporary is moved into it, and
/// shared by its copies.
template <class Set>
class Subset {
  using Stored = std::remove_cvref_t<Set>;

 public:
  static constexpr bool stacks_samples = detail::stacks_samples_of<Stored>;

  Subset(Set&& set, const std::vector<Index>& indices, CallSite here = {})
      : Subset(detail::shared_set(std::forward<Set>(set)), indices, here) {}
  /// Of a tensor [N], as randperm(n).
  template <std::derived_from<Tensor<Cpu, Index>> Indices>
  Subset(Set&& set, const Indices& indices, CallSite here = {})
      : Subset(std::forward<Set>(set), detail::numbers_of<Index>({"Subset", here}, indices), here) {}
  [[gnu::cold]] Subset(const std::shared_ptr<const Stored>& set, const std::vector<Index>& indices, CallSite here = {})
      : set_(set), indices_(indices) {
    const CallScope scope(here);
    detail::check_samples({"Subset", here}, indices_, Index(set_->size()));
  }

  Index size() const { return Index(indices_.size()); }
  const std::vector<Index>& indices() const { return indices_; }

  /// Sample i, of a set that has them by number; -1 is the last one. Error if there is none.
  auto operator[](tern::detail::At<Index> i) const
    requires requires(const Stored& set, Index sample) { set[sample]; }
  {
    const CallScope scope(i.here);
    const Index sample = at(detail::sample_at({"Subset", i.here}, i.tensor, size()));
    return (*set_)[static_cast<decltype(set_->size())>(sample)];
  }

  auto batch(std::span<const Index> samples, CallSite here = {}) const
    requires Dataset<Stored>
  {
    const CallScope scope(here);
    return set_->batch(inner(samples));
  }
  auto batch(std::span<const Index> samples, const RandomKey& key) const
    requires RandomDataset<Stored>
  {
    return set_->batch(inner(samples), key);
  }
  void read(Index sample, Image& image, CallSite here = {}) const
    requires ImageDataset<Stored>
  {
    const CallScope scope(here);
    set_->read(at(sample), image);
  }
  void read(Index sample, Image& image, const WindowChoice& choice, CallSite here = {}) const
    requires WindowedDataset<Stored>
  {
    const CallScope scope(here);
    set_->read(at(sample), image, choice);
  }
  Index label(Index sample, CallSite here = {}) const
    requires ImageDataset<Stored>
  {
    const CallScope scope(here);
    return set_->label(at(sample));
  }

 private:
  Index at(Index sample) const {
    return indices_[detail::checked_sample({"Subset", CallSite::unknown}, sample, size())];
  }
  std::vector<Index> inner(std::span<const Index> samples) const {
    std::vector<Index> out;
    for (const Index sample : samples) out.push_back(at(sample));
    return out;
  }

  std::shared_ptr<const Stored> set_;
  std::vector<Index> indices_;
};
template <class Set>
Subset(Set&&, const std::vector<Index>&) -> Subset<Set>;
template <class Set, std::derived_from<Tensor<Cpu, Index>> Indices>
Subset(Set&&, const Indices&) -> Subset<Set>;

/// The N parts of a data set; N is 0 if their number is known at run time alone. What is taken from temporary parts is
/// a part of its own: `loader<Cpu>(random_split(set, {0.9, 0.1})[0])`. They can be named at once: `auto [train, val] =
/// …`.
template <class Part, std::size_t N>
class Parts {
 public:
  explicit Parts(std::vector<Part> parts) : parts_(std::move(parts)) {}

  std::size_t size() const { return parts_.size(); }
  /// Error if there is no part i.
  const Part& operator[](tern::detail::At<Index> i) const& { return parts_[position(i)]; }
  Part operator[](tern::detail::At<Index> i) && { return std::move(parts_[position(i)]); }
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

  /// Part i, for `auto [train, val] = …`.
  template <std::size_t i>
  const Part& get() const& {
    return parts_[i];
  }
  template <std::size_t i>
  Part get() && {
    return std::move(parts_[i]);
  }

 private:
  std::size_t position(const tern::detail::At<Index>& at) const {
    const Index i = at.tensor;
    if (i < 0 || i >= Index(parts_.size()))
      Error::fail({"random_split", at.here}, {"there is no part ", i, " of ", Index(parts_.size())});
    return std::size_t(i);
  }
  std::vector<Part> parts_;
};

namespace detail {

/// A part's length as a number or a fraction.
struct PartLength {
  double value;
  template <class Number>
    requires std::is_arithmetic_v<Number>
  PartLength(Number x) : value(static_cast<double>(x)) {}
};

/// Converts lengths, given as numbers or as fractions that sum to 1, to numbers. The first parts get what rounding
/// leaves.
TERN_API std::vector<Index> split_lengths(const std::vector<double>& lengths, Index size);

template <std::size_t N, class Set>
Parts<Subset<Set>, N> split(Set&& set, const std::vector<double>& lengths, std::optional<std::uint64_t> seed) {
  const auto shared = shared_set(std::forward<Set>(set));
  const Index size = Index(shared->size());
  std::vector<Index> order = in_sequence(size);
  Random random(seed ? *seed : tern::detail::next_seed(), 0);
  shuffle(order, random);
  std::vector<Subset<Set>> parts;
  auto at = order.begin();
  for (const Index length : split_lengths(lengths, size)) {
    parts.emplace_back(shared, std::vector<Index>(at, at + length));
    at += length;
  }
  return Parts<Subset<Set>, N>(std::move(parts));
}

}  // namespace detail

/// Random parts with these lengths or fractions: `random_split(set, {0.9, 0.1})`, `random_split(set, {n - 2, 2})`.
/// Without a seed, they are drawn from the random state. A set that is a variable must outlive the parts; a temporary
/// is moved into them.
template <class Set, std::size_t N>
  requires(Dataset<std::remove_cvref_t<Set>> || ImageDataset<std::remove_cvref_t<Set>>)
Parts<Subset<Set>, N> random_split(Set&& set, const detail::PartLength (&lengths)[N],
                                   std::optional<std::uint64_t> seed = {}, CallSite here = {}) {
  const CallScope scope(here);
  std::vector<double> values;
  for (const detail::PartLength& length : lengths) values.push_back(length.value);
  return detail::split<N>(std::forward<Set>(set), values, seed);
}
/// The same of as many lengths as a std::vector has.
template <class Set, class Number>
  requires(Dataset<std::remove_cvref_t<Set>> || ImageDataset<std::remove_cvref_t<Set>>)
Parts<Subset<Set>, 0> random_split(Set&& set, const std::vector<Number>& lengths,
                                   std::optional<std::uint64_t> seed = {}, CallSite here = {}) {
  const CallScope scope(here);
  return detail::split<0>(std::forward<Set>(set), detail::numbers_of<double>({"random_split", here}, lengths), seed);
}
/// Of samples by number: random_split(collated(set), lengths).
template <class Set, std::size_t N>
  requires(SampleSet<std::remove_cvref_t<Set>> && !Dataset<std::remove_cvref_t<Set>> &&
           !ImageDataset<std::remove_cvref_t<Set>>)
auto random_split(Set&& set, const detail::PartLength (&lengths)[N], std::optional<std::uint64_t> seed = {},
                  CallSite here = {}) {
  return random_split(collated(std::forward<Set>(set)), lengths, seed, here);
}
template <class Set, class Number>
  requires(SampleSet<std::remove_cvref_t<Set>> && !Dataset<std::remove_cvref_t<Set>> &&
           !ImageDataset<std::remove_cvref_t<Set>>)
auto random_split(Set&& set, const std::vector<Number>& lengths, std::optional<std::uint64_t> seed = {},
                  CallSite here = {}) {
  return random_split(collated(std::forward<Set>(set)), lengths, seed, here);
}

namespace detail {

/// Copies the rows of x to the given rows of out. The first call makes out.
TERN_API void scatter_rows(const tern::detail::Array& out, const tern::detail::Array& x, std::span<const Index> rows);

template <class T>
void scatter_into(Tensor<Cpu, T>& out, const Tensor<Cpu, T>& part, std::span<const Index> rows, Index n) {
  const Tensor<Cpu, T> x = row_major(part);
  if (!out.defined()) {
    tern::detail::Shape shape = x.shape();
    if (shape.n > 0) shape[0] = n;
    out = empty<Cpu, T>(shape);
  }
  scatter_rows(*out.impl(), *x.impl(), rows);
}

}  // namespace detail

/// Data sets with batches of one type, one after the other. Variables must outlive this; temporaries are moved into it.
template <class... Set>
class ConcatDataset {
  static constexpr bool is_random = (RandomDataset<std::remove_cvref_t<Set>> || ...);

 public:
  using Batch = std::common_type_t<BatchOf<std::remove_cvref_t<Set>>...>;

  explicit ConcatDataset(Set&&... sets) : sets_(std::forward<Set>(sets)...) {}

  Index size() const {
    return std::apply([](const auto&... set) { return (Index(0) + ... + Index(set.size())); }, sets_);
  }

  /// Sample i, if all sets have them by number; -1 is the last one. Error if there is none.
  auto operator[](tern::detail::At<Index> i) const
    requires(SampleSet<std::remove_cvref_t<Set>> && ...)
  {
    const CallScope scope(i.here);
    return sample<0>(detail::sample_at({"ConcatDataset", i.here}, i.tensor, size()));
  }

  Batch batch(std::span<const Index> samples, CallSite here = {}) const {
    const CallScope scope(here);
    return join(samples, is_random ? RandomKey::next() : RandomKey{});
  }
  Batch batch(std::span<const Index> samples, const RandomKey& key) const
    requires is_random
  {
    return join(samples, key);
  }

 private:
  /// Sample i of the sets from `number` on.
  template <std::size_t number>
  auto sample(Index i) const {
    using Sample = std::common_type_t<std::remove_cvref_t<decltype(std::declval<const Set&>()[0])>...>;
    const auto& set = std::get<number>(sets_);
    if constexpr (number + 1 < sizeof...(Set))
      if (i >= Index(set.size())) return sample<number + 1>(i - Index(set.size()));
    return Sample(set[static_cast<decltype(set.size())>(i)]);
  }
  Batch join(std::span<const Index> samples, const RandomKey& key) const {
    detail::check_samples({"ConcatDataset", CallSite::unknown}, samples, size());
    Batch out;
    Index first = 0, number = 0;
    RandomKey part = key;  // each part draws its own numbers
    std::apply([&](const auto&... set) { (add(out, set, number++, first, samples, part), ...); }, sets_);
    return out;
  }
  template <class Part>
  static void add(Batch& out, const Part& set, Index number, Index& first, std::span<const Index> samples,
                  RandomKey& key) {
    std::vector<Index> inner, rows;
    const Index size = set.size();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i] < first || samples[i] >= first + size) continue;
      inner.push_back(samples[i] - first);
      rows.push_back(Index(i));
    }
    first += size;
    ++key.seed;
    if (inner.empty() && (!samples.empty() || std::get<0>(out).defined())) return;
    const auto batch = batch_of(set, std::span<const Index>(inner), key);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (detail::check_rows("ConcatDataset", std::get<i>(batch).impl(), Index(inner.size()), number), ...);
      (detail::scatter_into(std::get<i>(out), std::get<i>(batch), rows, Index(samples.size())), ...);
    }(std::make_index_sequence<std::tuple_size_v<Batch>>());
  }

  std::tuple<Set...> sets_;
};
template <class... Set>
ConcatDataset(Set&&...) -> ConcatDataset<Set...>;

}}}  // namespace tern::data

template <class Part, std::size_t N>
struct std::tuple_size<tern::data::Parts<Part, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t i, class Part, std::size_t N>
struct std::tuple_element<i, tern::data::Parts<Part, N>> {
  using type = const Part;
};

#ifndef TERN_COMPILED
#include "subset.ipp"
#endif
