// Optimisers whose state is divided among ranks, against the same optimiser alone, bit for bit.
#include "parallel_cases.hpp"
#include "support/emulator.hpp"
#include "support/errors.hpp"
#include "support/fake_library.hpp"
#include "support/process.hpp"

#include <tern/device/cuda/graph.hpp>
#include <tern/distributed/sharded.hpp>
#include <tern/distributed/threads.hpp>
#include <tern/train/checkpoint.hpp>

namespace distributed_sharded {
using namespace tern;
using namespace tern_test;
using distributed::run_ranks;

namespace {

template <Device D, class T>
struct Weights : nn::Module<D, T> {
  nn::Parameter<D, T> a = zeros<D, T>({7, 3}), b = zeros<D, T>({40, 25}), c = zeros<D, T>({1, 5}),
                      d = zeros<D, T>({30, 20}), e = zeros<D, T>({64, 9}), never = zeros<D, T>({4, 4});
  TERN_FIELDS(Weights, a, b, c, d, e, never)
};

/// Weights with numbers of their own, and an optimiser made by make(parameters).
template <class D, class T, class Make>
struct Training {
  Weights<D, T> net;
  decltype(std::declval<Make>()(net.parameters())) optimizer;

  explicit Training(const Make& make) : optimizer((fill(net), make(net.parameters()))) {}

  static void fill(Weights<D, T>& net) {
    const NoGradGuard off;
    Index i = 100;
    for (auto* p : {&net.a, &net.b, &net.c, &net.d, &net.e, &net.never}) p->copy_(on<D>(samples<T>(++i, p->shape())));
  }
  /// Gradients are samples. The first of three steps is without b's, and none has never's.
  void backward(Index step) {
    net.zero_grad();
    Index i = 10 * step;
    for (auto* p : {&net.a, &net.b, &net.c, &net.d, &net.e})
      if (++i; p != &net.b || step % 3) (*p * on<D>(samples<T>(i, p->shape()))).sum().backward();
  }
  void run(Index begin, Index end) {
    for (Index step = begin; step < end; ++step) {
      backward(step);
      optimizer->step();
    }
  }
};
template <class D, class T, class Make>
Training<D, T, Make> training(const Make& make) {
  return Training<D, T, Make>(make);
}

/// The optimiser alone.
template <class Rule, class Options>
auto whole(const Options& options) {
  return [options](const auto& parameters) { return std::make_unique<Rule>(parameters, options); };
}
template <class Rule, class Options>
auto sharded(const Communicator& c, const Options& options) {
  return
      [&c, options](const auto& parameters) { return std::make_unique<optim::Sharded<Rule>>(parameters, c, options); };
}

void expect_same(const StateDict& a, const StateDict& b, const char* what) {
  expect(a.size() == b.size(), what);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const AnyTensor x = a[i].tensor.cpu(), y = b[i].tensor.cpu();
    expect(a[i].name == b[i].name && x.dtype() == y.dtype() && x.shape() == y.shape(), what);
    expect(std::memcmp(x.impl()->data, y.impl()->data, std::size_t(x.numel() * detail::size_of(x.dtype()))) == 0, what);
  }
}
template <class A, class B>
void expect_same(const A& a, const B& b) {
  expect_same(a.net.state_dict(), b.net.state_dict(), "a weight");
  expect_same(a.optimizer->state_dict(), b.optimizer->state_dict(), "the optimiser's state");
}

Index bytes_of_state(const optim::Optimizer& optimizer) {
  Index bytes = 0;
  for (const optim::Slot& slot : optimizer.state_slots()) {
    if (slot.master.defined()) bytes += slot.master.numel() * detail::size_of(slot.master.dtype());
    for (const AnyTensor& x : slot.state) bytes += x.numel() * detail::size_of(x.dtype());
  }
  return bytes;
}

/// Twelve steps on this many ranks and alone. Of the 2202 elements that are stepped, 1000 are one parameter's, so no
/// rank's part can be less.
template <class D, class T, class Rule, class Options>
void check_rule(const Communicator& c, const Options& options) {
  auto alone = training<D, T>(whole<Rule>(options));
  auto together = training<D, T>(sharded<Rule>(c, options));
  const auto steps = [&](Index begin, Index end) {
    alone.run(begin, end);
    together.run(begin, end);
    expect_same(alone, together);
  };
  steps(0, 1);
  steps(1, 12);
  const Index own = bytes_of_state(*together.optimizer), all = bytes_of_state(*alone.optimizer);
  const auto sum = distributed::all_reduce(scalar_tensor<Cpu, Index>(own), c).item();
  const auto most = distributed::all_reduce(scalar_tensor<Cpu, Index>(own), c, ReduceOp::max).item();
  expect(sum == all, "the number of bytes of all ranks' states");
  expect(double(most) <= std::max(double(all) / c.size() * 1.15, double(all) * 1000 / 2202),
         "the number of bytes of a rank's state");
}

/// f(communicator) on so many ranks, each with a device of its own.
template <class D, class F>
void on_ranks(int ranks, const F& f) {
  run_ranks(ranks, [&](const Communicator& c) {
    if constexpr (HostDevice<D>) {
      f(c);
    } else {
      const cuda::DeviceGuard own({c.rank()});
      f(c);
      cuda::synchronize();
    }
  });
}

template <class D>
void check_rules_of_all_devices() {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    on_ranks<D>(ranks, [](const Communicator& c) {
      check_rule<D, float, optim::SGD>(c, optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true});
      check_rule<D, float, optim::Adam>(c, optim::AdamOptions{.lr = 0.01, .amsgrad = true});
      check_rule<D, bfloat16, optim::AdamW>(c, optim::AdamWOptions{.lr = 0.01});
      check_rule<D, float, optim::NAdam>(c, optim::NAdamOptions{.lr = 0.01});
    });
  }
}

/// The state of three ranks goes to two and to one optimiser alone, and back, by dict and by file.
template <class D>
void check_state_fits_other_numbers_of_ranks() {
  const optim::AdamWOptions options{.lr = 0.01};
  using Rule = optim::AdamW;
  const Folder folder;
  const std::string of_one = (folder / "one").string(), of_three = (folder / "three").string();
  auto alone = training<D, bfloat16>(whole<Rule>(options));
  alone.run(0, 5);
  train::save_checkpoint(of_one, alone.net, *alone.optimizer, train::Position{.epoch = 5});
  on_ranks<D>(3, [&](const Communicator& c) {
    auto together = training<D, bfloat16>(sharded<Rule>(c, options));
    together.run(0, 2);  // state that is not of the file
    expect(train::load_checkpoint(of_one, together.net, *together.optimizer).epoch == 5, "the epoch");
    together.run(5, 10);
    train::save_checkpoint(of_three, together.net, *together.optimizer, train::Position{.epoch = 10});
  });
  on_ranks<D>(2, [&](const Communicator& c) {
    auto whole_run = training<D, bfloat16>(whole<Rule>(options));
    whole_run.run(0, 15);
    for (int kind = 0; kind < 2; ++kind) {
      const auto go_on = [&](auto& from_file) {
        train::load_checkpoint(of_three, from_file.net, *from_file.optimizer);
        from_file.run(10, 15);
        expect_same(whole_run, from_file);
      };
      auto together = training<D, bfloat16>(sharded<Rule>(c, options));
      auto plain = training<D, bfloat16>(whole<Rule>(options));
      go_on(together);
      go_on(plain);
    }
  });
}

/// Training on shares of the batches, whose gradients are averaged, clipped and unscaled.
template <class D, class MakeOptimizer>
StateDict trained(const Communicator& c, const MakeOptimizer& make) {
  distributed::DistributedDataParallel net(SmallMlp<D, float>(), c);
  {
    const NoGradGuard off;
    for (const auto& [name, p] : net.parameters())
      p.template as<D>().copy_(on<D>(samples<float>(Index(name.size()), p.shape())));
  }
  const auto adam = make(net.parameters());
  optim::StepLR schedule(*adam, {.step_size = 4});
  optim::GradScaler<D> scaler({.init_scale = 1024, .growth_interval = 5});
  const Tensor<D, Index> labels = on<D>(share(arange<Cpu>(0, 12) % 5, c));
  for (Index step = 0; step < 12; ++step) {
    adam->zero_grad();
    const auto x = on<D>(share(samples<float>(step, {12, 12}), c));
    const auto loss = cross_entropy(net(x), labels);
    scaler.scale(step == 7 ? loss * 1e38 : loss).backward();  // gradients that are not finite
    scaler.unscale_(*adam);
    optim::clip_grad_norm_(net.parameters(), 0.5);
    scaler.step(*adam);
    scaler.update();
    schedule.step();
  }
  expect(scaler.get_scale() == 1024, "the scale, doubled once and halved once");
  StateDict all = net.state_dict();
  for (const auto& state : {adam->state_dict(), scaler.state_dict()}) all.insert(all.end(), state.begin(), state.end());
  return all;
}

template <class D>
void check_training() {
  const optim::AdamOptions options{.lr = 0.01};
  for (const int ranks : {2, 3}) {
    on_ranks<D>(ranks, [&](const Communicator& c) {
      expect_same(trained<D>(c, whole<optim::Adam>(options)), trained<D>(c, sharded<optim::Adam>(c, options)),
                  "a number of a training");
    });
  }
}

}  // namespace

TEST_CASE("a sharded optimiser makes the steps of the whole one, and each rank has its part of the state",
          "[distributed]") {
  check_rules_of_all_devices<Cpu>();
  for (const int ranks : {2, 3}) {
    run_ranks(ranks, [](const Communicator& c) {
      check_rule<Cpu, double, optim::RMSprop>(c, optim::RMSpropOptions{.lr = 0.01, .momentum = 0.5, .centered = true});
      check_rule<Cpu, double, optim::Adadelta>(c, optim::AdadeltaOptions{});
      check_rule<Cpu, double, optim::Adagrad>(c, optim::AdagradOptions{.lr = 0.01});
      check_rule<Cpu, double, optim::RAdam>(c, optim::RAdamOptions{.lr = 0.01});
      check_rule<Cpu, double, optim::Adamax>(c, optim::AdamaxOptions{.lr = 0.01});
      check_rule<Cpu, double, optim::Rprop>(c, optim::RpropOptions{.lr = 0.01});
      check_rule<Cpu, double, optim::ASGD>(c, optim::ASGDOptions{.lr = 0.01});
      check_rule<Cpu, double, optim::Muon>(c, optim::MuonOptions{.lr = 0.01});
    });
  }
}

TEST_CASE("a sharded optimiser's state is the whole one's, for any number of ranks", "[distributed]") {
  check_state_fits_other_numbers_of_ranks<Cpu>();
}

TEST_CASE("a sharded optimiser has schedules, scaled losses and clipped gradients", "[distributed]") {
  check_training<Cpu>();
}

TEST_CASE("parameters of one size are divided equally, the largest first", "[distributed]") {
  run_ranks(4, [](const Communicator& c) {
    std::vector<Tensor<Cpu>> tensors;
    detail::Parameters<detail::TensorType<Cpu, float>> parameters;
    for (const Index n : {1, 8, 8, 8, 8, 8, 8, 8, 4, 3}) {
      tensors.push_back(ones<Cpu>({n}).requires_grad_());
      parameters.push_back(NamedTensor{detail::text({"p", Index(tensors.size())}), tensors.back()});
    }
    optim::Sharded<optim::Adam> adam(parameters, c);
    for (const auto& x : tensors) x.sum().backward();
    adam.step();
    // Seven eights, then 4 + 3 + 1 for the fourth rank.
    expect(bytes_of_state(adam) == 16 * 2 * Index(sizeof(float)), "the number of bytes of a rank's state");
  });
}

TEST_CASE("groups are added to a sharded optimiser, and it follows a network to another type", "[distributed]") {
  run_ranks(3, [](const Communicator& c) {
    const auto check = [](auto& a, auto& b) {
      expect_same(a.net.state_dict(), b.net.state_dict(), "a weight");
      expect_same(a.optimizer->state_dict(), b.optimizer->state_dict(), "the optimiser's state");
    };
    const auto first = [](const NamedTensor& p) { return p.name < "d"; };
    const auto rest = [](const NamedTensor& p) { return p.name >= "d"; };
    auto alone = training<Cpu, float>([&](const auto& p) {
      return std::make_unique<optim::SGD>(p.where(first), optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
    });
    auto together = training<Cpu, float>([&](const auto& p) {
      return std::make_unique<optim::Sharded<optim::SGD>>(p.where(first), c,
                                                          optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
    });
    const auto both = [&](const auto& f) {
      f(alone);
      f(together);
      check(alone, together);
    };
    both([](auto& t) { t.run(0, 3); });
    both([&](auto& t) {
      t.optimizer->add_param_group({t.net.parameters().where(rest), {.lr = 0.01, .momentum = 0.5}});
      t.run(3, 6);
    });
    both([](auto& t) {
      t.optimizer->param_groups()[1].weight_decay = 0.1;
      t.optimizer->set_lr(0.05, 0);
      t.run(6, 9);
    });
    const auto goes_on_in_double = [&](auto& t) {
      const auto net = t.net.to(f64);
      t.optimizer->to({net.parameters().where(first), net.parameters().where(rest)});
      net.d.sum().backward();
      t.optimizer->step();
      return std::pair(net.state_dict(), t.optimizer->state_dict());
    };
    const auto [weights, state] = goes_on_in_double(alone);
    const auto [own_weights, own_state] = goes_on_in_double(together);
    expect_same(weights, own_weights, "a weight in double");
    expect_same(state, own_state, "the state in double");
  });
}

TEST_CASE("a sharded optimiser gives all ranks its values, and a new version of what others have stepped",
          "[distributed]") {
  run_ranks(3, [](const Communicator& c) {
    auto together = training<Cpu, float>(sharded<optim::SGD>(c, optim::SGDOptions{.lr = 0.1}));
    together.backward(0);
    const auto saved = together.net.e.square();
    const auto untouched = together.net.b.square();  // has no gradient in this step
    together.optimizer->step();
    expect(error_of([&] { saved.sum().backward(); }).find("modified") != std::string::npos,
           "the Error of a backward pass through a stepped weight");
    untouched.sum().backward();
  });
}

TEST_CASE("sharded optimisers refuse ranks that differ", "[distributed][threads]") {
  const auto refusal = [](const auto& f) { return error_of([&] { run_ranks(2, f); }); };
  using Layer = nn::Linear<Cpu>;
  const auto made = [](const Communicator& c, const auto& net) {
    optim::Sharded<optim::Adam> adam(net.parameters(), c);
  };
  CHECK(refusal([&](const Communicator& c) { made(c, Layer(3, 2 + c.rank())); }) ==
        "Sharded: the ranks have different parameters: rank 0 has weight of float32 [2, 3]; rank 1 has weight of "
        "float32 [3, 3]");
  CHECK(refusal([&](const Communicator& c) { made(c, nn::Sequential(Layer(3, 2, {.bias = c.rank() == 1}))); }) ==
        "Sharded: the ranks have different parameters: rank 0 has no more; rank 1 has 0.bias of float32 [2]");
  CHECK(refusal([&](const Communicator& c) {
          optim::Sharded<optim::Adam> adam(Layer(3, 2).parameters(), c, {.lr = -1});
        }) == "Adam: lr must not be negative: -1");
  CHECK(refusal([](const Communicator& c) {
          Layer net(3, 2);
          optim::Sharded<optim::Adam> adam(net.parameters(), c);
          net.weight.sum().backward();
          if (c.rank()) net.bias.sum().backward();
          adam.step();
        }) == "step: some ranks have a gradient of bias, others have none");
  std::string said;
  run_ranks(2, [&](const Communicator& c) {
    Layer net(3, 2);
    optim::Sharded<optim::Adam> adam(net.parameters(), c);
    if (c.rank() == 1) return;
    said = error_of([&] { adam.step(); });
  });
  CHECK(said == "step: rank 0 waits for rank 1, which has left");
  CHECK(refusal([](const Communicator& c) {
          Layer net(3, 2);
          optim::Sharded<optim::Adam> adam(net.parameters(), c);
          if (c.rank()) adam.step();
          else adam.state_dict();
        }).find(": the ranks do not call the same: rank 0 all_reduce of int64 [6], sum") != std::string::npos);
}

namespace {

void check_in_new_process(const std::string& name, const std::string& order = "late") {
  NEED_EMULATOR();
  const Ended ended = run_test_case("in a new process: " + name, "TERN_EMULATOR=devices=4,quiet=1,order=" + order);
  INFO(ended.output);
  CHECK(ended.well);
}

}  // namespace

TEST_CASE("a sharded optimiser on Cuda makes the steps of the whole one", "[distributed][cuda]") {
  for (const char* order : {"late", "random:1"}) check_in_new_process("sharded steps by NCCL", order);
}
TEST_CASE("in a new process: sharded steps by NCCL", "[.]") { check_rules_of_all_devices<Cuda>(); }

TEST_CASE("a sharded optimiser's state on Cuda is the whole one's", "[distributed][cuda]") {
  check_in_new_process("sharded state by NCCL");
}
TEST_CASE("in a new process: sharded state by NCCL", "[.]") { check_state_fits_other_numbers_of_ranks<Cuda>(); }

TEST_CASE("a sharded optimiser on Cuda trains", "[distributed][cuda]") {
  check_in_new_process("sharded training by NCCL");
}
TEST_CASE("in a new process: sharded training by NCCL", "[.]") { check_training<Cuda>(); }

TEST_CASE("a sharded step on Cuda is few collectives, and the host waits for no device", "[distributed][cuda]") {
  check_in_new_process("sharded collectives by NCCL");
}
TEST_CASE("in a new process: sharded collectives by NCCL", "[.]") {
  on_ranks<Cuda>(2, [](const Communicator& c) {
    auto together = training<Cuda, float>(sharded<optim::Adam>(c, optim::AdamOptions{}));
    together.run(0, 2);
    together.backward(2);
    cuda::synchronize();
    c.barrier();
    if (c.rank() == 0) fail_call("", 0, 0);  // counts from here
    c.barrier();
    together.optimizer->step();
    expect(!cuda::default_stream().query(), "that the host has waited for no device");
    c.barrier();
    expect(calls_of("ncclGroupStart") == 2, "the number of groups");
    c.barrier();
    cuda::Graph graph;
    expect(error_of([&] { graph.capture([&] { together.optimizer->step(); }); }) ==
               "step: cannot be captured in a graph: ranks do not replay a graph together",
           "the Error of a capture");
    const Weights<Cpu, float> on_host;
    expect(error_of([&] { together.optimizer->add_param_group({on_host.parameters()}); }) ==
               "Sharded: parameter group1/a is on cpu, the first one on cuda",
           "the Error of a parameter in host memory");
  });
}

}  // namespace distributed_sharded
