// Every piece of a device's work passes through a Span. The Span counts it and, if there is a listener, reports its
// begin and end.
#pragma once
#include "../../core/clock.hpp"
#include "../events.hpp"
#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// The ordinal of collectives in host memory, and of waits for them.
inline constexpr int on_host = -1;

/// A kernel, a copy or a collective on a stream; a wait of the host; or a collective in host memory.
struct WorkItem {
  tern::detail::Work work;
  bool pinned;
  int ordinal;
  StreamHandle stream;
  const char* name;
  CallSite site;
  std::size_t bytes;
  int caller = 0;  // of a collective in host memory: the thread that called it, which another may run it for
  tern::detail::Phase phase = tern::detail::Phase::other;
};

/// The name of a captured step's replay, compared by address.
inline constexpr char replayed[] = "graph";

/// The position in a timeline at which a listener has recorded a piece of work.
struct TimelinePosition {
  int page;
  std::size_t index;
};

/// Is called right before and right after the calls that queue a piece of work.
struct Listener {
  TimelinePosition (*begin)(const WorkItem& item);
  void (*end)(TimelinePosition position);
};
/// Null if there is no listener.
extern TERN_API constinit std::atomic<const Listener*> listener;

/// A piece of this thread's work, from construction to the end of the scope. It is accounted to the user's line.
class TERN_API Span {
 public:
  Span(tern::detail::Work work, const char* name, int ordinal, StreamHandle stream, std::size_t bytes = 0,
       bool pinned = false);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void tell(WorkItem item);

  tern::detail::Range range_;
  tern::detail::Work work_;
  const Listener* listener_;
  TimelinePosition position_;
  double start_ = 0;
};

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "span.ipp"
#endif
