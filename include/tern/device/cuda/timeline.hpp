// When each kernel, copy and wait began and ended, on one time line. Every piece of work passes through a Span; with no time line it
// only counts.
#pragma once
#include <deque>

#include "../../core/clock.hpp"
#include "../events.hpp"
#include "context.hpp"

namespace tern::cuda::detail {

/// One piece of work. Seconds count from the time line's start: the device's for what a stream does, the host's for waits.
struct TimelineEntry {
  Work work;
  bool pinned;
  int ordinal;
  const char* name;
  Here site;
  std::size_t bytes;
  double start, seconds;
  Event begin = nullptr, end = nullptr;
};

/// What was done since it was made, on every device.
class Timeline {
 public:
  Timeline() : origin_(now()) {}
  ~Timeline() {
    for (const TimelineEntry& entry : entries_)
      for (const Event event : {entry.begin, entry.end})
        if (event) TERN_CUDA_RELEASE(cuEventDestroy_v2, event);
    for (const Event event : bases_)
      if (event) TERN_CUDA_RELEASE(cuEventDestroy_v2, event);
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  TimelineEntry& begin(const TimelineEntry& entry, Stream stream) {
    const std::lock_guard lock(mutex_);
    if (entry.work == Work::wait) {
      TimelineEntry& kept = entries_.emplace_back(entry);
      kept.start = now() - origin_;
      return kept;
    }
    bases_.resize(system().devices.size());
    Event& base = bases_[std::size_t(entry.ordinal)];
    if (!base) {
      ScopedEvent first(event_default);
      TERN_CUDA(cuEventRecord, first.event, stream);
      TERN_CUDA(cuEventSynchronize, first.event);
      base_seconds_.resize(bases_.size());
      base_seconds_[std::size_t(entry.ordinal)] = now() - origin_;
      base = first.take();
    }
    ScopedEvent begin(event_default), end(event_default);
    TERN_CUDA(cuEventRecord, begin.event, stream);
    TimelineEntry& kept = entries_.emplace_back(entry);
    kept.begin = begin.take(), kept.end = end.take();
    return kept;
  }
  void end(TimelineEntry& entry, Stream stream) const {
    if (entry.work == Work::wait) {
      entry.seconds = now() - origin_ - entry.start;
    } else if (const Status status = driver().functions.cuEventRecord(entry.end, stream)) {
      note_failure("cuEventRecord", status);
      TERN_CUDA_RELEASE(cuEventDestroy_v2, std::exchange(entry.end, nullptr));
    }
  }

  /// All entries so far, with their times. Waits for the devices.
  std::vector<TimelineEntry> entries() {
    const std::lock_guard lock(mutex_);
    for (TimelineEntry& entry : entries_) {
      if (!entry.end) continue;  // a wait, or work whose end could not be recorded: it takes no time
      bind(entry.ordinal);
      float from = 0, length = 0;
      TERN_CUDA(cuEventSynchronize, entry.end);
      TERN_CUDA(cuEventElapsedTime, &from, bases_[std::size_t(entry.ordinal)], entry.begin);
      TERN_CUDA(cuEventElapsedTime, &length, entry.begin, entry.end);
      entry.start = base_seconds_[std::size_t(entry.ordinal)] + 1e-3 * double(from);
      entry.seconds = 1e-3 * double(length);
    }
    return {entries_.begin(), entries_.end()};
  }

 private:
  const double origin_;
  std::mutex mutex_;
  std::deque<TimelineEntry> entries_;
  std::vector<Event> bases_;           // of each device: recorded when
  std::vector<double> base_seconds_;   // the host's clock was here
};

/// The one that is being written; null: none.
inline constinit std::atomic<Timeline*> timeline{nullptr};

/// A piece of work of this thread, from here to the end of the scope, accounted to the user's line.
class Span {
 public:
  [[gnu::noinline]] Span(Work work, const char* name, int ordinal, Stream stream, std::size_t bytes = 0, bool pinned = false)
      : work_(work), stream_(stream) {
    tern::detail::DeviceEvents& events = tern::detail::device_events;
    ++events.count[int(work)];
    events.bytes[int(work)] += std::int64_t(bytes);
    if (work != Work::kernel) start_ = now();
    Timeline* const line = timeline.load(std::memory_order_relaxed);
    if (line && !capture) [[unlikely]] {  // what is captured does not run now
      const Here* const site = tern::detail::outermost_site;
      entry_ = &line->begin({work, pinned, ordinal, name, site ? *site : Here("", 0), bytes, 0, 0}, stream);
      line_ = line;
    }
  }
  [[gnu::noinline]] ~Span() {
    if (work_ != Work::kernel) tern::detail::device_events.host_seconds[int(work_)] += now() - start_;
    if (entry_) [[unlikely]] line_->end(*entry_, stream_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Work work_;
  Stream stream_;
  double start_ = 0;
  TimelineEntry* entry_ = nullptr;
  Timeline* line_ = nullptr;
};

}  // namespace tern::cuda::detail
