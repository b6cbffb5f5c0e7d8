// The functions of recurrent_layer.hpp that are not templates.
#pragma once
#include "recurrent_layer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

using cuda::detail::RnnForm;
using cuda::detail::RnnLease;
using cuda::detail::RnnPlan;

/// Whether cuDNN's formulas are ours, and its numbers large enough.
TERN_INLINE bool is_cudnn_layer(const RecurrentSizes& s, const Steps& steps) {
  const auto fits = [](Index n) { return n > 0 && n < Index(1) << 31; };
  return s.kind != RecurrentKind::rnn_relu && fits(s.inputs) && fits(s.hidden) && fits(s.state) &&
         fits(s.directions * s.state) && fits(steps.count()) && fits(steps.sequences());
}

TERN_INLINE bool is_captured_unevenly(const Steps& steps) {
  return cuda::detail::capture && steps.rows.front() != steps.rows.back();
}

TERN_INLINE RnnForm form_of(const RecurrentSizes& s, const Steps& steps, DType dtype) {
  using namespace tern::cuda;
  constexpr CudnnType types[] = {cudnn_float, cudnn_double, cudnn_bfloat16, cudnn_half};
  const CudnnType type = types[int(dtype)];
  const bool exact = type == cudnn_float && !cuda::detail::convolution_tf32_allowed;
  return {.type = type,
          .math = exact                                         ? cudnn_fma_math
                  : type == cudnn_float || type == cudnn_double ? cudnn_default_math
                                                                : cudnn_tensor_op_math,
          .cell = s.kind == RecurrentKind::lstm  ? cudnn_lstm
                  : s.kind == RecurrentKind::gru ? cudnn_gru
                                                 : cudnn_rnn_tanh,
          .biases = s.has_biases ? cudnn_double_bias : cudnn_no_bias,
          .directions = int(s.directions),
          .inputs = int(s.inputs),
          .hidden = int(s.hidden),
          .state = int(s.state),
          .sequences = int(steps.sequences()),
          .steps = int(steps.count())};
}

/// f(handle, plan) for the layer's plan. False if cuDNN does not compute the layer.
template <class F>
TERN_INLINE bool with_plan(int ordinal, const RnnForm& form, const F& f) {
  const cuda::detail::CudnnLease cudnn(ordinal, cuda::detail::bind(ordinal).compute);
  const RnnLease plan(cuda::detail::rnn_plans(ordinal), form,
                      [&] { return new RnnPlan(cudnn.handle(), ordinal, form); });
  return !plan->is_refused() && f(cudnn.handle(), *plan);
}

TERN_INLINE void* address_of(const Array* a) { return a ? a->data : nullptr; }

/// Where the last states and the last cells begin, in `out` or its gradient. No cells: null.
struct OutParts {
  char *last, *cells;
  OutParts(const RecurrentSizes& s, const Steps& steps, const Array& out)
      : last(out.data + steps.total() * s.directions * s.state * detail::size_of(out.dtype)),
        cells(s.kind == RecurrentKind::lstm
                  ? last + s.directions * steps.sequences() * s.state * detail::size_of(out.dtype)
                  : nullptr) {}
};

TERN_NOINLINE void run_layer(const RecurrentLayer& op) {
  const auto or_x = [&](const Array* a) { return a ? a : &op.x; };
  const Array* const arrays[] = {&op.x, &op.weights, or_x(op.h0), or_x(op.c0)};
  const int ordinal = common_ordinal(op.out, arrays, 4);
  const OutParts parts(op.sizes, op.steps, op.out);
  op.refused = !with_plan(ordinal, form_of(op.sizes, op.steps, op.x.dtype), [&](cuda::Cudnn handle, RnnPlan& plan) {
    return plan.forward(handle, ordinal, op.steps.lengths().data(),
                        {.x = op.x.data,
                         .h0 = address_of(op.h0),
                         .c0 = address_of(op.c0),
                         .weights = op.weights.data,
                         .y = op.out.data,
                         .h_n = parts.last,
                         .c_n = parts.cells,
                         .reserve = address_of(op.reserve)});
  });
}

TERN_NOINLINE void run_layer_gradient(const RecurrentLayerGradient& op) {
  const Array* const arrays[] = {&op.g, &op.weights};
  const int ordinal = common_ordinal(op.dx, arrays, 2);
  const OutParts gradients(op.sizes, op.steps, op.g);
  op.refused = is_captured_unevenly(op.steps) ||
               !with_plan(ordinal, form_of(op.sizes, op.steps, op.x.dtype), [&](cuda::Cudnn handle, RnnPlan& plan) {
                 return plan.backward(handle, ordinal, op.steps.lengths().data(),
                                      {.x = op.x.data,
                                       .h0 = address_of(op.h0),
                                       .c0 = address_of(op.c0),
                                       .weights = op.weights.data,
                                       .y = op.out.data,
                                       .dy = op.g.data,
                                       .dh_n = gradients.last,
                                       .dc_n = gradients.cells,
                                       .dx = op.dx.data,
                                       .dh0 = address_of(op.dh0),
                                       .dc0 = address_of(op.dc0),
                                       .dweights = address_of(op.dweights),
                                       .reserve = op.reserve.data});
               });
}

}  // namespace cuda_kernels

TERN_NOINLINE bool find_layout(On<Cuda>, const RecurrentSizes& sizes, const Steps& steps, const Array& x,
                               RecurrentLayout& layout) {
  using namespace cuda_kernels;
  if (!is_cudnn_layer(sizes, steps) || is_captured_unevenly(steps) || !cuda::has_cudnn()) return false;
  return with_plan(x.ordinal, form_of(sizes, steps, x.dtype), [&](cuda::Cudnn, const RnnPlan& plan) {
    const Index size = detail::size_of(x.dtype);
    const auto elements = [&](std::size_t bytes) { return Index(bytes) / size; };
    layout = {.directions = {},
              .size = elements(plan.weight_bytes()),
              .reserve = Index(plan.reserve_bytes()),
              .may_be_shared = !cuda::detail::chosen_stream(x.ordinal)};
    for (Index i = 0; i < sizes.directions; ++i) {
      const cuda::detail::RnnPieces& p = plan.pieces(int(i));
      layout.directions[i] = {elements(p.w_ih), elements(p.w_hh), elements(p.b_ih), elements(p.b_hh), elements(p.w_hr)};
    }
    return true;
  });
}

}}}  // namespace tern::detail::backend
