// Which way a device's tensors go from rank to rank.
#pragma once
#include "../device/device.hpp"
#include "cuda_ranks.hpp"

namespace tern::inline TERN_BUILD::distributed::detail {

/// What carries a device's tensors from rank to rank: it has the collectives of Ranks.
template <class D>
struct CarrierOf;
template <HostDevice D>
struct CarrierOf<D> {
  static Ranks& get(const Communicator& communicator) { return communicator.ranks(); }
};
template <>
struct CarrierOf<Cuda> {
  static CudaRanks& get(const Communicator& communicator) { return cuda_ranks(communicator); }
};

/// A device whose tensors can go to other ranks.
template <class D>
concept CarriedDevice = Device<D> && requires(const Communicator& communicator) { CarrierOf<D>::get(communicator); };

}  // namespace tern::distributed::detail
