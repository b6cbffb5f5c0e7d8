// Which way a device's tensors go from rank to rank.
#pragma once
#include "../device/device.hpp"
#include "cuda_ranks.hpp"
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// The ranks, for the one collective of x that the calling thread waits for now.
class ListedRanks {
 public:
  ListedRanks(const Communicator& communicator, const char* name, const Array& x)
      : ranks_(communicator.ranks()), exchange_(tern::detail::Work::collective, name, bytes_of(x)) {}
  Ranks* operator->() const { return &ranks_; }

 private:
  Ranks& ranks_;
  Exchange exchange_;
};

/// What carries a device's tensors from rank to rank: it points to the collectives of Ranks, for one of x.
template <class D>
struct CarrierOf;
template <HostDevice D>
struct CarrierOf<D> {
  using type = Ranks;
  static ListedRanks get(const Communicator& communicator, const CallSite& op, const Array& x) {
    return ListedRanks(communicator, op.name(), x);
  }
};
template <>
struct CarrierOf<Cuda> {
  using type = CudaRanks;
  static CudaRanks* get(const Communicator& communicator, const CallSite&, const Array&) {
    return &cuda_ranks(communicator);
  }
};

template <class D>
using Carrier = typename CarrierOf<D>::type;

/// A device whose tensors can go to other ranks.
template <class D>
concept CarriedDevice = Device<D> && requires { typename CarrierOf<D>::type; };

}}}  // namespace tern::distributed::detail
