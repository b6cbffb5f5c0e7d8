// What the ledger is told of collectives in host memory. Those of Cuda are work of a device, whose spans tell it.
#pragma once
#include "../core/array.hpp"
#include "../device/cuda/span.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

using tern::detail::Array;

inline Index bytes_of(const Array& x) { return x.numel * tern::detail::size_of(x.dtype); }

/// A collective of tensors, or a wait for other ranks or for a collective that another thread runs, from construction
/// to the end of the scope. It is accounted to the user's line. It does nothing unless the ledger lists.
class TERN_API Exchange {
 public:
  /// Of so many bytes. `caller` is the thread whose program goes on, or stands still, meanwhile.
  Exchange(tern::detail::Work work, const char* name, Index bytes = 0, int caller = tern::detail::thread_number())
      : listener_(cuda::detail::listener.load(std::memory_order_relaxed)) {
    if (listener_) [[unlikely]]
      tell(work, name, bytes, caller);
  }
  ~Exchange() {
    if (listener_) [[unlikely]]
      listener_->end(position_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  [[gnu::noinline, gnu::cold]] void tell(tern::detail::Work work, const char* name, Index bytes, int caller) {
    position_ = listener_->begin({work, false, cuda::detail::on_host, nullptr, name,
                                  tern::detail::site(CallSite::unknown), std::size_t(bytes), caller});
  }

  const cuda::detail::Listener* listener_;
  cuda::detail::TimelinePosition position_;
};

}}}  // namespace tern::distributed::detail
