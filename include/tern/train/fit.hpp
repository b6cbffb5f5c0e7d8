// fit: the loop that trains a network. Over 400 lines, because its options, callbacks and report are documented here.
#pragma once
#include <functional>
#include <tuple>

#include "../autograd/backward.hpp"
#include "../nn/replicas.hpp"
#include "../ops/comparison.hpp"
#include "../ops/cross_entropy.hpp"
#include "../ops/extrema.hpp"
#include "accumulation.hpp"
#include "callbacks.hpp"
#include "captured_step.hpp"
#include "checkpoint.hpp"
#include "epoch_timer.hpp"
#include "interrupt.hpp"
#include "options.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {
template <IsModule Net>
struct Mixed;
}}}  // namespace tern::nn
namespace tern { inline namespace TERN_BUILD { namespace distributed {
template <nn::IsModule Net>
struct DistributedDataParallel;
}}}  // namespace tern::distributed

namespace tern { inline namespace TERN_BUILD { namespace train {

/// What fit() works with besides Options.
struct FitParts {
  std::function<double()> evaluate = {};   // the figure on test data
  std::function<double()> validate = {};   // the figure on held-out data, which says which epoch's weights are the best
  optim::LRScheduler* schedule = nullptr;  // of learning rates, by epochs
  bool schedule_by_step = false;           // by steps of the optimiser instead
  optim::ReduceLROnPlateau* plateau = nullptr;  // of the figure on held-out data, without `validate` of the loss
  std::function<void()> clip =
      {};                       // clips the gradients before each step; no number, because few programs need its code
  Metric metric = accuracy;     // what evaluate and validate return
  const char* unit = "images";  // what a loss is the mean of
  bool capture = false;  // a step of the program's own, and clip, may be captured: their host code runs only once then
  bool verbose = true;   // prints each epoch's progress and report, by a ProgressBar before the other callbacks
  std::vector<Callback*> callbacks = {};  // are called in this order, by the first rank
  nn::Replicas* replicas = nullptr;       // on other ranks; fit() takes a DistributedDataParallel network's own
};

/// A batch's mean loss over so many items (images, words), and how many of these the network gets right; without
/// `right`, that is not reported.
template <Device D>
struct Step {
  Tensor<D> loss;
  Index items;
  Tensor<D> right = {};
};

/// What a network makes of a batch's inputs, in float.
template <nn::IsModule Net, Device D, class T>
Tensor<D> scores_of(Net& net, const Tensor<D, T>& x) {
  if constexpr (tern::detail::is_floating_v<T>)
    return net(x.to(tern::detail::Type<typename Net::value_type>{})).to(f32);
  else return net(x).to(f32);
}

/// How many items are classified rightly.
template <Device D>
Tensor<D> count_right(const Tensor<D>& scores, const Tensor<D, Index>& labels) {
  return (scores.argmax(1) == labels).to(f32).sum();
}
TERN_INSTANCE(Tensor<Cpu> count_right(const Tensor<Cpu>&, const Tensor<Cpu, Index>&))
TERN_CUDA_INSTANCE(Tensor<Cuda> count_right(const Tensor<Cuda>&, const Tensor<Cuda, Index>&))

/// The network's copies on other ranks; null if there are none.
template <nn::IsModule Net>
nn::Replicas* replicas_of(const Net& net) {
  if constexpr (requires { net.replicas(); }) return &net.replicas();
  else return nullptr;
}

/// The part of the items in `batches` of inputs and labels that the network classifies rightly, in evaluation mode. Of
/// a DistributedDataParallel network, those in all ranks' batches together.
template <nn::IsModule Net, class Batches>
double accuracy_of(Net& net, Batches&& batches) {
  const InferenceMode inference;
  net.eval();
  auto right = zeros<typename Net::device_type>({});
  Index items = 0;
  for (auto& [x, y] : batches) {
    right += count_right(scores_of(net, x), y);
    items += y.numel();
  }
  double sums[] = {double(right.item()), double(items)};
  if (nn::Replicas* const replicas = replicas_of(net)) replicas->sum(sums, 2);
  return sums[0] / sums[1];
}

/// The groups of an epoch's batches, each for one step. A loader's samples count alike; of other ranges, the batches
/// do.
template <class Batches>
Accumulation groups_of(const Batches& batches, Index accumulate, CallSite here = {}) {
  if constexpr (requires { batches.samples(); }) return {accumulate, batches.batch_size(), batches.samples(), here};
  else return {accumulate, 1, Index(batches.size()), here};
}

/// True for a class of networks whose layers compute in half, so that the loss must be scaled.
template <class Net>
inline constexpr bool computes_in_half = std::is_same_v<typename Net::value_type, half>;
template <class Net>
inline constexpr bool computes_in_half<nn::Mixed<Net>> = computes_in_half<Net>;
template <class Net>
inline constexpr bool computes_in_half<distributed::DistributedDataParallel<Net>> = computes_in_half<Net>;

namespace detail {

template <class Net>
bool is_in_half(const Net& net) {
  if constexpr (requires { net.in_half; }) return net.in_half;
  else return computes_in_half<Net>;
}
template <class Net>
bool is_in_half(const distributed::DistributedDataParallel<Net>& net) {
  return is_in_half(net.module);
}

/// fit()'s batches in a checkpoint: a data::Loader's seed. Its place depends on the number of ranks, so fit() keeps it.
template <class Batches>
class BatchesPart final : public Part {
 public:
  explicit BatchesPart(Batches& batches) : batches_(batches) {
    if constexpr (has_state) seed_ = batches.state().seed;
  }
  const char* kind() const override { return "loader"; }
  StateDict state() const override {
    if constexpr (has_state) return loader_dict(batches_.state().epoch, batches_.state().batch, seed_);
    else return {};
  }
  void read([[maybe_unused]] const StateDict& state) override {
    if constexpr (has_state) seed_ = std::uint64_t(loader_numbers(state).seed);
  }
  void take() override {}

  /// Lets the next loop go on there, as far as the batches can. Returns the number of its first batch.
  Index go_to(const Position& place) {
    if constexpr (has_state) batches_.set_state({place.epoch, place.batch, seed_});
    else if constexpr (requires { batches_.set_epoch(Index()); }) batches_.set_epoch(place.epoch);
    return has_state ? place.batch : 0;
  }
  /// Inside a loop: keeps the seed, which an epoch may have drawn.
  void follow() {
    if constexpr (has_state) seed_ = batches_.state().seed;
  }

 private:
  static constexpr bool has_state = HasLoaderState<Batches>;
  Batches& batches_;
  std::uint64_t seed_ = 0;
};

/// What fit() does before and after the batches of an epoch. Not a template.
class TERN_API Fit {
 public:
  Fit(const nn::AnyModule& net, optim::Optimizer& optimizer, optim::GradScalerBase& scaler, Part& batches,
      const Accumulation& groups, const char* device, const Options& options, const FitParts& parts, CallSite here);

  /// The line of fit()'s call, which Errors name outside the program's own code.
  const CallSite& here() const { return here_; }
  const Position& done() const { return done_; }
  /// Why the training's steps must not be captured, or empty. own_step: they run the program's own code.
  std::string capture_refusal(bool own_step) const;
  /// True if there is an epoch to train. The network is in training mode then.
  bool begin();
  /// Before a batch: whether the pass is the last of its group, after which ranks exchange gradients.
  void before_pass(bool last) {
    if (parts_.replicas) parts_.replicas->set_synchronized(last);
  }
  void after_step() {
    if (parts_.schedule && parts_.schedule_by_step) parts_.schedule->step();
  }
  void batch_done(const BatchReport& batch) {
    for (Callback* const callback : callbacks_) callback->on_batch_end(batch);
  }
  /// True once a rank has got Ctrl-C or SIGTERM. All ranks ask after the same steps.
  bool interrupted();
  /// After the first `batches` of the epoch: adds up, evaluates, reports and saves. `right` is NaN if it was not
  /// counted. refusal: why no step was captured, or empty.
  void end(Index batches, EpochTimer& timer, double loss, double right, const std::string& refusal);
  /// Saves an interrupted training.
  Report finish();

 private:
  /// Error on all ranks where one has other batches than the first: it would wait for passes that do not come.
  void check_ranks() const;
  /// What f returns on rank 0, on all ranks.
  double figure(const std::function<double()>& f) const;
  void sum(double* x, Index n) const {
    if (parts_.replicas) parts_.replicas->sum(x, n);
  }
  void save(const std::string& path);

  CallSite here_;
  nn::AnyModule net_;
  optim::Optimizer& optimizer_;
  const Options& options_;
  const FitParts& parts_;
  Index batches_;  // of an epoch
  Index ranks_;
  bool first_;           // the first rank alone prints and writes files
  int interrupted_ = 0;  // the signal, on any rank
  std::optional<ProgressBar> bar_;
  std::vector<Callback*> callbacks_;  // none on another rank than the first
  Report report_;
  InterruptGuard guard_;
  std::string told_refusal_;  // the last one that was reported
  Position done_;
  std::vector<std::unique_ptr<Part>> owned_;
  std::vector<Part*> saved_;  // what a checkpoint has besides the position
};

/// The part of a training that depends on its device alone: what is done with the Steps of an epoch. Its functions
/// stand outside it, because with tern::compiled a program compiles again what stands inside.
template <Device D>
struct FitOn {
  FitOn(const nn::AnyModule& net, bool scaled, optim::Optimizer& optimizer, Part& batches, const Accumulation& groups,
        const Options& options, const FitParts& parts, CallSite here);

  /// The backward pass of a batch, and behind the last one of its group a step of the optimiser: the work of the
  /// device, which may be captured.
  void learn(const Step<D>& made, Index batch, EpochTimer& timer);
  /// What the host does after that.
  void count(const Step<D>& made, Index batch, EpochTimer& timer);
  void end(Index batches, EpochTimer& timer, const std::string& refusal);

  optim::GradScaler<D> scaler;
  Fit run;
  optim::Optimizer& optimizer;
  const Accumulation& groups;
  const FitParts& parts;
  Tensor<D> loss, right;  // the epoch's sums, undefined before the training's first batch
};

template <Device D>
FitOn<D>::FitOn(const nn::AnyModule& net, bool scaled, optim::Optimizer& optimizer_, Part& batches,
                const Accumulation& groups_, const Options& options, const FitParts& parts_, CallSite here)
    : scaler({.enabled = scaled}),
      run(net, optimizer_, scaler, batches, groups_, DeviceTraits<D>::name, options, parts_, here),
      optimizer(optimizer_), groups(groups_), parts(parts_) {}

template <Device D>
void FitOn<D>::learn(const Step<D>& made, Index batch, EpochTimer& timer) {
  if (groups.begins(batch)) optimizer.zero_grad();
  {
    const CallScope scope(run.here());
    scaler.scale(made.loss * groups.share(batch)).backward();
  }
  timer.backward_done();
  if (groups.ends(batch)) {
    try {
      if (parts.clip) {
        scaler.unscale_(optimizer);
        parts.clip();
      }
      const CallScope scope(run.here());
      scaler.step(optimizer);
      scaler.update();
    } catch (...) {
      scaler.abandon();  // a capture that fails here is followed by a plain step
      throw;
    }
  }
  const auto add = [](Tensor<D>& sum, const Tensor<D>& x) {
    if (!sum.defined()) sum = zeros_like(x);
    sum += x;
  };
  add(loss, made.loss.detach() * double(made.items));
  if (made.right.defined()) add(right, made.right);
}

template <Device D>
void FitOn<D>::count(const Step<D>& made, Index batch, EpochTimer& timer) {
  if (groups.ends(batch)) run.after_step();
  timer.step_done(made.items);
  run.batch_done({.epoch = run.done().epoch + 1,
                  .batch = batch + 1,
                  .batches = groups.batches(),
                  .samples = timer.samples(),
                  .seconds = timer.seconds(),
                  .loss = [&] { return double(made.loss.item()); }});
}

template <Device D>
void FitOn<D>::end(Index batches, EpochTimer& timer, const std::string& refusal) {
  // The sums wait for what the device has still to do of the epoch.
  run.end(batches, timer, loss.defined() ? double(loss.item()) : 0,
          right.defined() ? double(right.item()) : std::nan(""), refusal);
  for (const Tensor<D>& sum : {loss, right})
    if (sum.defined()) sum.zero_();
}

TERN_CLASS_INSTANCE(FitOn<Cpu>)
TERN_CUDA_CLASS_INSTANCE(FitOn<Cuda>)

}  // namespace detail

/// fit() below, for a network on device D of which no more is known than that it is one. `scaled` says whether its
/// layers compute in half; own_step, whether `step` is the program's.
template <Device D, class Batches, class F>
Report fit(const nn::AnyModule& net, bool scaled, optim::Optimizer& optimizer, Batches&& batches, const F& step,
           const Options& options = {}, const FitParts& parts = {}, bool own_step = true, CallSite here = {}) {
  const Accumulation groups = groups_of(batches, options.accumulate, here);
  detail::BatchesPart<std::remove_reference_t<Batches>> order(batches);
  detail::FitOn<D> on(net, scaled, optimizer, order, groups, options, parts, here);
  detail::Fit& run = on.run;
  detail::CapturedStep<D, std::remove_cvref_t<decltype(*std::begin(batches))>> captured(run.capture_refusal(own_step));
  Step<D> replayed;  // what the graph writes
  while (run.begin()) {
    Index next = order.go_to(run.done());
    EpochTimer timer;
    for (auto& batch : batches) {
      order.follow();
      const Index i = next++;
      if (i < run.done().batch) continue;  // done before the checkpoint
      timer.input_done();
      run.before_pass(groups.ends(i));
      const auto learn = [&](auto&... members) {
        const Step<D> made = step(members...);
        timer.forward_done();
        on.learn(made, i, timer);
        return Step<D>{made.loss.detach(), made.items};
      };
      if (captured.run(batch, [&](auto&... members) { replayed = learn(members...); })) {
        timer.replay_done();
        on.count(replayed, i, timer);
      } else {
        on.count(std::apply(learn, batch), i, timer);
      }
      if (groups.ends(i) && run.interrupted()) break;  // a checkpoint holds no gradients
    }
    on.end(next, timer, captured.refusal());
    order.go_to(run.done());
  }
  return run.finish();
}

/// Trains a network for options.epochs epochs of `batches`, prints each epoch's progress and report, and returns the
/// reports:
///
///   train::fit(net, sgd, batches, {.epochs = 20, .save = "net.safetensors"},
///              {.evaluate = [&] { return train::accuracy_of(net, tests); }, .schedule = &schedule});
///
/// parts.callbacks follow the training (callbacks.hpp); without parts.verbose, nothing is printed.
///
/// `batches` is a data::Loader or any other range of tuples with a size. step(members of a batch...) computes the loss
/// of one batch and returns a Step<D>. The gradients of options.accumulate batches make a step of the optimiser,
/// weighted as by Accumulation. If layers compute in half, the loss is scaled.
///
/// On a device that has graphs, this library's own step (the next overload) is captured after three plain ones, and
/// replayed for each batch of the same shapes; the epoch's report says so, or why not. The host code of the network's
/// forward() runs no more then. A step of the program's own, and parts.clip, are captured only with parts.capture. With
/// deterministic algorithms the results are those of plain steps, bit for bit. A training that resumes takes plain
/// steps first, so that it is exact on such a device only then.
///
/// After each epoch a checkpoint is written to options.save, and the weights, where parts.validate finds them the best
/// so far, to that name with .best. The training ends early once parts.evaluate reaches options.target. After Ctrl-C or
/// SIGTERM it ends behind the next step and writes a checkpoint, to NAME.interrupted.safetensors if there is no
/// options.save, where NAME is the program's. A training that resumes from a checkpoint goes on bit for bit; what
/// `step` keeps from batch to batch is not in it.
///
/// The ranks of a distributed::DistributedDataParallel network train together: each gives batches of its own, as many
/// as the others'. Losses and counts are of all ranks, the first one prints and writes files, and another number of
/// ranks can go on from a checkpoint.
///
/// Error, before the first epoch, if a file cannot be written, a checkpoint does not fit, there are no batches, a
/// target but no parts.evaluate, or a schedule and a plateau.
template <nn::IsModule Net, class Batches, class F>
  requires(!std::is_convertible_v<const F&, Options>)
Report fit(Net& net, optim::Optimizer& optimizer, Batches&& batches, const F& step, const Options& options = {},
           const FitParts& parts = {}, CallSite here = {}) {
  using D = typename Net::device_type;
  FitParts own = parts;
  own.replicas = replicas_of(net);
  return fit<D>(nn::AnyModule(net), detail::is_in_half(net), optimizer, std::forward<Batches>(batches), step, options,
                own, true, here);
}

/// The same with the cross entropy between the network's scores and labels, for batches of inputs and labels.
template <nn::IsModule Net, class Batches>
Report fit(Net& net, optim::Optimizer& optimizer, Batches&& batches, const Options& options = {},
           const FitParts& parts = {}, CallSite here = {}) {
  using D = typename Net::device_type;
  const auto step = [&](const auto& x, const Tensor<D, Index>& y) -> Step<D> {
    const CallScope scope(here);
    const auto scores = scores_of(net, x);
    return {cross_entropy(scores, y), y.numel(), count_right(scores.detach(), y)};
  };
  FitParts own = parts;
  own.replicas = replicas_of(net);
  return fit<D>(nn::AnyModule(net), detail::is_in_half(net), optimizer, std::forward<Batches>(batches), step, options,
                own, false, here);
}

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "fit.ipp"
#endif
