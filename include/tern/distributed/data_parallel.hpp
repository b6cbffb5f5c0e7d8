// DistributedDataParallel: a network whose copies on all ranks train as one.
#pragma once
#include "../nn/module.hpp"
#include "../nn/replicas.hpp"
#include "carrier.hpp"
#include "parallel_device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

struct DataParallelOptions {
  bool broadcast_buffers = true;  ///< give all ranks rank 0's buffers before each forward pass in training mode
  double bucket_cap_mb = 25;      ///< MiB of gradients that are averaged together
};

namespace detail {

class GradientReducer;

/// A network's tensors as the ranks exchange them. Not a template.
class TERN_API ParallelTensors final : public nn::Replicas {
 public:
  /// Gives all ranks rank 0's parameters and buffers. Error if the ranks' networks differ.
  ParallelTensors(const nn::AnyModule& network, const Communicator& communicator,
                  std::unique_ptr<ParallelDevice> device, const DataParallelOptions& options);
  ~ParallelTensors() override;

  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  TERN_KEY void set_synchronized(bool on) override;
  void sum(double* x, Index n) override;

  void before_forward(bool training);
  bool is_synchronized() const { return synchronized_; }

 private:
  Communicator communicator_;
  std::unique_ptr<ParallelDevice> device_;
  std::vector<AnyTensor> buffers_;
  std::unique_ptr<GradientReducer> gradients_;  // null for one rank, whose gradients are the mean already
  bool synchronized_ = true;
};

}  // namespace detail

/// A network that trains on all ranks of a communicator, each on its own batches. backward() leaves in every rank the
/// mean of the ranks' gradients, averaged while it still computes. So a loss that is a mean over a batch gives what one
/// rank gives with all ranks' batches together, if these are equally large.
///
///   distributed::DistributedDataParallel net(models::resnet20<Cpu>(), mpi.world());
///   optim::SGD sgd(net.parameters(), {.lr = 0.1});
///   cross_entropy(net(x), y).backward();
///   sgd.step();
///
/// All ranks construct it, and call the same passes. Parameters and buffers start as rank 0's. A parameter that a
/// rank's pass does not reach has gradient 0 there; one that no rank reaches keeps its gradient. Its tensors are named
/// as the network's own. Ranks that are processes draw different random numbers from then on, for dropout. With one
/// rank it is the network and nothing else.
template <nn::IsModule Net>
struct DistributedDataParallel
    : nn::ModuleOf<DistributedDataParallel<Net>, typename Net::device_type, typename Net::value_type> {
  static_assert(detail::CarriedDevice<typename Net::device_type>,
                "gradients of networks on this device have no way to other ranks");

  Net module;

  DistributedDataParallel(Net network, const Communicator& communicator, const DataParallelOptions& options = {},
                          CallSite here = {})
      : module(std::move(network)), tensors_(made(module, communicator, options, here)) {}
  DistributedDataParallel(DistributedDataParallel&&) = default;

  static constexpr const char* type_name() { return "DistributedDataParallel"; }
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    visit("", self.module);
  }
  TERN_MODULE_CLASS(DistributedDataParallel, typename nn::detail::TensorTypesOf<Net>::type)

  template <class... X>
    requires requires(Net& net, const X&... x) { net(x...); }
  auto forward(const X&... x) {
    tensors_->before_forward(this->is_training());
    return module(x...);
  }

  /// While alive, backward() adds up this rank's gradients only. The next pass after it averages what has come
  /// together.
  class NoSync {
   public:
    explicit NoSync(detail::ParallelTensors& tensors) : tensors_(tensors), before_(tensors.is_synchronized()) {
      tensors_.set_synchronized(false);
    }
    ~NoSync() { tensors_.set_synchronized(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    detail::ParallelTensors& tensors_;
    bool before_;
  };
  NoSync no_sync() { return NoSync(*tensors_); }

  /// The ranks, as train::fit() needs them.
  nn::Replicas& replicas() const { return *tensors_; }

 private:
  static auto made(const Net& network, const Communicator& communicator, const DataParallelOptions& options,
                   CallSite here) {
    const CallScope scope({"DistributedDataParallel", here});
    auto device = communicator.size() > 1 ? detail::parallel_device<typename Net::device_type>(communicator) : nullptr;
    return std::make_unique<detail::ParallelTensors>(network, communicator, std::move(device), options);
  }

  std::unique_ptr<detail::ParallelTensors> tensors_;
};

}}}  // namespace tern::distributed

#ifndef TERN_COMPILED
#include "data_parallel.ipp"
#endif
