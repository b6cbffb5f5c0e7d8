// Captured graphs: replays are steps bit for bit, and what a capture cannot hold is refused. Over 400 lines, because
// every optimiser and tool that has state of its own must show that it replays.
#include "tern/device/cuda/graph.hpp"

#include "support/emulator.hpp"
#include "support/tensors.hpp"
#include "tern/autograd/checkpoint.hpp"
#include "tern/data/loader.hpp"
#include "tern/nn/dropout.hpp"
#include "tern/nn/linear.hpp"
#include "tern/ops/activations.hpp"
#include "tern/ops/cross_entropy.hpp"
#include "tern/optim/optim.hpp"
#include "tern/profile/ledger.hpp"

namespace device_cuda_graph {
using namespace tern;
using namespace tern_test;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{6, 8}, out{8, 3};
  nn::Dropout<D, T> dropout{0.25};
  TERN_FIELDS(Net, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(relu(hidden(x)))); }
};

/// Parameters of 1, 2 or 3 elements.
template <Device D, class T = float>
struct Scales : nn::Module<D, T> {
  std::vector<nn::Parameter<D, T>> scales;
  TERN_FIELDS(Scales, scales)
  explicit Scales(int count) {
    for (int i = 0; i < count; ++i) scales.emplace_back(full<D, T>({1 + i % 3}, 0.1f * float(i)));
  }
};

/// A training on four batches in turn, as it is written without graphs.
template <class Optimizer, class Schedule>
struct Training {
  Net<Cuda> net;
  Optimizer optimizer;
  Schedule schedule;
  Tensor<Cuda> x = zeros<Cuda>({4, 6}), loss;
  Tensor<Cuda, std::int64_t> y = zeros<Cuda, std::int64_t>({4});
  Index count = 0;

  template <class Options, class ScheduleOptions>
  Training(const Options& options, const ScheduleOptions& schedule_options)
      : optimizer(net.parameters(), options), schedule(optimizer, schedule_options) {}

  void next_batch() {
    const Index k = count++ % 4;
    x.copy_((spread_tensor<Cpu, float>({4, 6}) * (1 + 0.25f * float(k))).cuda());
    y.copy_(tensor_of<Cpu, std::int64_t>({double(k % 3), 1, 2, double((k + 1) % 3)}).cuda());
  }
  void step() {
    loss = cross_entropy(net(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  double value() { return loss.detach().item(); }
};

/// The losses of 3 plain steps and then 100, either plain or replayed; and the weights at the end.
template <class T>
std::vector<double> losses(bool replayed, const auto& options, const auto& schedule_options) {
  manual_seed(1);
  T training(options, schedule_options);
  std::vector<double> numbers;
  cuda::Graph graph;
  for (int i = 0; i < 103; ++i) {
    training.next_batch();
    if (i == 3 && replayed) graph.capture([&] { training.step(); });
    if (i >= 3 && replayed) graph.replay();
    else training.step();
    training.schedule.step();
    numbers.push_back(training.value());
  }
  for (const double w : values_of(training.net.out.weight)) numbers.push_back(w);
  return numbers;
}

}  // namespace

TEST_CASE("a captured step replayed is so many steps: SGD with momentum", "[cuda]") {
  using T = Training<optim::SGD, optim::StepLR>;
  const optim::SGDOptions options{.lr = 0.1, .momentum = 0.9, .nesterov = true};
  const optim::StepLROptions schedule{.step_size = 10, .gamma = 0.8};
  CHECK(losses<T>(true, options, schedule) == losses<T>(false, options, schedule));
}

TEST_CASE("a captured step replayed is so many steps: Adam", "[cuda]") {
  using T = Training<optim::Adam, optim::CosineAnnealingLR>;
  const optim::AdamOptions options{.lr = 0.05};
  const optim::CosineAnnealingLROptions schedule{.T_max = 100};
  const std::vector<double> plain = losses<T>(false, options, schedule);
  CHECK(losses<T>(true, options, schedule) == plain);
  CHECK(plain[102] < plain[0]);  // it learns
}

TEST_CASE("a captured step of 16-bit weights keeps its float copies", "[cuda]") {
  const auto run = [](bool replayed) {
    manual_seed(2);
    nn::Linear<Cuda, bfloat16> layer(6, 3);
    optim::RMSprop rmsprop(layer.parameters(), {.lr = 0.01, .momentum = 0.5});
    const auto x = tensor_of<Cuda, bfloat16>(spread_values(24), {4, 6});
    const auto step = [&] {
      rmsprop.zero_grad();
      layer(x).square().sum().backward();
      rmsprop.step();
    };
    step();
    cuda::Graph graph;
    if (replayed) graph.capture(step);
    for (int i = 0; i < 20; ++i) replayed ? graph.replay() : step();
    return values_of(layer.weight);
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a captured step of groups of parameters follows the rate of each", "[cuda]") {
  const auto run = [](bool replayed) {
    manual_seed(1);
    Net<Cuda> net;
    optim::Adam adam(
        {{net.hidden.parameters(), {.lr = 0.01}}, {net.out.parameters(), {.lr = 0.1, .betas = {0.5, 0.9}}}});
    optim::OneCycleLR schedule(adam, {.max_lr = 0.1, .total_steps = 30});
    const auto x = spread_tensor<Cpu, float>({4, 6}).cuda();
    const auto step = [&] {
      adam.zero_grad();
      net(x).square().mean().backward();
      adam.step();
    };
    step();
    cuda::Graph graph;
    if (replayed) graph.capture(step);
    for (int i = 0; i < 20; ++i) {
      schedule.step();
      adam.set_lr(0.5 * adam.lr(1), 1);
      replayed ? graph.replay() : step();
    }
    if (replayed) {
      adam.add_param_group({nn::Linear<Cuda>(2, 2).parameters()});
      CHECK_THAT(error_of([&] { graph.replay(); }), Catch::Matchers::ContainsSubstring("capture again"));
    }
    auto values = values_of(net.hidden.weight);
    for (const double w : values_of(net.out.weight)) values.push_back(w);
    return values;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a captured step of so many parameters that they take several launches", "[cuda]") {
  const auto run = [](bool replayed) {
    const Scales<Cuda> net(130);
    optim::Adam adam(net.parameters(), {.lr = 0.1, .weight_decay = 0.01});
    const auto step = [&] {
      adam.zero_grad();
      Tensor<Cuda> sum = net.scales[0].square().sum();
      for (std::size_t i = 1; i < net.scales.size(); ++i)
        if (i % 10 != 3) sum = sum + net.scales[i].square().sum();  // the others have no gradient
      sum.backward();
      adam.step();
    };
    step();
    cuda::Graph graph;
    if (replayed) graph.capture(step);
    for (int i = 0; i < 5; ++i) {
      adam.set_lr(0.5 * adam.lr());
      replayed ? graph.replay() : step();
    }
    std::vector<double> values;
    for (const auto& scale : net.scales)
      for (const double x : values_of(scale)) values.push_back(x);
    return values;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE(
    "a captured step of Muon follows its rate, with a checkpoint's random numbers drawn again, and averages the "
    "weights",
    "[cuda]") {
  const auto run = [](bool replayed) {
    manual_seed(1);
    Net<Cuda> net;
    const auto is_matrix = [](const NamedTensor& p) { return p.tensor.shape().n == 2; };
    optim::Muon muon(net.parameters().where(is_matrix), {.lr = 0.02});
    optim::ExponentialMovingAverage ema(net.parameters(), {.decay = 0.9});
    optim::StepLR schedule(muon, {.step_size = 2, .gamma = 0.7});
    const auto x = spread_tensor<Cpu, float>({4, 6}).cuda();
    const auto step = [&] {
      net.zero_grad();
      checkpoint([&](const auto& v) { return net(v); }, x).square().mean().backward();
      muon.step();
      ema.update();
    };
    step();
    cuda::Graph graph;
    if (replayed) graph.capture(step);
    for (int i = 0; i < 10; ++i) {
      schedule.step();
      replayed ? graph.replay() : step();
    }
    auto values = values_of(net.hidden.weight);
    ema.apply();
    for (const double w : values_of(net.out.weight)) values.push_back(w);
    return values;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("two graphs of one optimiser are replayed in turn", "[cuda]") {
  using T = Training<optim::Adam, optim::StepLR>;
  const auto run = [](bool replayed) {
    manual_seed(3);
    T training(optim::AdamOptions{.lr = 0.02}, optim::StepLROptions{.step_size = 7, .gamma = 0.5});
    training.next_batch();
    training.step();
    const auto noisy = [&] {  // another step, with more random numbers
      training.loss = cross_entropy(training.net(training.x + randn<Cuda>({4, 6}) * 0.1f), training.y);
      training.optimizer.zero_grad();
      training.loss.backward();
      training.optimizer.step();
    };
    cuda::Graph first, second;
    Tensor<Cuda> losses[2];
    if (replayed) {
      first.capture([&] { training.step(); });
      losses[0] = training.loss.detach();
      second.capture(noisy);
      losses[1] = training.loss.detach();
    }
    std::vector<double> numbers;
    for (int i = 0; i < 30; ++i) {
      training.next_batch();
      const bool other = i % 3 == 1;
      if (replayed) (other ? second : first).replay();
      else if (other) noisy();
      else training.step();
      training.schedule.step();
      numbers.push_back(replayed ? losses[other].item() : training.value());
    }
    return numbers;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("random numbers of a replay are new, and those that a plain program would draw", "[cuda]") {
  const auto run = [](bool replayed) {
    manual_seed(4);
    Tensor<Cuda> x;
    const auto draw = [&] { x = rand<Cuda>({5}) + randn<Cuda>({5}); };
    cuda::Graph graph;
    if (replayed) graph.capture(draw);  // the first use of these kernels too
    std::vector<double> numbers;
    for (int i = 0; i < 5; ++i) {
      if (i == 3) manual_seed(5);
      replayed ? graph.replay() : draw();
      for (const double v : values_of(x)) numbers.push_back(v);
      for (const double v : values_of(rand<Cuda>({2}))) numbers.push_back(v);  // between two replays
    }
    return numbers;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("neither a step nor its replay makes the host wait", "[cuda]") {
  Training<optim::Adam, optim::StepLR> training(optim::AdamOptions{}, optim::StepLROptions{});
  training.next_batch();
  training.step();
  ledger::expect_transfers({}, [&] { training.step(); });
  cuda::Graph graph;
  ledger::expect_transfers({}, [&] { graph.capture([&] { training.step(); }); });
  ledger::expect_transfers({.h2d = 2}, [&] {  // each replay's new numbers
    graph.replay();
    graph.replay();
  });
}

TEST_CASE("a replay is a few calls into the driver", "[cuda]") {
  if (!is_emulated()) SKIP_TEST("the emulated driver counts calls");
  Training<optim::Adam, optim::StepLR> training(optim::AdamOptions{}, optim::StepLROptions{});
  training.next_batch();
  training.step();
  cuda::Graph graph;
  graph.capture([&] { training.step(); });
  graph.replay();
  cuda::synchronize();
  const auto calls = [](const auto& f) {
    fail_call(nullptr, 0, 0);
    f();
    return calls_of(nullptr) - calls_of("cuCtxGetCurrent");  // which reads a variable of the thread
  };
  CHECK(calls([&] { graph.replay(); }) == 4);  // whether a block is free, a copy from it, its event, the graph
  CHECK(calls([&] { training.step(); }) > 60);
}

namespace {

/// Objects of CUDA's that a graph has, and nobody else.
std::int64_t graph_objects() {
  return live_objects("graph") + live_objects("executable graph") + live_objects("stream");
}

}  // namespace

TEST_CASE("what cannot be captured is refused, and nothing remains of it", "[cuda]") {
  const auto refused = [](const std::string& what, const std::string& rule, const auto& extra) {
    manual_seed(6);
    Training<optim::Adam, optim::StepLR> training(optim::AdamOptions{}, optim::StepLROptions{}),
        twin(optim::AdamOptions{}, optim::StepLROptions{});
    twin.net.load_state_dict(training.net.state_dict());
    for (auto* t : {&training, &twin}) {
      manual_seed(7);
      t->next_batch();
      t->step();
    }
    cuda::synchronize();
    const std::int64_t objects = is_emulated() ? graph_objects() : 0;
    cuda::Graph graph;
    const std::string error = whole_error_of([&] {
      graph.capture([&] {
        training.step();
        extra(training);
      });
    });
    INFO(what << ": " << error);
    CHECK_THAT(error, Catch::Matchers::ContainsSubstring(rule));
    CHECK(error_of([&] { graph.replay(); }) == "replay: nothing has been captured");
    if (is_emulated()) CHECK(graph_objects() == objects);
    // The next steps are as if it had not been.
    const RandomState random = random_state();
    for (auto* t : {&training, &twin}) {
      set_random_state(random);
      t->step();
      t->step();
    }
    CHECK(training.value() == twin.value());
    check_close(values_of(training.net.out.weight), values_of(twin.net.out.weight), 0, 0);
  };
  using T = Training<optim::Adam, optim::StepLR>;
  const auto pinned = zeros<Cpu>({2}).pin_memory();
  auto pending = pinned.cuda_async();
  refused("item()", "item: cannot be captured in a graph: the host waits for the device", [](T& t) { t.value(); });
  refused("cpu()", "to: cannot be captured in a graph: the host waits for the device", [](T& t) { t.x.cpu(); });
  refused("its line", "(graph.cpp:", [](T& t) { t.x.cpu(); });
  refused("a copy that was started before", "wait: cannot be captured", [&](T&) { pending.wait(); });
  refused("synchronize", "synchronize: cannot be captured", [](T&) { cuda::synchronize(); });
  refused("empty_cache", "empty_cache: cannot be captured", [](T&) { cuda::empty_cache(); });
  refused("cuda()", "to: cannot be captured in a graph: every replay would copy from the same host memory",
          [](T&) { zeros<Cpu>({2}).cuda(); });
  refused("cuda() of pinned memory", "to: cannot be captured", [&](T&) { pinned.cuda(); });
  refused("cuda_async()", "cuda_async: cannot be captured", [](T&) { zeros<Cpu>({2}).cuda_async(); });
  refused("cpu_async()", "cpu_async: cannot be captured", [](T& t) { t.x.cpu_async(); });
  refused("a graph in a graph", "capture: the thread is capturing already", [](T& t) {
    cuda::Graph inner;
    inner.capture([&] { t.step(); });
  });
  refused("a replay in a graph", "replay: cannot be captured", [](T&) { cuda::Graph().replay(); });
  refused("manual_seed", "capture: the random state was set", [](T&) { manual_seed(1); });
  refused("a first step", "step: an optimiser allocates its state in its first step", [](T& t) {
    optim::Adam adam(t.net.parameters());
    t.loss = cross_entropy(t.net(t.x), t.y);
    t.loss.backward();
    adam.step();
  });
  refused("a parameter elsewhere", "step: the parameter is not on cuda:0", [](T&) {
    nn::Linear<Cpu> layer(2, 2);
    optim::SGD sgd(layer.parameters(), {.lr = 0});
    layer(zeros<Cpu>({1, 2})).sum().backward();
    sgd.step();
  });
  refused("the user's own error", "mine", [](T&) { Error::fail("test", {"mine"}); });
}

TEST_CASE("a graph does not outlive what its replays ask the host", "[cuda]") {
  using T = Training<optim::SGD, optim::StepLR>;
  auto training = std::make_unique<T>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9}, optim::StepLROptions{});
  training->next_batch();
  training->step();
  cuda::Graph graph;
  CHECK(error_of([&] { graph.replay(); }) == "replay: nothing has been captured");
  graph.capture([&] { training->step(); });
  graph.replay();
  training->optimizer.set_momentum(0);
  CHECK_THAT(error_of([&] { graph.replay(); }), Catch::Matchers::ContainsSubstring("the optimiser's rule has changed"));
  training->optimizer.set_momentum(0.8);
  CHECK(error_of([&] { graph.replay(); }).empty());
  training->optimizer.load_state_dict(training->optimizer.state_dict());
  CHECK_THAT(error_of([&] { graph.replay(); }),
             Catch::Matchers::ContainsSubstring("an optimiser of the captured step is gone"));
  graph.capture([&] { training->step(); });
  CHECK(error_of([&] { graph.replay(); }).empty());
  training.reset();
  CHECK_THAT(error_of([&] { graph.replay(); }),
             Catch::Matchers::ContainsSubstring("an optimiser of the captured step is gone"));
}

TEST_CASE("tensors of a graph may die before it, and it before them", "[cuda]") {
  cuda::synchronize();
  const std::int64_t before = is_emulated() ? live_objects("memory") : 0;
  {
    Tensor<Cuda> y;
    {
      auto x = tensor_of<Cuda, float>({1, 2, 3}), doubled = x * 2;
      cuda::Graph graph;
      graph.capture([&] {
        y = x * 10 + doubled;
        doubled = {};  // while it is captured
      });
      x = {};                                   // and after
      const auto other = full<Cuda>({3}, 100);  // does not get x's memory
      graph.replay();
      check_close(values_of(y), {12, 24, 36});
      check_close(values_of(other), {100, 100, 100});
      cuda::Graph second;
      second.capture([&] { y.mul_(2); });
      graph.capture([&] { y.add_(1); });  // the first capture is gone, the second still uses its y
      second.replay();
      graph.replay();
      check_close(values_of(y), {25, 49, 73});
      Tensor<Cuda> z;
      {
        cuda::Graph third;
        Tensor<Cuda> made;
        third.capture([&] { made = y + 1; });
        third.replay();
        graph.capture([&] { z = made * 2; });
      }
      const auto more = full<Cuda>({3}, 100);  // does not get the memory of what the third made
      graph.replay();
      check_close(values_of(z), {52, 100, 148});
      check_close(values_of(more), {100, 100, 100});
    }
    check_close(values_of(y + 1), {26, 50, 74});
  }
  cuda::synchronize();
  if (is_emulated()) CHECK(live_objects("memory") == before);
}

TEST_CASE("memory freed while capturing is used again by what is captured later", "[cuda]") {
  auto x = full<Cuda>({1 << 18}, 1);
  cuda::synchronize();
  const Index before = cuda::memory_stats().current;
  cuda::Graph graph;
  Tensor<Cuda> y;
  graph.capture([&] {
    y = x;
    for (int i = 0; i < 50; ++i) y = y + 1;
  });
  CHECK(cuda::memory_stats().current - before <= Index(3) << 20);  // of 50 MiB
  graph.replay();
  CHECK(y.sum().item() == 51.0f * (1 << 18));
}

TEST_CASE("other threads use the device while one captures", "[cuda]") {
  const auto x = full<Cuda>({4}, 1);
  const data::TensorDataset set(spread_tensor<Cpu, float>({40, 3}));
  double sum = 0, expected = 0;
  for (const double v : spread_values(120)) expected += float(v);
  cuda::Graph graph;
  Tensor<Cuda> y = zeros<Cuda>({4});
  for (auto& [batch] : data::loader<Cuda>(set, {.batch_size = 4, .num_workers = 2})) {
    graph.capture([&] { y.add_(x); });
    graph.replay();
    sum += batch.sum().item();
  }
  CHECK(sum == Approx(expected).epsilon(1e-4));
  check_close(values_of(y), {10, 10, 10, 10});
}

TEST_CASE("a page of the ledger shows a replay's kernels as a captured step", "[cuda]") {
  ledger::start();
  auto x = full<Cuda>({4}, 1);
  cuda::Graph graph;
  graph.capture([&] { x.add_(randn<Cuda>({4})); });
  graph.replay();
  const auto entries = cuda::detail::timeline().read().entries;
  ledger::stop();
  int captured = 0;
  for (const auto& entry : entries) captured += entry.phase == detail::Phase::captured;
  CHECK(captured == 2);  // random numbers, and the sum
}

}  // namespace device_cuda_graph
