// Recurrent layers on Cuda: what a step costs where cuDNN does not compute the layer, and that a graph can hold either
// way. What they compute is tested with the op.
#include "tern/backend/cuda/recurrence.hpp"

#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/nn/recurrent.hpp"

namespace backend_cuda_recurrence {
using namespace tern;
using namespace tern_test;

namespace {

void check_captured_passes() {
  const auto check = [](auto net, Index projected) {
    INFO("projected to " << projected);
    using X = Tensor<Cuda>;
    const X x = zeros<Cuda>({4, 3, 4}),
            g = spread_tensor<Cpu, float>({4, 3, 2 * (projected ? projected : 5)}, -1, 1).cuda();
    X y, dx;
    const auto pass = [&] {
      X input = x.detach();
      net.zero_grad();
      y = std::get<0>(net(input.requires_grad_()));
      y.backward(g);
      dx = input.grad();
    };
    const auto results = [&] {
      std::vector<std::vector<double>> all{values_of(y), values_of(dx)};
      for (const auto& w : net.weights) all.push_back(values_of(w.grad()));
      return all;
    };
    const auto next = [&](float scale) { x.copy_((spread_tensor<Cpu, float>({4, 3, 4}, -1, 1) * scale).cuda()); };
    std::vector<std::vector<std::vector<double>>> plain;
    for (const float scale : {1.f, 2.f}) next(scale), pass(), plain.push_back(results());
    cuda::Graph graph;
    graph.capture(pass);
    for (std::size_t i = 0; i < 2; ++i) {
      next(float(i + 1)), graph.replay();
      CHECK(results() == plain[i]);
    }
    CHECK(plain[0] != plain[1]);
  };
  check(nn::LSTM<Cuda>(4, 5, {.num_layers = 2, .bidirectional = true}), 0);
  check(nn::LSTM<Cuda>(4, 5, {.bidirectional = true, .proj_size = 3}), 3);
  check(nn::GRU<Cuda>(4, 5, {.bidirectional = true}), 0);
  check(nn::RNN<Cuda>(4, 5, {.bidirectional = true}), 0);
}

}  // namespace

TEST_CASE("a captured pass through recurrent layers, forward and backward, is the pass", "[cuda]") {
  check_captured_passes();
}

TEST_CASE("a captured pass over sequences of different lengths, forward and backward, is the pass", "[cuda]") {
  nn::LSTM<Cuda> net(4, 5, {.num_layers = 2, .bidirectional = true});
  const auto packed = pack_padded_sequence(zeros<Cuda>({4, 3, 4}), {2, 4, 3}, {.enforce_sorted = false});
  Tensor<Cuda> y, h, c, dx;
  const auto pass = [&] {
    auto input = packed;
    input.data = packed.data.detach();
    input.data.requires_grad_();
    const auto [states, last] = net(input);
    y = states.data, h = std::get<0>(last), c = std::get<1>(last);
    (square(y).sum() + square(h).sum() + square(c).sum()).backward();
    dx = input.data.grad();
  };
  const auto results = [&] {
    return std::vector<std::vector<double>>{values_of(y), values_of(h), values_of(c), values_of(dx)};
  };
  const auto next = [&](float scale) { packed.data.copy_((spread_tensor<Cpu, float>({9, 4}, -1, 1) * scale).cuda()); };
  std::vector<std::vector<std::vector<double>>> plain;
  for (const float scale : {1.f, 2.f}) next(scale), pass(), plain.push_back(results());
  cuda::Graph graph;
  graph.capture(pass);
  for (std::size_t i = 0; i < 2; ++i) {
    next(float(i + 1)), graph.replay();
    const auto replayed = results();  // step by step, where the plain pass is cuDNN's
    for (std::size_t k = 0; k < replayed.size(); ++k) check_close(replayed[k], plain[i][k], 1e-5, 1e-4);
  }
  CHECK(plain[0] != plain[1]);
}

TEST_CASE("without cuDNN a step of a recurrent layer is one product and one kernel, and can be captured", "[cuda]") {
  NEED_EMULATOR();
  const Ended ended =
      run_test_case("in a new process: steps of recurrent layers", "TERN_EMULATOR=quiet=1,refuse=rnn:0");
  INFO(ended.output);
  CHECK(ended.well);
}

TEST_CASE("in a new process: steps of recurrent layers", "[.]") {
  check_captured_passes();
  const auto check = [](auto net) {
    using Counts = std::array<Index, 2>;  // of kernels and products
    const auto counts = [&](Index length, bool backward) {
      const auto x = spread_tensor<Cpu, float>({length, 3, 4}, -1, 1).cuda();
      const auto pass = [&] {
        const auto y = std::get<0>(net(x));
        if (backward) y.backward(y.detach());
      };
      pass();  // compiles the kernels
      fail_call(nullptr, 0, 0);
      pass();
      return Counts{Index(calls_of("cuLaunchKernel")), Index(calls_of("cublasLtMatmul"))};
    };
    for (const bool backward : {false, true}) {
      const Counts few = counts(3, backward), many = counts(13, backward);
      CHECK(many[0] - few[0] == (backward ? 20 : 10));
      CHECK(many[1] - few[1] == (backward ? 20 : 10));
    }
  };
  check(nn::LSTM<Cuda>(4, 5)), check(nn::GRU<Cuda>(4, 5)), check(nn::RNN<Cuda>(4, 5));
}

TEST_CASE("a recurrent layer's operands are on one device", "[cuda]") {
  if (cuda::device_count() < 2) SKIP_TEST("needs two devices");
  nn::GRU<Cuda> net(4, 5);
  const auto x = zeros<Cuda>({3, 2, 4});
  const auto elsewhere = zeros<Cuda>({1, 2, 5}, Cuda{1 - cuda::current_device()});
  CHECK_THAT(error_of([&] { net(x, elsewhere); }), Catch::Matchers::ContainsSubstring("operands on cuda:"));
}

}  // namespace backend_cuda_recurrence
