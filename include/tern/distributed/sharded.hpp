// Sharded: an optimiser whose state is divided among the ranks (Rajbhandari et al.: "ZeRO: memory optimizations toward
// training trillion parameter models", 2020, stage 1).
#pragma once
#include <memory>

#include "../optim/optimizer.hpp"
#include "carrier.hpp"
#include "parallel_device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

namespace detail {

/// `device` moves the parameters, all of which are on devices called device_name.
TERN_API std::unique_ptr<Shards> shards_of(const distributed::Communicator& communicator,
                                           std::unique_ptr<distributed::detail::ParallelDevice> device,
                                           const char* device_name);

}  // namespace detail

/// The optimiser Rule, of whose state each rank keeps a part, about 1/N of its bytes on N ranks:
///
///     distributed::DistributedDataParallel net(models::resnet20<Cpu>(), world);
///     optim::Sharded<optim::Adam> adam(net.parameters(), world, {.lr = 1e-3});
///
/// A parameter belongs to one rank, which keeps its state, takes its steps, and gives the others its values. Ranks with
/// the same gradients get the parameters that Rule alone gives, bit for bit.
///
/// All ranks construct it, step it and add groups together. state_dict() is a collective too, and so is
/// save_checkpoint(): it returns the complete state on every rank, named as Rule's own, in host memory.
/// load_state_dict() takes the state of any number of ranks, and Rule's. One rank is Rule itself. Error on all ranks if
/// their parameters differ, or in a step if only some ranks have a parameter's gradient. Steps of several ranks cannot
/// be captured in a graph.
template <class Rule>
class Sharded final : public Rule {
  using Options = decltype(Rule::Group::options);

 public:
  /// All parameters, those of groups that are added later too, are on devices of the same kind as the first.
  template <distributed::detail::CarriedDevice D, class T, class... Others>
  Sharded(const tern::detail::Parameters<tern::detail::TensorType<D, T>, Others...>& parameters,
          const distributed::Communicator& communicator, const Options& options = {}, CallSite here = {})
      : Rule(parameters, options, here) {
    const CallScope scope({"Sharded", here});
    if (communicator.size() > 1)
      this->share(detail::shards_of(communicator, distributed::detail::parallel_device<D>(communicator),
                                    DeviceTraits<D>::name));
  }
};

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "sharded.ipp"
#endif
