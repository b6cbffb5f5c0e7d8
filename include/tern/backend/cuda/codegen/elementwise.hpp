// Kernels that make each element of an array from the elements of others at the same position.
#pragma once
#include "loops.hpp"
#include "kernel_parameters.hpp"
#include "source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// How such a kernel walks its operands, and its source. Where the operands' innermost dimension allows it, a thread
/// reads and writes a group of elements at once, 16 bytes of the widest type; the others, and what is left over, it
/// takes one by one. Positions and offsets have 32 bits where they fit.
class TERN_API Elementwise {
 public:
  /// Over out's elements, of which there is at least one, in the order in which they lie in memory. The inputs are
  /// broadcast.
  Elementwise(const Array& out, const Array* const* in, int inputs);

  const detail::LoopNest& loops() const { return loops_; }
  /// What the source depends on, other than the expression.
  std::uint64_t key() const;
  cuda::Grid grid() const { return grid_for(groups_ ? groups_ : loops_.count()); }
  /// More may be added at the end.
  KernelParameters parameters() const;
  /// A kernel of that name. out's element is `value`, an expression of the inputs' elements x0, x1 … and of the
  /// parameters p. It may call the `functions`, definitions that see the parameters.
  std::string source(const std::string& name, const KernelParameters& parameters, const std::string& functions,
                     const std::string& value) const;

 private:
  const Array* operands_[detail::LoopNest::max_operands];  // out is the first
  int count_;
  detail::LoopNest loops_;
  int group_;     // elements
  Index groups_;  // 0 where the operands do not allow any
  bool is_long_;  // some positions or offsets have more than 31 bits
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "elementwise.ipp"
#endif
