// PackedSequence: sequences of different lengths without padding.
#pragma once
#include <utility>
#include <vector>

#include "../core/options.hpp"
#include "cat.hpp"
#include "copy.hpp"
#include "gather.hpp"
#include "sort.hpp"
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

/// Sequences, the longest first, step by step: step t is the batch_sizes[t] rows of data behind those of the steps
/// before it, and batch_sizes never grow.
template <Device D, Floating T = float>
struct PackedSequence {
  Tensor<D, T> data;  // [sum of lengths, ...]
  std::vector<Index> batch_sizes;
  Tensor<D, Index> sorted_indices;    // which of the user's sequences is the i-th here; undefined if they were sorted
  Tensor<D, Index> unsorted_indices;  // where the user's i-th sequence is here

  /// The same with another element type.
  template <Floating U>
  PackedSequence<D, U> to(detail::Type<U> type, CallSite here = {}) const {
    return {to_type(data, type, here), batch_sizes, sorted_indices, unsorted_indices};
  }
};

struct PackOptions {
  detail::ByName by_name{};
  bool batch_first = false;
  bool enforce_sorted = true;  // false: the sequences come in any order
};
struct PadOptions {
  detail::ByName by_name{};
  bool batch_first = false;
  double padding_value = 0;
  Index total_length = 0;  // the padded length; 0: that of the longest sequence
};

namespace detail {

/// Positions in `lengths` from the longest to the shortest; equal ones in their order.
TERN_API std::vector<Index> longest_first(const std::vector<Index>& lengths);
/// How many of the lengths, which never grow, are longer than t, for each t.
TERN_API std::vector<Index> sizes_of_steps(const std::vector<Index>& lengths);
/// Error unless there is one positive length at most `longest` for each of `count` sequences, in order if that is
/// enforced.
TERN_API void check_lengths(const CallSite& op, const std::vector<Index>& lengths, Index longest, Index count,
                            bool enforce_sorted);
/// For each row of the packed data its row in padded data of [length, sequences].
TERN_API std::vector<Index> padded_rows(const std::vector<Index>& batch_sizes, Index sequences);
/// For each row of padded data of [length, sequences] its row in the packed data, or the row behind these. Sequence i
/// is the places[i]-th of the packed ones.
TERN_API std::vector<Index> packed_rows(const std::vector<Index>& batch_sizes, Index length,
                                        const std::vector<Index>& places);
/// Where each of `places` is.
TERN_API std::vector<Index> inverse(const std::vector<Index>& places);

template <class D>
Tensor<D, Index> index_vector(const std::vector<Index>& positions, D device) {
  return from_vector<D>(positions, {Index(positions.size())}, device);
}
/// The row of each sequence's last step. Sequences that end in one step are neighbours. The device fills in their rows,
/// because a graph holds no copy from the host.
template <class D>
Tensor<D, Index> last_rows(const std::vector<Index>& batch_sizes, D device) {
  const auto rows = empty<D, Index>({batch_sizes.front()}, device);
  Index first = 0;
  for (std::size_t t = 0; t < batch_sizes.size(); ++t) {
    const Index longer = t + 1 < batch_sizes.size() ? batch_sizes[t + 1] : 0;
    if (const Index ending = batch_sizes[t] - longer)
      backend::run<D>(backend::FillRange<Index>{part_of(*rows.impl(), 0, longer, ending), first + longer, 1});
    first += batch_sizes[t];
  }
  return rows;
}
template <class D>
std::vector<Index> host_vector(const Tensor<D, Index>& positions) {
  const Tensor<Cpu, Index> here = to_device(positions, Cpu{});
  return {here.data(), here.data() + here.numel()};
}

}  // namespace detail

/// Packs padded sequences [length, batch, ...], or with batch_first [batch, length, ...], of the given lengths. Unless
/// enforce_sorted is false, they come longest first.
template <Device D, Floating T>
PackedSequence<D, T> pack_padded_sequence(const Tensor<D, T>& x, const std::vector<Index>& lengths,
                                          PackOptions options = {}, CallSite here = {}) {
  const CallSite op{"pack_padded_sequence", here};
  if (x.checked(op)->ndim < 2) Error::fail(op, {"a padded batch has at least two dimensions, not shape ", x.shape()});
  Tensor<D, T> padded = options.batch_first ? transpose(x, 0, 1, here) : x;
  const Index length = padded.size(0), count = padded.size(1);
  detail::check_lengths(op, lengths, length, count, options.enforce_sorted);
  PackedSequence<D, T> packed;
  std::vector<Index> sorted = lengths;
  if (!options.enforce_sorted) {
    const std::vector<Index> order = detail::longest_first(lengths);
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = lengths[std::size_t(order[i])];
    packed.sorted_indices = detail::index_vector(order, x.device());
    packed.unsorted_indices = detail::index_vector(detail::inverse(order), x.device());
    padded = index_select(padded, 1, packed.sorted_indices, here);
  }
  packed.batch_sizes = detail::sizes_of_steps(sorted);
  const auto rows = detail::index_vector(detail::padded_rows(packed.batch_sizes, count), x.device());
  packed.data = index_select(flatten(padded, 0, 1, here), 0, rows, here);
  return packed;
}
template <Device D, Floating T>
PackedSequence<D, T> pack_padded_sequence(const Tensor<D, T>& x, const std::vector<Index>& lengths,
                                          detail::Positional<bool> batch_first,
                                          detail::Positional<bool> enforce_sorted = true, CallSite here = {}) {
  return pack_padded_sequence(x, lengths, {.batch_first = batch_first, .enforce_sorted = enforce_sorted}, here);
}

/// The same with the lengths in a tensor, [batch], as (tokens != 0).sum(1) makes them.
template <Device D, Floating T>
PackedSequence<D, T> pack_padded_sequence(const Tensor<D, T>& x, const Tensor<Cpu, Index>& lengths,
                                          PackOptions options = {}, CallSite here = {}) {
  const CallSite op{"pack_padded_sequence", here};
  if (lengths.checked(op)->ndim != 1) Error::fail(op, {"lengths have one dimension, not shape ", lengths.shape()});
  return pack_padded_sequence(x, detail::host_vector(contiguous(lengths, here)), options, here);
}
template <Device D, Floating T>
PackedSequence<D, T> pack_padded_sequence(const Tensor<D, T>& x, const Tensor<Cpu, Index>& lengths,
                                          detail::Positional<bool> batch_first,
                                          detail::Positional<bool> enforce_sorted = true, CallSite here = {}) {
  return pack_padded_sequence(x, lengths, {.batch_first = batch_first, .enforce_sorted = enforce_sorted}, here);
}

/// The sequences, padded to [length, batch, ...], or with batch_first [batch, length, ...], in the user's order, and
/// their lengths.
template <Device D, Floating T>
std::pair<Tensor<D, T>, std::vector<Index>> pad_packed_sequence(const PackedSequence<D, T>& packed,
                                                                PadOptions options = {}, CallSite here = {}) {
  const CallSite op{"pad_packed_sequence", here};
  const Tensor<D, T>& data = packed.data;
  if (data.checked(op)->ndim < 1 || packed.batch_sizes.empty()) Error::fail(op, {"the packed sequence has no step"});
  const Index steps = Index(packed.batch_sizes.size()), count = packed.batch_sizes.front();
  const Index length = options.total_length ? options.total_length : steps;
  if (length < steps) Error::fail(op, {"total_length ", length, " is less than the longest sequence, ", steps});
  std::vector<Index> lengths(std::size_t(count), 0), places(std::size_t(count), 0);
  for (Index i = 0; i < count; ++i) places[std::size_t(i)] = i;
  if (packed.unsorted_indices.defined()) places = detail::host_vector(packed.unsorted_indices);
  for (Index i = 0; i < count; ++i)
    for (const Index rows : packed.batch_sizes) lengths[std::size_t(i)] += places[std::size_t(i)] < rows;
  detail::Shape row = data.shape();
  row[0] = 1;
  const Tensor<D, T> with_padding =
      cat(std::vector<Tensor<D, T>>{data, full<D, T>(row, options.padding_value, data.device())}, 0, here);
  const auto rows = detail::index_vector(detail::packed_rows(packed.batch_sizes, length, places), data.device());
  const Tensor<D, T> padded = unflatten(index_select(with_padding, 0, rows, here), 0, {length, count}, here);
  return {options.batch_first ? transpose(padded, 0, 1, here) : padded, lengths};
}
template <Device D, Floating T>
std::pair<Tensor<D, T>, std::vector<Index>> pad_packed_sequence(const PackedSequence<D, T>& packed,
                                                                detail::Positional<bool> batch_first,
                                                                detail::RealNumber padding_value = 0,
                                                                detail::Positional<Index> total_length = 0,
                                                                CallSite here = {}) {
  return pad_packed_sequence(
      packed, {.batch_first = batch_first, .padding_value = padding_value, .total_length = total_length}, here);
}

/// Sequences [length, ...] of different lengths, stacked and padded to [longest, count, ...], or with batch_first
/// [count, longest, ...].
template <Device D, Element T>
Tensor<D, T> pad_sequence(const std::vector<Tensor<D, T>>& sequences, PadOptions options = {}, CallSite here = {}) {
  const CallSite op{"pad_sequence", here};
  const CallScope scope(op);
  if (sequences.empty()) Error::fail(op, {"there is no sequence"});
  Index longest = 0;
  for (const Tensor<D, T>& x : sequences) {
    if (x.checked(op)->ndim < 1) Error::fail(op, {"a sequence has at least one dimension, not shape ", x.shape()});
    longest = std::max(longest, x.size(0));
  }
  const Index length = options.total_length ? options.total_length : longest;
  if (length < longest) Error::fail(op, {"total_length ", length, " is less than the longest sequence, ", longest});
  std::vector<Tensor<D, T>> padded;
  for (const Tensor<D, T>& x : sequences) {
    detail::Shape rest = x.shape();
    rest[0] = length - x.size(0);
    padded.push_back(
        rest[0] == 0 ? x
                     : cat(std::vector<Tensor<D, T>>{x, full<D, T>(rest, options.padding_value, x.device())}, 0, here));
  }
  return stack(padded, options.batch_first ? 0 : 1, here);
}
template <Device D, Element T>
Tensor<D, T> pad_sequence(std::initializer_list<Tensor<D, T>> sequences, PadOptions options = {}, CallSite here = {}) {
  return pad_sequence(std::vector<Tensor<D, T>>(sequences), options, here);
}
template <Device D, Element T>
Tensor<D, T> pad_sequence(const std::vector<Tensor<D, T>>& sequences, detail::Positional<bool> batch_first,
                          detail::RealNumber padding_value = 0, CallSite here = {}) {
  return pad_sequence(sequences, {.batch_first = batch_first, .padding_value = padding_value}, here);
}
template <Device D, Element T>
Tensor<D, T> pad_sequence(std::initializer_list<Tensor<D, T>> sequences, detail::Positional<bool> batch_first,
                          detail::RealNumber padding_value = 0, CallSite here = {}) {
  return pad_sequence(std::vector<Tensor<D, T>>(sequences), batch_first, padding_value, here);
}

/// Packs sequences [length, ...] of different lengths. Unless enforce_sorted is false, they come longest first.
template <Device D, Floating T>
PackedSequence<D, T> pack_sequence(const std::vector<Tensor<D, T>>& sequences, bool enforce_sorted = true,
                                   CallSite here = {}) {
  const CallScope scope(CallSite{"pack_sequence", here});
  std::vector<Index> lengths;
  for (const Tensor<D, T>& x : sequences) lengths.push_back(x.checked("pack_sequence")->ndim ? x.size(0) : 0);
  return pack_padded_sequence(pad_sequence(sequences, {}, here), lengths, {.enforce_sorted = enforce_sorted}, here);
}
template <Device D, Floating T>
PackedSequence<D, T> pack_sequence(std::initializer_list<Tensor<D, T>> sequences, bool enforce_sorted = true,
                                   CallSite here = {}) {
  return pack_sequence(std::vector<Tensor<D, T>>(sequences), enforce_sorted, here);
}

/// The sequences without their padding: padded ones [length, batch, ...], or with batch_first [batch, length, ...], cut
/// to their lengths.
template <Device D, Element T>
std::vector<Tensor<D, T>> unpad_sequence(const Tensor<D, T>& padded, const std::vector<Index>& lengths,
                                         bool batch_first = false, CallSite here = {}) {
  const CallSite op{"unpad_sequence", here};
  const CallScope scope(op);
  if (padded.checked(op)->ndim < 2) Error::fail(op, {"a padded batch has two dimensions, not shape ", padded.shape()});
  const Tensor<D, T> batch = batch_first ? padded : transpose(padded, 0, 1);
  if (batch.size(0) != Index(lengths.size()))
    Error::fail(op, {Index(lengths.size()), " lengths for ", batch.size(0), " sequences"});
  std::vector<Tensor<D, T>> sequences;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    sequences.push_back(narrow(select(batch, 0, Index(i)), 0, 0, lengths[i]));
  return sequences;
}
template <Device D, Element T>
std::vector<Tensor<D, T>> unpad_sequence(const Tensor<D, T>& padded, const Tensor<Cpu, Index>& lengths,
                                         bool batch_first = false, CallSite here = {}) {
  const CallScope scope({"unpad_sequence", here});
  return unpad_sequence(padded, detail::host_vector(contiguous(lengths)), batch_first);
}

/// The sequences, [length, ...], in the user's order.
template <Device D, Floating T>
std::vector<Tensor<D, T>> unpack_sequence(const PackedSequence<D, T>& packed, CallSite here = {}) {
  const CallScope scope({"unpack_sequence", here});
  const auto [padded, lengths] = pad_packed_sequence(packed, {.batch_first = true});
  return unpad_sequence(padded, lengths, true);
}

namespace nn::utils::rnn {
using tern::pack_padded_sequence;
using tern::pack_sequence;
using tern::PackedSequence;
using tern::pad_packed_sequence;
using tern::pad_sequence;
using tern::unpack_sequence;
using tern::unpad_sequence;
}  // namespace nn::utils::rnn

}}  // namespace tern

#ifndef TERN_COMPILED
#include "packed_sequence.ipp"
#endif
