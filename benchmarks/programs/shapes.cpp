// What ./benchmarks/run study shapes starts: `shapes DEVICE` reads generated networks from its input, one a line, and
// answers each with a line of JSON: seconds of a training step, its floating-point operations, and for float32 what
// `placement` predicts for both devices.
//   TYPE SECONDS fully_connected LAYERS WIDTH BATCH
//   TYPE SECONDS residual BLOCKS FILTERS BATCH
//   TYPE SECONDS rnn|gru|lstm LAYERS WIDTH LENGTH BATCH
// TYPE is float32, or bfloat16 with parameters in float; SECONDS is how long it measures at least. studies/generated.py
// says what the networks are.
#include <tern/io/json.hpp>
#include <tern/models/resnet.hpp>
#include <tern/nn/mixed.hpp>
#include <tern/profile/flops.hpp>
#include <tern/profile/placement.hpp>
#include <tern/tern.hpp>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using namespace tern;

struct Request {
  std::string type, family;
  double seconds = 0;
  std::vector<Index> sizes;
};

template <Device D, class T = float>
struct FullyConnected : nn::Module<D, T> {
  std::vector<nn::Linear<D, T>> layers;
  TERN_FIELDS(FullyConnected, layers)
  FullyConnected(Index count, Index width) {
    for (Index i = 0; i < count; ++i) layers.emplace_back(width, width);
  }
  Tensor<D, T> forward(const Tensor<D, T>& x) {
    Tensor<D, T> y = layers[0](x);
    for (std::size_t i = 1; i < layers.size(); ++i) y = layers[i](relu(y));
    return y;
  }
};

/// The states after the last element of each sequence, which are [length, batch, width].
template <class Layer, class X>
X last_states(Layer& layer, const X& x) {
  return std::get<0>(layer(x))[x.size(0) - 1];
}

template <Device D, class T = float>
struct Rnn : nn::Module<D, T> {
  nn::RNN<D, T> layer;
  TERN_FIELDS(Rnn, layer)
  Rnn(Index layers, Index width) : layer(width, width, {.num_layers = layers}) {}
  Tensor<D, T> forward(const Tensor<D, T>& x) { return last_states(layer, x); }
};
template <Device D, class T = float>
struct Gru : nn::Module<D, T> {
  nn::GRU<D, T> layer;
  TERN_FIELDS(Gru, layer)
  Gru(Index layers, Index width) : layer(width, width, {.num_layers = layers}) {}
  Tensor<D, T> forward(const Tensor<D, T>& x) { return last_states(layer, x); }
};
template <Device D, class T = float>
struct Lstm : nn::Module<D, T> {
  nn::LSTM<D, T> layer;
  TERN_FIELDS(Lstm, layer)
  Lstm(Index layers, Index width) : layer(width, width, {.num_layers = layers}) {}
  Tensor<D, T> forward(const Tensor<D, T>& x) { return last_states(layer, x); }
};

struct Answer {
  double seconds = 0, flops = 0;
  std::optional<profile::Times> predicted = std::nullopt;
};

/// The fastest of the training steps in so many seconds, two at least, after one that does not count.
template <Device D, class Net, class X>
Answer measure_steps(Net net, const X& x, Index classes, double seconds) {
  const auto labels = randint<D>(classes, {net(x).size(0)});
  optim::SGD sgd(net.parameters(), {.lr = 1e-4});
  const auto step = [&] {
    sgd.zero_grad();
    cross_entropy(net(x).to(f32), labels).backward();
    sgd.step();
  };
  const auto run = [](const void* f, int) { (*static_cast<const decltype(step)*>(f))(); };
  const double before = profile::flops();
  step();
  Answer answer{.seconds = HUGE_VAL, .flops = profile::flops() - before};
  const double begin = detail::now();
  for (int i = 0; i < 2 || detail::now() - begin < seconds; ++i)
    answer.seconds = std::min(answer.seconds, profile::measuring::seconds_of(!HostDevice<D>, run, &step, 1));
  return answer;
}

/// make() gives the network for the CPU in float; x is its batch.
template <Device D, class Make>
Answer measure(const Request& r, const Make& make, const Tensor<Cpu>& x, Index classes) {
  const auto there = x.to(D{});
  if (r.type == "bfloat16") return measure_steps<D>(nn::mixed<bfloat16>(make().to(D{})), there, classes, r.seconds);
  Answer answer = measure_steps<D>(make().to(D{}), there, classes, r.seconds);
  answer.predicted = profile::placement().step(make(), x).predicted;
  return answer;
}

template <Device D>
Answer measure(const Request& r) {
  const auto& n = r.sizes;
  if (r.family == "fully_connected" && n.size() == 3)
    return measure<D>(r, [&] { return FullyConnected<Cpu>(n[0], n[1]); }, randn<Cpu>({n[2], n[1]}), n[1]);
  if (r.family == "residual" && n.size() == 3) {
    const int blocks = int(n[0]);
    const auto make = [&] {
      return models::ResNet<Cpu>({.blocks = {blocks, blocks, blocks}, .width = n[1], .small_images = true}, 10);
    };
    return measure<D>(r, make, randn<Cpu>({n[2], 3, 32, 32}).contiguous(channels_last), 10);
  }
  if (n.size() == 4) {
    const auto x = randn<Cpu>({n[2], n[3], n[1]});
    if (r.family == "rnn") return measure<D>(r, [&] { return Rnn<Cpu>(n[0], n[1]); }, x, n[1]);
    if (r.family == "gru") return measure<D>(r, [&] { return Gru<Cpu>(n[0], n[1]); }, x, n[1]);
    if (r.family == "lstm") return measure<D>(r, [&] { return Lstm<Cpu>(n[0], n[1]); }, x, n[1]);
  }
  Error::fail("shapes", {"no network '", r.family, "' of ", Index(n.size()), " sizes"});
}

Request read_request(const std::string& line) {
  Request request;
  std::istringstream words(line);
  words >> request.type >> request.seconds >> request.family;
  for (Index size; words >> size;) request.sizes.push_back(size);
  if (!words.eof() || (request.type != "float32" && request.type != "bfloat16"))
    Error::fail("shapes", {"'", line, "' is no network"});
  return request;
}

template <Device D>
void serve() {
  for (std::string line; std::getline(std::cin, line);) {
    const Answer answer = measure<D>(read_request(line));
    io::Json json;
    json.object();
    json.member("seconds", answer.seconds), json.member("flops", answer.flops);
    if (answer.predicted)
      json.member("predicted_cpu", answer.predicted->cpu), json.member("predicted_cuda", answer.predicted->cuda);
    json.end();
    std::printf("%s\n", json.text().c_str());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc == 2 ? argv[1] : "";
  if (device == "cpu") return serve<Cpu>(), 0;
  if (device == "cuda") return serve<Cuda>(), 0;
  std::fprintf(stderr, "shapes: cpu or cuda\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
