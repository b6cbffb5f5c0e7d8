// Ops on a GPU, and an op with its gradients. Products and attention of floats are rounded to TF32.
#include "on_gpu.hpp"

namespace {

using namespace tern;

/// The row `name`: make() gives what is timed.
template <class Make>
void add(const char* name, const Make& make) {
  benchmark::RegisterBenchmark(name, [make](benchmark::State& state) {
    if (!found_gpu(state)) return;
    cuda::allow_tf32_matmul(true);
    run_ahead(state, make());
  })->UseRealTime();
}

/// f of tensors that need no gradient.
template <class F, class... X>
auto plain(const F& f, const X&... x) {
  return [=] {
    const NoGradGuard guard;
    f(x...);
  };
}

/// f of tensors, and their gradients for a given gradient of the result.
template <class F, class... X>
auto with_gradient(const F& f, X... x) {
  (x.requires_grad_(), ...);
  const auto g = [&] {
    const NoGradGuard guard;
    const auto y = f(x...);
    return ones_like(y);
  }();
  return [=] {
    (x.set_grad({}), ...);
    f(x...).backward(g);
  };
}

template <class T>
Tensor<Cuda, T> heads() {
  return randn<Cuda, T>({4, 16, 2048, 64});
}
Tensor<Cuda> rows() { return randn<Cuda>({8192, 4096}); }
Tensor<Cuda> many() { return randn<Cuda>({Index(1) << 24}); }

[[maybe_unused]] const bool added = [] {
  const auto attention = [](const auto& q, const auto& k, const auto& v) {
    return scaled_dot_product_attention(q, k, v, {}, {.is_causal = true});
  };
  add("attention_bf16", [=] { return plain(attention, heads<bfloat16>(), heads<bfloat16>(), heads<bfloat16>()); });
  add("attention_bf16_grad",
      [=] { return with_gradient(attention, heads<bfloat16>(), heads<bfloat16>(), heads<bfloat16>()); });
  add("attention_f32", [=] { return plain(attention, heads<float>(), heads<float>(), heads<float>()); });

  add("cumsum_16M", [] { return plain([](const auto& x) { return cumsum(x, 0); }, many()); });
  add("topk_4096x4096",
      [] { return plain([](const auto& x) { return topk(x, 10).values; }, randn<Cuda>({4096, 4096})); });
  add("mask_16M",
      [] { return plain([](const auto& x, const auto& mask) { return masked_select(x, mask); }, many(), many() > 0); });
  add("sort_16M", [] { return plain([](const auto& x) { return sort(x).values; }, many()); });
  add("randn_16M", [] { return plain([] { return many(); }); });

  add("sum_dim0", [] { return plain([](const auto& x) { return sum(x, 0); }, rows()); });
  add("sum_all", [] { return plain([](const auto& x) { return sum(x); }, rows()); });
  add("softmax", [] { return plain([](const auto& x) { return softmax(x, 1); }, rows()); });
  add("transpose", [] { return plain([](const auto& x) { return x.t().contiguous(); }, rows()); });

  const auto normalised = [](const auto& x, const auto& w, const auto& b) { return layer_norm(x, {4096}, w, b); };
  add("layernorm_grad", [=] { return with_gradient(normalised, rows(), ones<Cuda>({4096}), zeros<Cuda>({4096})); });
  add("gelu_grad", [] { return with_gradient([](const auto& x) { return gelu(x); }, rows()); });
  add("cross_entropy_grad", [] {
    const auto labels = randint<Cuda>(0, 50257, {8192});
    return with_gradient([=](const auto& x) { return cross_entropy(x, labels); }, randn<Cuda>({8192, 50257}));
  });
  add("embedding_grad", [] {
    const auto words = randint<Cuda>(0, 50257, {16384});
    return with_gradient([=](const auto& table) { return embedding(words, table); }, randn<Cuda>({50257, 768}));
  });
  return true;
}();

}  // namespace
