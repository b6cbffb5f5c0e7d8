// The functions of span.hpp that are not templates.
#pragma once
#include "span.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// True for what the thread only queues.
constexpr bool is_queued(tern::detail::Work work) {
  return work == tern::detail::Work::kernel || work == tern::detail::Work::collective;
}

TERN_INLINE constinit std::atomic<const Listener*> listener{nullptr};

TERN_NOINLINE Span::Span(tern::detail::Work work, const char* name, int ordinal, StreamHandle stream, std::size_t bytes,
                         bool pinned)
    : range_(tern::detail::outermost_name(name)), work_(work), listener_(listener.load(std::memory_order_relaxed)) {
  tern::detail::DeviceEvents& events = tern::detail::device_events;
  ++events.count[int(work)];
  events.bytes[int(work)] += std::int64_t(bytes);
  if (listener_ && capture) [[unlikely]]
    listener_ = nullptr;  // captured work does not run now
  if (listener_) [[unlikely]]
    tell({work, pinned, ordinal, stream, name, CallSite::unknown, bytes});
  if (!is_queued(work) && events.open++ == 0) start_ = tern::detail::now();
}

TERN_NOINLINE Span::~Span() {
  tern::detail::DeviceEvents& events = tern::detail::device_events;
  if (!is_queued(work_) && --events.open == 0) events.host_seconds[int(work_)] += tern::detail::now() - start_;
  if (listener_) [[unlikely]]
    listener_->end(position_);
}

TERN_COLD void Span::tell(WorkItem item) {
  item.site = tern::detail::site(item.site);
  item.phase = item.name == replayed ? tern::detail::Phase::captured : tern::detail::device_events.phase;
  position_ = listener_->begin(item);
}

}}}  // namespace tern::cuda::detail
