// Every piece of a device's work passes through a Span. It counts; and where somebody listens, it tells when the work
// begins and ends.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../core/clock.hpp"
#include "../events.hpp"
#include "context.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A kernel or a copy on a stream, or a wait of the host.
struct WorkItem {
  Work work;
  bool pinned;
  int ordinal;
  Stream stream;
  const char* name;
  Here site;
  std::size_t bytes;
};

/// Where a listener noted a piece of work.
struct Place {
  int page;
  std::size_t index;
};

/// Is told, right before and right after the calls that queue a piece of work.
struct Listener {
  Place (*begin)(const WorkItem& item);
  void (*end)(Place place);
};
/// Null: nobody listens.
inline constinit std::atomic<const Listener*> listener{nullptr};

/// A piece of work of this thread, from here to the end of the scope, accounted to the user's line.
class Span {
 public:
  [[gnu::noinline]] Span(Work work, const char* name, int ordinal, Stream stream, std::size_t bytes = 0, bool pinned = false)
      : work_(work), listener_(listener.load(std::memory_order_relaxed)) {
    tern::detail::DeviceEvents& events = tern::detail::device_events;
    ++events.count[int(work)];
    events.bytes[int(work)] += std::int64_t(bytes);
    if (listener_ && capture) [[unlikely]]
      listener_ = nullptr;  // what is captured does not run now
    if (listener_) [[unlikely]]
      tell({work, pinned, ordinal, stream, name, Here("", 0), bytes});
    if (work != Work::kernel && events.open++ == 0) start_ = now();
  }
  [[gnu::noinline]] ~Span() {
    tern::detail::DeviceEvents& events = tern::detail::device_events;
    if (work_ != Work::kernel && --events.open == 0) events.host_seconds[int(work_)] += now() - start_;
    if (listener_) [[unlikely]]
      listener_->end(place_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  [[gnu::noinline, gnu::cold]] void tell(WorkItem item) {
    if (const Here* const site = tern::detail::outermost_site) item.site = *site;
    place_ = listener_->begin(item);
  }

  Work work_;
  const Listener* listener_;
  Place place_;
  double start_ = 0;
};

}  // namespace tern::cuda::detail
