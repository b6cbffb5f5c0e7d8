// Sequences of tokens as batches: padded, by length, in windows, and side by side for truncated backpropagation.
#pragma once
#include <span>
#include <tuple>
#include <vector>

#include "../../core/choice.hpp"
#include "../dataset.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

using Tokens = std::vector<Index>;

enum class Side { left, right };

namespace detail {
using SideChoice = tern::detail::Choice<Side, "left", "right">;
}

struct PadSequencesOptions {
  Index length = 0;  ///< of all sequences; 0: that of the longest one
  Index padding_value = 0;
  detail::SideChoice padding_side = Side::right;     ///< where a shorter sequence is filled up
  detail::SideChoice truncation_side = Side::right;  ///< where a longer one is cut
};

/// The sequences as rows [count, length].
TERN_API Tensor<Cpu, Index> pad_sequences(std::span<const Tokens> sequences, const PadSequencesOptions& options = {},
                                          CallSite here = {});

/// A long text for truncated backpropagation through time: batch_size parts of equal length, side by side, which
/// the batches go through together. Sample t is the row [batch_size] of the parts' tokens t, and the row of the tokens
/// after them. A loader whose batch size is the number of steps, without shuffling, makes inputs and targets [steps,
/// batch_size]. Tokens left over at the end are not used.
TERN_API TensorDataset<Index, Index> batchify(const Tokens& tokens, Index batch_size, CallSite here = {});

struct WindowOptions {
  Index length = 64;
  Index stride = 1;          ///< from the start of one window to that of the next
  bool all_targets = false;  ///< the target is each next token [length] instead of the one after the window
};

/// Windows of a long text: tokens [length] and the token that follows them.
class TERN_API TextWindows {
 public:
  /// Error if the text has no window with a target.
  TextWindows(Tokens tokens, const WindowOptions& options = {}, CallSite here = {});

  Index size() const { return size_; }
  std::tuple<Tensor<Cpu, Index>, Tensor<Cpu, Index>> batch(std::span<const Index> samples, CallSite here = {}) const;

 private:
  Tokens tokens_;
  WindowOptions options_;
  Index size_;
};

/// Sequences and their labels. A batch is padded to its own longest sequence, or as options say. With a LengthSampler
/// of lengths() little is padded.
class TERN_API LabelledSequences {
 public:
  LabelledSequences(std::vector<Tokens> sequences, std::vector<Index> labels, const PadSequencesOptions& options = {},
                    CallSite here = {});

  Index size() const { return Index(sequences_.size()); }
  std::tuple<Tensor<Cpu, Index>, Tensor<Cpu, Index>> batch(std::span<const Index> samples, CallSite here = {}) const;
  /// The length of each sequence.
  std::vector<Index> lengths() const;

 private:
  std::vector<Tokens> sequences_;
  std::vector<Index> labels_;
  PadSequencesOptions options_;
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "sequences.ipp"
#endif
