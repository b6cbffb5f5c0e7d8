// What checkpoints hold, and what becomes of those that do not fit. Over 400 lines, because each part of a training has
// its case.
#include "support/tensors.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <tern/data/dataset.hpp>
#include <tern/data/loader.hpp>
#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/optim.hpp>
#include <tern/train/checkpoint.hpp>

#include "../io/temporary_folder.hpp"
#include "../nn/tied.hpp"

namespace train_checkpoint {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 8}, out{8, 2};
  nn::Dropout<D, T> dropout{0.3};
  TERN_FIELDS(Net, hidden, out, dropout)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(tanh(hidden(x)))); }
};

template <Device D, class T = float>
struct Wider : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 9}, out{9, 2};
  TERN_FIELDS(Wider, hidden, out)
};

template <Device D, class T = float>
struct Renamed : nn::Module<D, T> {
  nn::Linear<D, T> first{4, 8}, out{8, 2};
  TERN_FIELDS(Renamed, first, out)
};

/// A small training as a trainer writes it: shuffled batches, dropout, a schedule, an optimiser with state.
template <class D, class T>
struct Training {
  Net<D, T> net;
  optim::Adam adam{net.parameters(), {.lr = 0.05}};
  optim::CosineAnnealingLR schedule{adam, {.T_max = 4}};
  train::Position at;

  static Training fresh(std::uint64_t seed) {
    manual_seed(seed);
    return {};
  }

  /// Trains until `end`, after whole epochs or within one.
  void run(train::Position end) {
    auto batches = data::loader<Cpu>(samples(), {.batch_size = 5, .shuffle = true, .seed = 7});
    for (; at.epoch <= end.epoch; ++at.epoch, at.batch = 0) {
      batches.set_epoch(at.epoch);
      Index batch = 0;
      for (auto& [input, target] : batches) {
        if (batch++ < at.batch) continue;
        if (at.epoch == end.epoch && at.batch == end.batch) return;
        step(input, target);
        at.batch = batch;
      }
      schedule.step();
    }
  }
  /// The same for whole epochs, each with a loader of its own, whose order comes from the random state.
  void run_epochs(Index end) {
    for (; at.epoch < end; ++at.epoch) {
      for (auto& [input, target] : data::loader<Cpu>(samples(), {.batch_size = 5, .shuffle = true}))
        step(input, target);
      schedule.step();
    }
  }
  void step(const Tensor<Cpu>& input, const Tensor<Cpu>& target) {
    const D place = tern::detail::current_device<D>();
    const auto difference =
        net(input.to(place).to(tern::detail::Type<T>{})) - target.to(place).to(tern::detail::Type<T>{});
    adam.zero_grad();
    (difference * difference).mean().backward();
    adam.step();
  }
  static data::TensorDataset<float, float> samples() {
    return data::TensorDataset(spread_tensor<Cpu, float>({24, 4}), spread_tensor<Cpu, float>({24, 2}, -1, 1));
  }
  void save(const std::string& path) const { train::save_checkpoint(path, net, adam, at, schedule); }
  void load(const std::string& path) { at = train::load_checkpoint(path, net, adam, schedule); }
};

/// A training in half whose loss is scaled. The gradients of step 4 are infinite.
template <class D>
struct ScaledTraining {
  nn::Mixed<Net<D, half>> net = nn::mixed<half>(Net<D>());
  optim::Adam adam{net.parameters(), {.lr = 0.05}};
  optim::GradScaler<D> scaler{{.init_scale = 1024, .growth_interval = 3}};

  void run(int first, int last) {
    const auto x = spread_tensor<D, float>({5, 4});
    for (int step = first; step < last; ++step) {
      adam.zero_grad();
      scaler.scale(net(x).square().mean() * (step == 4 ? std::numeric_limits<double>::infinity() : 1)).backward();
      scaler.step(adam);
      scaler.update();
    }
  }
};

template <class Run>
void check_same_bits(const Run& a, const Run& b) {
  const auto check = [](const StateDict& x, const StateDict& y) {
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(x[i].name);
      const AnyTensor p = x[i].tensor.cpu(), q = y[i].tensor.cpu();
      CHECK(std::memcmp(p.impl()->data, q.impl()->data, std::size_t(p.numel() * tern::detail::size_of(p.dtype()))) ==
            0);
    }
  };
  check(a.net.state_dict(), b.net.state_dict());
  check(a.adam.state_dict(), b.adam.state_dict());
}

/// Runs f in another process that dies with it; true if it ended by itself with status 0.
template <class F>
bool succeeds_in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      f();
    } catch (const Error&) { _exit(1); }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("a training resumes bit for bit, after an epoch and within one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](auto type, train::Position middle) {
    using T = typename decltype(type)::type;
    const TemporaryFolder folder;
    const std::string path = folder / "training.safetensors";
    auto straight = Training<D, T>::fresh(1);
    straight.run({4, 0});
    const RandomState end = random_state();
    {
      auto first = Training<D, T>::fresh(1);
      first.run(middle);
      CHECK(first.at.epoch == middle.epoch);
      CHECK(first.at.batch == middle.batch);
      first.save(path);
    }
    auto second = Training<D, T>::fresh(99);
    randn<Cpu>({100});
    second.load(path);
    CHECK(second.at.epoch == middle.epoch);
    CHECK(second.at.batch == middle.batch);
    CHECK(second.schedule.epoch() == middle.epoch);
    second.run({4, 0});
    check_same_bits(straight, second);
    CHECK(random_state().seed == end.seed);
    CHECK(random_state().stream == end.stream);
    CHECK(folder.file_count() == 1);
  };
  check(f32, {2, 0});
  check(f32, {1, 3});
  check(f64, {2, 0});
  check(bf16, {1, 2});
}

TEMPLATE_TEST_CASE("a training whose orders come from the random state resumes bit for bit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const std::string path = folder / "training.safetensors";
  auto straight = Training<D, float>::fresh(1);
  straight.run_epochs(4);
  const RandomState end = random_state();
  auto first = Training<D, float>::fresh(1);
  first.run_epochs(2);
  first.save(path);
  auto second = Training<D, float>::fresh(99);
  second.load(path);
  second.run_epochs(4);
  check_same_bits(straight, second);
  CHECK(random_state().seed == end.seed);
  CHECK(random_state().stream == end.stream);
}

TEMPLATE_TEST_CASE("tied weights are still tied after a checkpoint, and stepped once", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const auto step = [](Tied<D>& net, optim::Adam& adam) {
    adam.zero_grad();
    net(spread_tensor<D, float>({4, 3})).square().mean().backward();
    adam.step();
  };
  Tied<D> net, other;
  optim::Adam adam(net.parameters(), {.lr = 0.1}), continued(other.parameters(), {.lr = 0.1});
  step(net, adam);
  train::save_checkpoint(folder / "tied", net, adam);
  train::load_checkpoint(folder / "tied", other, continued);
  CHECK(other.decoder.weight.impl() == other.encoder.weight.impl());
  step(net, adam), step(other, continued);
  CHECK(values_of(other.encoder.weight) == values_of(net.encoder.weight));
  CHECK(values_of(other.decoder.bias) == values_of(net.decoder.bias));
}

TEST_CASE("a checkpoint of one device resumes on another") {
  const TemporaryFolder folder;
  auto here = Training<Cpu, double>::fresh(1);
  here.run({1, 2});
  here.save(folder / "a");
  auto there = Training<Naive, double>::fresh(2);
  there.load(folder / "a");
  here.run({2, 0});
  manual_seed(1);
  here.load(folder / "a");
  here.run({2, 0});
  there.load(folder / "a");
  there.run({2, 0});
  check_close(values_of(there.net.hidden.weight), values_of(here.net.hidden.weight), 1e-9, 1e-12);
}

TEMPLATE_TEST_CASE("a checkpoint of another model or optimiser is refused, and the model left as it was", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const std::string path = folder / "training.safetensors";
  auto training = Training<D, float>::fresh(1);
  training.run({0, 2});
  training.save(path);
  const auto refusal = [&](const auto& net) {
    optim::Adam adam(net.parameters());
    const std::vector<double> before = values_of(net.out.weight);
    const std::string error = error_of([&] { train::load_checkpoint(path, net, adam); });
    CHECK(values_of(net.out.weight) == before);
    return error;
  };
  CHECK_THAT(refusal(Wider<D>()), ContainsSubstring("hidden.bias has shape [9], the loaded one [8]") ||
                                      ContainsSubstring("hidden.weight has shape [9, 4], the loaded one [8, 4]"));
  CHECK_THAT(refusal(Renamed<D>()), ContainsSubstring("missing: first.weight, first.bias; unexpected: hidden."));
  const Net<D> net;
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  CHECK_THAT(error_of([&] { train::load_checkpoint(path, net, sgd); }),
             ContainsSubstring("nothing in this optimiser is called"));
  io::save_safetensors(folder / "weights", Net<Cpu>().state_dict());
  CHECK_THAT(
      error_of([&] { train::load_checkpoint(folder / "weights", net, sgd); }),
      ContainsSubstring("load_checkpoint: '") && ContainsSubstring("weights' is not a checkpoint of a training"));
  CHECK_THAT(error_of([&] { train::load_checkpoint(folder / "nowhere", net, sgd); }), ContainsSubstring("nowhere"));
}

TEMPLATE_TEST_CASE("a checkpoint that does not fit in one place changes nothing anywhere", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  auto saved = Training<D, float>::fresh(1), training = Training<D, float>::fresh(2);
  saved.run({1, 2}), training.run({0, 3});
  saved.save(folder / "whole");
  const StateDict whole = io::load_safetensors(folder / "whole");
  training.save(folder / "before");
  const std::string before = content_of(folder / "before");
  const RandomState random = random_state();

  const auto refusal = [&](const std::string& name, const auto& change) {
    StateDict changed;
    for (const NamedTensor& entry : whole)
      changed.push_back({entry.name, entry.name == name ? AnyTensor(change(entry.tensor)) : entry.tensor});
    io::save_safetensors(folder / "changed", changed);
    const std::string error = error_of([&] { training.load(folder / "changed"); });
    CHECK(random_state().stream == random.stream);
    training.save(folder / "after");
    CHECK(content_of(folder / "after") == before);
    return error;
  };
  const auto number = [](Index value) { return [value](const AnyTensor&) { return full<Cpu, Index>({}, value); }; };
  const auto negative = [](const AnyTensor& x) {
    const auto y = x.as<Cpu, float>().clone();
    y.data()[y.numel() - 1] = -1e-9f;
    return y;
  };
  CHECK_THAT(refusal("optimizer.out.weight.exp_avg", [](const AnyTensor&) { return zeros<Cpu>({3}); }),
             ContainsSubstring("out.weight.exp_avg has shape [3]"));
  CHECK_THAT(refusal("optimizer.out.weight.exp_avg", [](const AnyTensor&) { return zeros<Cpu, Index>({2, 8}); }),
             ContainsSubstring("out.weight.exp_avg is of int64"));
  CHECK_THAT(refusal("optimizer.hidden.bias.step", number(-1)),
             ContainsSubstring("hidden.bias.step must not be negative: -1"));
  CHECK_THAT(refusal("optimizer.lr", number(1)), ContainsSubstring("int64"));
  CHECK_THAT(refusal("optimizer.out.bias.exp_avg_sq", negative),
             ContainsSubstring("out.bias.exp_avg_sq has a negative element"));
  CHECK_THAT(refusal("model.out.bias", [](const AnyTensor&) { return zeros<Cpu>({3}); }),
             ContainsSubstring("out.bias has shape [2]"));
  CHECK_THAT(refusal("schedule.last_epoch", number(-1)),
             ContainsSubstring("the schedule's last_epoch must not be negative: -1"));
  CHECK_THAT(refusal("optimizer.initial_lr", [](const AnyTensor&) { return full<Cpu, double>({2}, 1); }),
             ContainsSubstring("initial_lr is not a number"));
  for (const Index part : {0, 1}) {
    const auto damaged = [part](const AnyTensor& x) {
      const auto y = x.as<Cpu, Index>().clone();
      y.data()[part] = -1;
      return y;
    };
    CHECK_THAT(refusal("training", damaged), ContainsSubstring("must not be negative: ") && ContainsSubstring("-1"));
  }
  optim::OneCycleLR cycle(training.adam, {.max_lr = 0.1, .total_steps = 5});
  saved.schedule.set_epoch(9);
  saved.save(folder / "long");
  const std::vector<double> values = values_of(training.net.hidden.weight);
  const double rate = training.adam.lr();
  CHECK_THAT(error_of([&] { train::load_checkpoint(folder / "long", training.net, training.adam, cycle); }),
             ContainsSubstring("OneCycleLR: stepped 9 times, total_steps is 5"));
  CHECK(values_of(training.net.hidden.weight) == values);
  CHECK(training.adam.lr() == rate);
  CHECK(cycle.epoch() == 0);
  saved.load(folder / "whole");
  CHECK_THAT(error_of([&] {
               train::save_checkpoint(folder / "x", training.net, training.adam, train::Position{.epoch = -2});
             }),
             ContainsSubstring("save_checkpoint: ") && ContainsSubstring("must not be negative: -2, 0 and 0"));
  training.load(folder / "whole");
  check_same_bits(training, saved);
}

TEST_CASE("a checkpoint holds numbers of the program's own") {
  const TemporaryFolder folder;
  const std::string path = folder / "numbers.safetensors";
  nn::Linear<Cpu> net(2, 1);
  train::save_checkpoint(path, net, 7, 0.25, true, std::int64_t(1) << 62);
  int epoch = 0;
  double best = 0;
  bool done = false;
  std::int64_t count = 0;
  train::load_checkpoint(path, net, epoch, best, done, count);
  CHECK((epoch == 7 && best == 0.25 && done && count == std::int64_t(1) << 62));
  float fraction = 0;
  unsigned char small = 9;
  CHECK(error_of([&] { train::load_checkpoint(path, net, fraction); }) ==
        "load_checkpoint: '" + path + "': number is int64 in the file, but float64 in the program");
  CHECK(error_of([&] { train::load_checkpoint(path, epoch, epoch); }) ==
        "load_checkpoint: '" + path + "': number1 is float64 in the file, but int64 in the program");
  train::load_checkpoint(path, epoch, fraction);
  CHECK(fraction == 0.25f);
  train::save_checkpoint(path, net, 300);
  CHECK(error_of([&] { train::load_checkpoint(path, net, small); }) ==
        "load_checkpoint: '" + path + "': number is 300, which does not fit the program's type");
  CHECK(small == 9);
  CHECK_THAT(error_of([&] { train::load_checkpoint(path, net, epoch, best); }), ContainsSubstring("has no number1"));
  CHECK(epoch == 7);
}

TEST_CASE("a damaged checkpoint is an Error wherever it ends") {
  const TemporaryFolder folder;
  auto training = Training<Cpu, float>::fresh(1);
  training.run({0, 2});
  training.save(folder / "whole");
  const std::string whole = content_of(folder / "whole");
  const std::vector<double> before = values_of(training.net.hidden.weight);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
    folder.put("part", whole.substr(0, bytes));
    INFO(bytes << " of " << whole.size() << " bytes");
    CHECK_THROWS_AS(training.load(folder / "part"), Error);
  }
  for (std::size_t at = 0; at < 8; ++at) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 0x40);
    folder.put("damaged", damaged);
    CHECK_THROWS_AS(training.load(folder / "damaged"), Error);
  }
  CHECK(values_of(training.net.hidden.weight) == before);
  training.load(folder / "whole");
}

TEST_CASE("a checkpoint that cannot be written is an Error, and the old one stays whole") {
  const TemporaryFolder folder;
  auto training = Training<Cpu, float>::fresh(1);
  training.run({0, 2});
  training.save(folder / "training");
  const std::string old = content_of(folder / "training");
  training.run({0, 3});
  // A limit on the size of files stands for a full disk.
  CHECK_FALSE(succeeds_in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{rlim_t(old.size() / 2), rlim_t(old.size() / 2)};
    setrlimit(RLIMIT_FSIZE, &limit);
    training.save(folder / "training");
  }));
  CHECK(content_of(folder / "training") == old);
  CHECK(folder.file_count() == 1);
  CHECK_THROWS_AS(training.save(folder / "no folder/training"), Error);
  CHECK_THROWS_AS(training.save("/dev/full/training"), Error);
  training.save(folder / "training");
  CHECK(content_of(folder / "training") != old);
  CHECK(folder.file_count() == 1);
}

TEMPLATE_TEST_CASE("checkpoint: a training in mixed precision goes on with its scaler, bit for bit", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const std::string path = folder / "scaled.safetensors";
  manual_seed(3);
  ScaledTraining<D> whole;
  whole.run(0, 6);
  train::save_checkpoint(path, whole.net, whole.adam, train::Position{1, 2}, whole.scaler);
  whole.run(6, 12);
  manual_seed(4);
  ScaledTraining<D> resumed;
  resumed.run(0, 2);
  const train::Position at = train::load_checkpoint(path, resumed.net, resumed.adam, resumed.scaler);
  CHECK((at.epoch == 1 && at.batch == 2));
  resumed.run(6, 12);
  check_same_bits(whole, resumed);
  CHECK(whole.scaler.get_scale() == resumed.scaler.get_scale());
  CHECK(whole.scaler.get_scale() == 4 * 1024.);  // doubled by step 2, halved by 4, doubled by 7 and 10
}

TEMPLATE_TEST_CASE("checkpoint: a float training goes on in mixed precision and back", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TemporaryFolder folder;
  const std::string path = folder / "float.safetensors", back = folder / "mixed.safetensors";
  auto first = Training<D, float>::fresh(1);
  first.run({1, 0});
  first.save(path);
  ScaledTraining<D> mixed;
  CHECK_THAT(error_of([&] { train::load_checkpoint(path, mixed.net, mixed.adam, mixed.scaler); }),
             ContainsSubstring("has no scaler, because it was saved without one"));
  train::load_checkpoint(path, mixed.net, mixed.adam);
  train::save_checkpoint(back, mixed.net, mixed.adam, first.at, first.schedule, mixed.scaler);
  auto second = Training<D, float>::fresh(2);
  second.load(back);
  check_same_bits(first, second);
}

}  // namespace train_checkpoint
