// How recurrent layers use cuDNN: when they do, what they keep, and what happens where they cannot.
#include "tern/device/cuda/cudnn_rnn.hpp"

#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "support/process.hpp"
#include "support/tensors.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/device/cuda/stream.hpp"
#include "tern/nn/recurrent.hpp"
#include "tern/ops/convolution.hpp"
#include "tern/optim/sgd.hpp"

namespace device_cuda_cudnn_rnn {
using namespace tern;
using namespace tern_test;
namespace fs = std::filesystem;

namespace {

struct Calls {
  std::uint64_t forward, data, weights, plans, copies;
};
template <class F>
Calls calls_in(const F& f) {
  fail_call(nullptr, 0, 0);  // counts from here
  f();
  return {calls_of("cudnnRNNForward"), calls_of("cudnnRNNBackwardData_v8"), calls_of("cudnnRNNBackwardWeights_v8"),
          calls_of("cudnnCreateRNNDescriptor"), calls_of("cuMemcpyDtoDAsync_v2")};
}

/// Layers of every kind, their results and all gradients, on D.
template <class D, class T>
std::vector<std::vector<double>> all_results(bool packed) {
  std::vector<std::vector<double>> results;
  const auto add = [&](auto layer, Index state, Index directions) {
    for (std::size_t i = 0; i < layer.weights.size(); ++i)
      layer.weights[i] =
          nn::Parameter<D, T>(spread_tensor<Cpu, T>(layer.weights[i].shape(), -0.4 - 0.01 * double(i), 0.4).to(D{}));
    auto x = spread_tensor<Cpu, T>({5, 3, 4}, -1, 1).to(D{});
    x.requires_grad_();
    const auto slopes = spread_tensor<Cpu, T>({5, 3, directions * state}, 1, -1).to(D{});
    const auto use = [&](const Tensor<D, T>& y, const auto& last) {
      results.push_back(values_of(y)), results.push_back(values_of(last));
      (sum(y * narrow(slopes, 0, 0, y.size(0))) + sum(last * last)).backward();
    };
    if (packed) {
      const auto [y, last] = layer(pack_padded_sequence(x, {2, 5, 4}, {.enforce_sorted = false}));
      const auto padded = std::get<0>(pad_packed_sequence(y));
      if constexpr (requires { std::get<1>(last); }) use(padded, std::get<1>(last));
      else use(padded, last);
    } else {
      const auto [y, last] = layer(x);
      if constexpr (requires { std::get<1>(last); }) use(y, std::get<1>(last));
      else use(y, last);
    }
    results.push_back(values_of(x.grad()));
    for (const auto& w : layer.weights) results.push_back(values_of(w.grad()));
  };
  for (const bool both : {false, true}) {
    const Index directions = both ? 2 : 1;
    add(nn::LSTM<D, T>(4, 6, {.num_layers = 2, .bidirectional = both}), 6, directions);
    add(nn::LSTM<D, T>(4, 6, {.bias = false, .bidirectional = both, .proj_size = 3}), 3, directions);
    add(nn::GRU<D, T>(4, 5, {.bidirectional = both}), 5, directions);
    add(nn::RNN<D, T>(4, 5, {.bidirectional = both}), 5, directions);
  }
  return results;
}

template <class T>
void check_against_cpu(double tolerance) {
  for (const bool packed : {false, true}) {
    const auto expected = all_results<Cpu, T>(packed), actual = all_results<Cuda, T>(packed);
    REQUIRE(expected.size() == actual.size());
    for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], tolerance, tolerance);
  }
}

template <class F>
void run_elsewhere(const std::string& test_case, const F& settings) {
  const Ended ended = run_test_case(test_case, std::string("TERN_EMULATOR=quiet=1,") + settings);
  INFO(settings << "\n" << ended.output);
  CHECK(ended.well);
}

}  // namespace

TEST_CASE("recurrent layers are cuDNN's, in one call for both directions", "[cuda]") {
  NEED_EMULATOR();
  const nn::LSTM<Cuda> lstm(4, 6, {.num_layers = 2, .bidirectional = true});
  const auto x = spread_tensor<Cuda, float>({5, 3, 4}, -1, 1).requires_grad_();
  const auto train = [&] { std::get<0>(lstm(x)).sum().backward(); };
  const Calls first = calls_in(train), again = calls_in(train);
  CHECK((first.forward == 2 && first.data == 2 && first.weights == 2 && first.plans == 2));
  CHECK((again.forward == 2 && again.data == 2 && again.weights == 2 && again.plans == 0));

  // Its formula for relu says nothing of NaN.
  const nn::RNN<Cuda> relu(4, 6, {.nonlinearity = nn::Nonlinearity::relu});
  CHECK(calls_in([&] { std::get<0>(relu(x)).sum().backward(); }).forward == 0);
}

TEST_CASE("cuDNN's recurrent layers are the CPU's", "[cuda]") {
  NEED_EMULATOR();
  check_against_cpu<float>(1e-5);
  check_against_cpu<double>(1e-12);
  check_against_cpu<half>(0.03);
  check_against_cpu<bfloat16>(0.2);
}

TEST_CASE("layers of 128 units, which cuDNN computes by an algorithm of their own, are the CPU's", "[cuda]") {
  const auto results = []<class D>(D) {
    std::vector<std::vector<double>> all;
    const auto train = [&](auto layer) {
      for (std::size_t i = 0; i < layer.weights.size(); ++i)
        layer.weights[i] = nn::Parameter<D>(
            spread_tensor<Cpu, float>(layer.weights[i].shape(), -0.1, 0.1 - 0.01 * double(i % 4)).to(D{}));
      auto x = spread_tensor<Cpu, float>({7, 3, 16}, -1, 1).to(D{});
      x.requires_grad_();
      const auto [y, last] = layer(pack_padded_sequence(x, {7, 5, 2}));
      const auto padded = std::get<0>(pad_packed_sequence(y));
      (sum(padded * padded)).backward();
      all.push_back(values_of(padded)), all.push_back(values_of(x.grad()));
      for (const auto& w : layer.weights) all.push_back(values_of(w.grad()));
    };
    train(nn::LSTM<D>(16, 128, {.bidirectional = true}));
    train(nn::GRU<D>(16, 128));
    train(nn::RNN<D>(16, 128));
    return all;
  };
  const auto expected = results(Cpu{}), actual = results(Cuda{});
  REQUIRE(expected.size() == actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], 1e-4, 1e-4);
}

TEST_CASE("a recurrent layer's weights are packed again when one of them was written, and only then", "[cuda]") {
  NEED_EMULATOR();
  const nn::GRU<Cuda> gru(4, 6);
  const auto x = spread_tensor<Cuda, float>({5, 3, 4}, -1, 1);
  const NoGradGuard no_grad;
  std::vector<double> y;
  const auto run = [&] { return calls_in([&] { y = values_of(std::get<0>(gru(x))); }).copies; };
  const std::uint64_t first = run();
  const std::vector<double> before = y;
  const std::uint64_t again = run();
  CHECK(first == again + 4);
  CHECK(y == before);
  gru.weights[3].add_(1);
  CHECK(run() == first);
  CHECK(y != before);
  CHECK(run() == again);

  // On a stream of its own nothing orders a call behind the one that packed.
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream);
  CHECK(run() == first);
}

TEST_CASE("a recurrent layer without a gradient keeps nothing for one", "[cuda]") {
  NEED_EMULATOR();
  const nn::LSTM<Cuda> lstm(4, 6);
  const auto x = spread_tensor<Cuda, float>({50, 3, 4}, -1, 1);
  const auto bytes_of = [&] {
    const auto before = cuda::memory_stats().current;
    const auto [y, state] = lstm(x);
    return cuda::memory_stats().current - before;
  };
  bytes_of();  // packs the weights
  const auto recorded = bytes_of();
  const NoGradGuard no_grad;
  CHECK(bytes_of() + 50 * 3 * 6 * 4 < recorded);
}

TEST_CASE("a recurrent layer's graph can be kept for a second pass", "[cuda]") {
  NEED_EMULATOR();
  const nn::LSTM<Cuda> lstm(4, 6);
  const auto x = spread_tensor<Cuda, float>({5, 3, 4}, -1, 1).requires_grad_();
  const auto y = std::get<0>(lstm(x)).sum();
  y.backward({}, true);
  const auto once = values_of(x.grad() * 2);
  y.backward();
  CHECK(values_of(x.grad()) == once);
}

TEST_CASE("cuDNN's recurrent layers of float round to TF32 if they may", "[cuda]") {
  NEED_EMULATOR();
  const auto last = [] {
    const NoGradGuard no_grad;
    const nn::RNN<Cuda> rnn(1, 1, {.bias = false});
    for (const auto& w : rnn.weights) w.fill_(1 + 0x1p-12);
    return std::get<1>(rnn(full<Cuda>({1, 1, 1}, 1))).item();
  };
  CHECK(last() == Approx(std::tanh(1 + 0x1p-12)).epsilon(1e-7));
  cuda::allow_tf32_convolution(true);
  CHECK(last() == Approx(std::tanh(1.)).epsilon(1e-7));
  cuda::allow_tf32_convolution(false);
}

TEST_CASE("a training step with recurrent layers can be captured", "[cuda]") {
  NEED_EMULATOR();
  for (const bool uneven : {false, true}) {
    const auto x = spread_tensor<Cuda, float>({5, 3, 4}, -1, 1);
    const auto sequences = pack_padded_sequence(x, {5, 4, 2});
    const auto trained = [&](bool captured) {
      nn::LSTM<Cuda> lstm(4, 6, {.bidirectional = true});
      for (auto& w : lstm.weights) {
        const NoGradGuard no_grad;
        w.copy_(spread_tensor<Cuda, float>(w.shape(), -0.4, 0.4));
      }
      optim::SGD sgd(lstm.parameters(), {.lr = 0.1});
      const auto step = [&] {
        sgd.zero_grad();
        if (uneven) std::get<0>(lstm(sequences)).data.sum().backward();
        else std::get<0>(lstm(x)).sum().backward();
        sgd.step();
      };
      std::get<0>(lstm(x));  // packs the weights
      cuda::Graph graph;
      if (captured) {
        step();
        const Calls calls = calls_in([&] { graph.capture(step); });
        CHECK(calls.forward == (uneven ? 0 : 1));
        graph.replay(), graph.replay();
      } else {
        step(), step(), step();
      }
      std::vector<double> all = values_of(std::get<0>(lstm(x)));
      for (const auto& w : lstm.weights)
        for (const double v : values_of(w)) all.push_back(v);
      return all;
    };
    const auto expected = trained(false), actual = trained(true);
    check_close(actual, expected, 1e-6, 1e-6);
  }
}

TEST_CASE("a recurrent layer that cuDNN refuses goes step by step", "[cuda]") {
  NEED_EMULATOR();
  for (const char* refused : {"rnn", "rnn_forward", "rnn_data", "rnn_weights"})
    run_elsewhere("in a new process: recurrent layers that cuDNN refuses", std::string("refuse=") + refused + ":0");
  for (const char* seed : {"1", "2", "3"})
    run_elsewhere("in a new process: recurrent layers of every kind", std::string("refuse=random:") + seed);
  run_elsewhere("in a new process: recurrent layers without cuDNN", std::string("cudnn=90600"));  // too old
}

TEST_CASE("in a new process: recurrent layers of every kind", "[.]") {
  check_against_cpu<float>(1e-5);
  check_against_cpu<double>(1e-12);
}

TEST_CASE("in a new process: recurrent layers that cuDNN refuses", "[.]") {
  check_against_cpu<double>(1e-12);
  const Calls again = calls_in([&] { check_against_cpu<double>(1e-12); });
  CHECK((again.forward == 0 && again.data == 0 && again.weights == 0 && again.plans == 0));
}

TEST_CASE("in a new process: recurrent layers without cuDNN", "[.]") {
  const Calls calls = calls_in([&] { check_against_cpu<float>(1e-5); });
  CHECK((calls.forward == 0 && calls.plans == 0));
}

}  // namespace device_cuda_cudnn_rnn
