// The functions of sequences.hpp that are not templates.
#pragma once
#include <algorithm>
#include <utility>

#include "sequences.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// Writes a sequence as a row of padded ones.
TERN_NOINLINE void pad_row(const Tokens& from, Index length, const PadSequencesOptions& options, Index* to) {
  const Index size = Index(from.size()), taken = std::min(size, length);
  const Index* const first = from.data() + (options.truncation_side == Side::left ? size - taken : 0);
  const Index start = options.padding_side == Side::left ? length - taken : 0;
  std::fill(to, to + length, options.padding_value);
  std::copy(first, first + taken, to + start);
}

}  // namespace detail

TERN_INLINE Tensor<Cpu, Index> pad_sequences(std::span<const Tokens> sequences, const PadSequencesOptions& options,
                                             CallSite here) {
  const CallScope scope(here);
  if (options.length < 0) Error::fail("pad_sequences", {"length must not be negative, but is ", options.length});
  Index length = options.length;
  if (!length)
    for (const Tokens& each : sequences) length = std::max(length, Index(each.size()));
  const auto rows = empty<Cpu, Index>({Index(sequences.size()), length});
  for (std::size_t i = 0; i < sequences.size(); ++i)
    detail::pad_row(sequences[i], length, options, rows.data() + Index(i) * length);
  return rows;
}

TERN_INLINE TensorDataset<Index, Index> batchify(const Tokens& tokens, Index batch_size, CallSite here) {
  const CallScope scope(here);
  if (batch_size < 1) Error::fail("batchify", {"batch_size must be positive, not ", batch_size});
  // Each part needs one token more than it has inputs; that is the next part's first one, except at the end.
  const Index steps = (Index(tokens.size()) - 1) / batch_size;
  if (steps < 1) Error::fail("batchify", {Index(tokens.size()), " tokens are too few for ", batch_size, " parts"});
  const auto inputs = empty<Cpu, Index>({steps, batch_size}), targets = empty<Cpu, Index>({steps, batch_size});
  for (Index t = 0; t < steps; ++t)
    for (Index i = 0; i < batch_size; ++i) {
      const Index* const at = tokens.data() + i * steps + t;
      inputs.data()[t * batch_size + i] = at[0], targets.data()[t * batch_size + i] = at[1];
    }
  return TensorDataset<Index, Index>(inputs, targets);
}

TERN_INLINE TextWindows::TextWindows(Tokens tokens, const WindowOptions& options, CallSite here)
    : tokens_(std::move(tokens)), options_(options) {
  const CallScope scope(here);
  if (options.length < 1 || options.stride < 1)
    Error::fail("TextWindows", {"length and stride must be positive, not ", options.length, " and ", options.stride});
  const Index starts = Index(tokens_.size()) - options.length;
  if (starts < 1)
    Error::fail("TextWindows", {Index(tokens_.size()), " tokens have no window of ", options.length, " with a target"});
  size_ = (starts + options.stride - 1) / options.stride;
}

TERN_INLINE std::tuple<Tensor<Cpu, Index>, Tensor<Cpu, Index>> TextWindows::batch(std::span<const Index> samples,
                                                                                  CallSite here) const {
  const CallScope scope(here);
  const Index n = Index(samples.size()), length = options_.length, targets = options_.all_targets ? length : 1;
  const auto x = empty<Cpu, Index>({n, length});
  const auto y = empty<Cpu, Index>(options_.all_targets ? tern::detail::Shape{n, length} : tern::detail::Shape{n});
  for (Index i = 0; i < n; ++i) {
    const Index* const at = tokens_.data() + samples[std::size_t(i)] * options_.stride;
    std::copy(at, at + length, x.data() + i * length);
    std::copy(at + length + 1 - targets, at + length + 1, y.data() + i * targets);
  }
  return {x, y};
}

TERN_INLINE LabelledSequences::LabelledSequences(std::vector<Tokens> sequences, std::vector<Index> labels,
                                                 const PadSequencesOptions& options, CallSite here)
    : sequences_(std::move(sequences)), labels_(std::move(labels)), options_(options) {
  const CallScope scope(here);
  if (sequences_.size() != labels_.size())
    Error::fail("LabelledSequences", {Index(sequences_.size()), " sequences have ", Index(labels_.size()), " labels"});
}

TERN_INLINE std::tuple<Tensor<Cpu, Index>, Tensor<Cpu, Index>> LabelledSequences::batch(std::span<const Index> samples,
                                                                                        CallSite here) const {
  const CallScope scope(here);
  Index length = options_.length;
  if (!length)
    for (const Index i : samples) length = std::max(length, Index(sequences_[std::size_t(i)].size()));
  const Index n = Index(samples.size());
  const auto x = empty<Cpu, Index>({n, length}), y = empty<Cpu, Index>({n});
  for (Index i = 0; i < n; ++i) {
    const auto sample = std::size_t(samples[std::size_t(i)]);
    detail::pad_row(sequences_[sample], length, options_, x.data() + i * length);
    y.data()[i] = labels_[sample];
  }
  return {x, y};
}

TERN_INLINE std::vector<Index> LabelledSequences::lengths() const {
  std::vector<Index> all;
  for (const Tokens& each : sequences_) all.push_back(Index(each.size()));
  return all;
}

}}}  // namespace tern::data
