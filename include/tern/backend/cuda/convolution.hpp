// Convolution by cuDNN, in channels-last order.
#pragma once
#include "../convolution.hpp"
#include "../../device/cuda/cudnn_convolution.hpp"
#include "copy.hpp"
#include "map.hpp"
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

using cuda::detail::ConvolutionForm;

/// Sizes in cuDNN's form. One spatial dimension becomes two, the first of size 1.
TERN_API void set_sizes(int* sizes, const Array& a);

TERN_API ConvolutionForm form_of(const Convolution& op);

/// Runs a forward pass with bias, residual and relu in one call. False if cuDNN does not support it.
TERN_API bool try_fused(ConvolutionForm form, const Convolution& op);

/// Runs one pass, with `adds` added to what the result holds, without bias, residual and relu.
TERN_API void run_convolution(ConvolutionForm form, const Convolution& op, bool adds = false);

/// One number for each channel, as an array that broadcasts to `to`.
TERN_API Array per_channel(const Array& numbers, const Array& to);

/// y += x, broadcast.
template <class T>
void add_to(const Array& y, const Array& x) {
  const Array* const terms[] = {&y, &x};
  run<Cuda, T, T, T>(Map([](auto a, auto b) { return a + b; }, y, terms));
}

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<T>, const Convolution& op) {
  using namespace cuda_kernels;
  const ConvolutionForm form = form_of(op);
  if (op.pass == detail::ConvolutionPass::forward) {
    const Array& y = op.y;
    if (op.bias && !std::is_same_v<T, double> && try_fused(form, op)) return;
    run_convolution(form, op);
    if (op.bias) add_to<T>(y, per_channel(*op.bias, y));
    if (op.residual) add_to<T>(y, *op.residual);
    const Array* const in[] = {&y};
    if (op.relu) run<Cuda, T, T>(Map([](auto v) { return where(v < 0, 0, v); }, y, in));
  } else if (op.pass == detail::ConvolutionPass::data_gradient) {
    // cuDNN adds to the previous content, so the sum is rounded once.
    if (op.bias) run<Cuda>(Copy{op.x, per_channel(*op.bias, op.x)});
    run_convolution(form, op, op.bias != nullptr);
  } else {
    run_convolution(form, op);
    if (!op.bias) return;
    const Array* const in[] = {&op.y};
    const auto same = [](auto v) { return v; };
    run<Cuda, T, T, T>(Reduce{Sum{}, same, same, *op.bias, in, op.y.shape(), ~2u});
  }
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "convolution.ipp"
#endif
