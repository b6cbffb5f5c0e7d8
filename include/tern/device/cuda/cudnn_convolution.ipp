// The functions of cudnn_convolution.hpp that are not templates.
#pragma once
#include "cudnn_convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

enum ConvolutionTensor : GraphTensor {
  convolution_x = 1,
  convolution_w,
  convolution_y,
  convolution_bias,
  convolution_addend
};

TERN_INLINE GraphSizes channels_last(const GraphSizes& sizes) {
  GraphSizes strides(sizes.size(), sizes[1]);
  strides[1] = 1;
  for (std::size_t i = sizes.size() - 1; i-- > 2;) strides[i] = strides[i + 1] * sizes[i + 1];
  strides[0] = strides[2] * sizes[2];
  return strides;
}

TERN_INLINE CudnnGraph ConvolutionForm::graph() const {
  CudnnGraph g;
  const auto numbers = [&](const int* from, int count) { return GraphSizes(from, from + count); };
  const auto tensor = [&](GraphTensor id, const GraphSizes& sizes) {
    return g.tensor(id, type, sizes, channels_last(sizes), alignment);
  };
  const GraphSizes y_sizes = numbers(y, dims);
  const bool fused = pass == tern::detail::ConvolutionPass::forward && (bias || addend || relu);
  // Numbers between the operations are float, so a result is rounded once.
  const auto between = [&] { return g.between(cudnn_float, y_sizes, channels_last(y_sizes)); };
  const GraphTensor tw = tensor(convolution_w, numbers(w, dims)), tx = tensor(convolution_x, numbers(x, dims)),
                    ty = tensor(convolution_y, y_sizes);
  GraphTensor last = fused ? between() : ty;
  g.convolution({.pass = pass,
                 .precision = type == cudnn_double ? cudnn_double : cudnn_float,
                 .stride = numbers(stride, dims - 2),
                 .padding = numbers(padding, dims - 2),
                 .dilation = numbers(dilation, dims - 2),
                 .w = tw,
                 .x = tx,
                 .y = last,
                 .beta = !fused && addend ? 1.0 : 0.0});
  if (!fused) return g;
  const auto apply = [&](CudnnPointwise mode, GraphTensor b, bool is_last) {
    const GraphTensor to = is_last ? ty : between();
    g.pointwise({.mode = mode, .x = last, .b = b, .y = to});
    last = to;
  };
  if (bias) {
    GraphSizes channels(std::size_t(dims), 1);
    channels[1] = y[1];
    apply(cudnn_add, tensor(convolution_bias, channels), !addend && !relu);
  }
  if (addend) apply(cudnn_add, tensor(convolution_addend, y_sizes), !relu);
  if (relu) apply(cudnn_relu, 0, true);
  return g;
}

TERN_NOINLINE bool try_convolution(int ordinal, const ConvolutionForm& form, const ConvolutionMemory& m,
                                   std::string* reason) {
  return with_graph_plan(ordinal, form, [&](Cudnn handle, GraphPlan& plan) {
    const bool adds_to_target = form.addend && form.pass != tern::detail::ConvolutionPass::forward;
    const std::initializer_list<GraphMemory> memory = {{convolution_x, m.x},
                                                       {convolution_w, m.w},
                                                       {convolution_y, m.y},
                                                       {convolution_bias, m.bias},
                                                       {convolution_addend, adds_to_target ? nullptr : m.addend}};
    if (reason && plan.is_refused()) plan.try_again(handle);  // there is no other way
    // A wait cannot be captured, and a run more would add once more.
    if (times_candidates && !capture && !adds_to_target) plan.time_engines(handle, ordinal, memory);
    if (!plan.is_refused()) {
      const Span span(tern::detail::Work::kernel, "convolution", ordinal, bind(ordinal).compute);
      if (plan.run(handle, ordinal, memory)) return true;
    }
    if (reason) *reason = plan.refusal();
    return false;
  });
}

}}}  // namespace tern::cuda::detail
