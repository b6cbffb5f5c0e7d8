// Attention in 16 bits as a graph of cuDNN's: what is called, what is copied, and what happens where cuDNN refuses.
#include "tern/device/cuda/cudnn_attention.hpp"

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/ops/attention.hpp"

namespace device_cuda_cudnn_attention {
using namespace tern;
using namespace tern_test;

namespace {

struct Calls {
  std::uint64_t graphs, kernels, finished;
};
template <class F>
Calls calls_in(const F& f) {
  fail_call(nullptr, 0, 0);  // counts from here
  f();
  return {calls_of("cudnnBackendExecute"), calls_of("cuLaunchKernel"), calls_of("cudnnBackendFinalize")};
}

/// Queries, keys and values as parts of a projection [2, n, 3, 3, 16], with the heads before the positions.
struct Projected {
  Tensor<Cuda, bfloat16> q, k, v;
  explicit Projected(Index n) {
    const auto all = to_type(spread_tensor<Cuda, float>({2, n, 3, 3, 16}), detail::Type<bfloat16>{});
    const auto part = [&](Index i) { return all.select(2, i).transpose(1, 2).detach().requires_grad_(); };
    q = part(0), k = part(1), v = part(2);
  }
};

}  // namespace

TEST_CASE("attention in 16 bits is one graph, of tensors where they lie", "[cuda]") {
  NEED_EMULATOR();
  Projected x(24);
  const auto g = to_type(spread_tensor<Cuda, float>({2, 24, 3, 16}, 0, 1), detail::Type<bfloat16>{}).transpose(1, 2);
  Tensor<Cuda, bfloat16> y;
  const auto attend = [&] { y = scaled_dot_product_attention(x.q, x.k, x.v, {}, {.is_causal = true}); };
  std::vector<Tensor<Cuda, bfloat16>> slopes;
  const auto backward = [&] {
    slopes = grad(std::vector{y}, std::vector{x.q, x.k, x.v}, std::vector{g}, {.retain_graph = true});
  };
  attend(), backward();
  const Calls forward = calls_in(attend);
  CHECK((forward.graphs == 1 && forward.kernels == 0 && forward.finished == 1));
  const Calls gradient = calls_in(backward);
  CHECK((gradient.graphs == 1 && gradient.kernels == 0 && gradient.finished == 1));
  // Heads are merged without a copy, forward and backward.
  CHECK(y.transpose(1, 2).is_contiguous());
  for (const auto& slope : slopes) CHECK(slope.transpose(1, 2).is_contiguous());
}

TEST_CASE("attention whose gradient cuDNN refuses is not cuDNN's", "[cuda]") {
  NEED_EMULATOR();
  const auto x = to_type(spread_tensor<Cuda, float>({1, 1, 1, 16}), detail::Type<half>{}).detach().requires_grad_();
  CHECK(calls_in([&] {
          scaled_dot_product_attention(x, x, x, x.detach().sum(-1, true) == 0).sum().backward();
        }).graphs == 0);
  const auto narrow = to_type(spread_tensor<Cuda, float>({1, 2, 20, 12}), detail::Type<half>{});
  CHECK(calls_in([&] { scaled_dot_product_attention(narrow, narrow, narrow); }).graphs == 0);
}

TEST_CASE("a captured step of attention with dropout drops other weights in each replay", "[cuda]") {
  NEED_EMULATOR();
  Projected x(16);
  Tensor<Cuda, bfloat16> y;
  const auto step = [&] {
    y = scaled_dot_product_attention(x.q.detach(), x.k.detach(), x.v.detach(), {}, {.dropout_p = 0.5});
  };
  manual_seed(3);
  step();
  const auto first = values_of(y);
  manual_seed(3);
  cuda::Graph graph;
  graph.capture(step);
  graph.replay();
  CHECK(values_of(y) == first);
  graph.replay();
  CHECK(values_of(y) != first);
}

TEST_CASE("cuDNN's plans of attention are asked for by device and form", "[cuda]") {
  NEED_EMULATOR();
  if (!cuda::has_cudnn()) return;
  cuda::detail::AttentionForm form{.type = cuda::cudnn_half,
                                   .scale = 1,
                                   .batch = 1,
                                   .heads = 1,
                                   .shared_heads = 1,
                                   .queries = 8,
                                   .keys = 8,
                                   .size = 12,
                                   .width = 12};
  for (auto* strides : {&form.q, &form.k, &form.v, &form.out}) (*strides)[0] = (*strides)[1] = 96, (*strides)[2] = 12;
  CHECK_FALSE(cuda::detail::has_cudnn_attention(0, form));
  form.size = form.width = 16;
  for (auto* strides : {&form.q, &form.k, &form.v, &form.out}) (*strides)[0] = (*strides)[1] = 128, (*strides)[2] = 16;
  CHECK(cuda::detail::has_cudnn_attention(0, form));
}

}  // namespace device_cuda_cudnn_attention
