// How products are handed to cuBLASLt: rows that its fast kernels can read and write.
#include "tern/backend/cuda/matmul.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
#include "tern/ops/cross_entropy.hpp"
#include "tern/ops/matmul.hpp"

namespace backend_cuda_matmul {
using namespace tern;
using namespace tern_test;

namespace {

using Half = Tensor<Cuda, bfloat16>;

/// Numbers of few bits, so that products of them have exact sums in float.
template <class D>
Tensor<D, bfloat16> few_bits(const detail::Shape& shape, Index seed) {
  return (arange<Cpu, Index>(shape.numel()) * seed).remainder(7).to(bf16).view(shape).to(D{});
}

/// Largest difference of a product from that of doubles, relative to the largest element.
template <class A, class B>
double error_of(const Half& y, const A& a, const B& b) {
  const auto exact = matmul(a.cpu().to(f64), b.cpu().to(f64));
  return ((y.cpu().to(f64) - exact).abs().max() / exact.abs().max()).item();
}

/// The emulated device's time for f's work, in microseconds.
template <class F>
double time_of(const F& f) {
  f();
  cuda::synchronize();
  const cuda::detail::DeviceState& state = cuda::detail::bind(0);
  cuda::Event first = nullptr, last = nullptr;
  float milliseconds = 0;
  TERN_CUDA(cuEventCreate, &first, cuda::event_default);
  TERN_CUDA(cuEventCreate, &last, cuda::event_default);
  TERN_CUDA(cuEventRecord, first, state.compute);
  f();
  TERN_CUDA(cuEventRecord, last, state.compute);
  TERN_CUDA(cuEventSynchronize, last);
  TERN_CUDA(cuEventElapsedTime, &milliseconds, first, last);
  TERN_CUDA(cuEventDestroy_v2, first);
  TERN_CUDA(cuEventDestroy_v2, last);
  return 1000 * milliseconds;
}

}  // namespace

TEST_CASE("long rows of a 16-bit product begin at multiples of 16 bytes", "[cuda]") {
  const Half x = few_bits<Cuda>({6, 16}, 3), w = few_bits<Cuda>({1025, 16}, 5), b = few_bits<Cuda>({1025}, 2);
  const Half y = linear(x, w, b);
  CHECK(y.strides() == detail::Shape{1032, 1});
  CHECK(values_of(y) == values_of(linear(x.cpu(), w.cpu(), b.cpu())));
  CHECK(linear(x.view({2, 3, 16}), w).strides() == detail::Shape{3096, 1032, 1});
  CHECK(values_of(y.t().contiguous()) == values_of(y.cpu().t().contiguous()));
  // Where it would gain little, or nothing, a result has no gaps.
  CHECK(linear(x, w.narrow(0, 0, 1024)).is_contiguous());
  CHECK(linear(x, w.narrow(0, 0, 1023)).is_contiguous());
  CHECK(linear(x.narrow(0, 0, 1), w).is_contiguous());
  CHECK(matmul(x.view({2, 3, 16}), w.t().unsqueeze(0).expand({2, 16, 1025}).contiguous()).is_contiguous());
  CHECK(linear(x.to(f32), w.to(f32)).is_contiguous());
  CHECK(linear(x.cpu(), w.cpu()).is_contiguous());
}

TEST_CASE("the gradient of a 16-bit product has such rows, too", "[cuda]") {
  const auto target = arange<Cuda, Index>(4);
  for (const bool converted : {true, false}) {
    INFO((converted ? "of a loss of floats" : "of a loss of 16 bits"));
    const auto loss_of = [&](const auto& logits, const auto& classes) {
      return converted ? cross_entropy(logits.to(f32), classes)
                       : cross_entropy(logits, classes, {.label_smoothing = 0.1}).to(f32);
    };
    const Half x = few_bits<Cuda>({4, 16}, 3).requires_grad_(), w = few_bits<Cuda>({1025, 16}, 5).requires_grad_();
    const auto hx = x.detach().cpu().requires_grad_(), hw = w.detach().cpu().requires_grad_();
    detail::Shape strides;
    const Half logits = linear(x, w);
    logits.register_hook([&](const Half& g) { strides = g.strides(); });
    const auto loss = loss_of(logits, target);
    const auto on_host = loss_of(linear(hx, hw), target.cpu());
    loss.backward(), on_host.backward();
    CHECK(strides == detail::Shape{1032, 1});
    check_close(values_of(loss), values_of(on_host), 0.01, 0);
    check_close(values_of(x.grad()), values_of(hx.grad()), 0.02, 0.01);
    check_close(values_of(w.grad()), values_of(hw.grad()), 0.02, 0.01);
  }
}

TEST_CASE("a large 16-bit product with an odd size takes as long as with an even one", "[cuda]") {
  NEED_EMULATOR();
  constexpr Index rows = 512, inner = 2048, odd = 1025, even = 1024;
  const Half x = few_bits<Cuda>({rows, inner}, 3), w = few_bits<Cuda>({odd, inner}, 5);
  const Half y = linear(x, w), even_y = linear(x, w.narrow(0, 0, even)), even_w = w.narrow(0, 0, even);
  const double second_launch = 6;  // µs: its start, and what it reads; unaligned kernels take 8 longer
  CHECK(error_of(y, x, w.t()) < 0.004);
  CHECK(time_of([&] { linear(x, w); }) < time_of([&] { linear(x, even_w); }) + second_launch);
  // dx = g W and dW = gᵀ x.
  CHECK(error_of(mm(y, w), y, w) < 0.004);
  CHECK(time_of([&] { mm(y, w); }) < time_of([&] { mm(even_y, even_w); }) + second_launch);
  CHECK(error_of(mm(y.t(), x), y.t(), x) < 0.004);
  CHECK(time_of([&] { mm(y.t(), x); }) < time_of([&] { mm(even_y.t(), x); }) + second_launch);
  const Half bias = few_bits<Cuda>({odd}, 2);
  CHECK(values_of(linear(x, w, bias).select(1, odd - 1)) ==
        values_of((y.to(f32) + bias.to(f32)).to(bf16).select(1, odd - 1)));
}

}  // namespace backend_cuda_matmul
