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
    const auto& cu = driver().functions;
    for (const TimelineEntry& entry : entries_)
      for (const Event event : {entry.begin, entry.end})
        if (event) cu.cuEventDestroy_v2(event);
    for (const Event event : bases_)
      if (event) cu.cuEventDestroy_v2(event);
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  TimelineEntry& begin(const TimelineEntry& entry, Stream stream) {
    const std::lock_guard lock(mutex_);
    TimelineEntry& kept = entries_.emplace_back(entry);
    if (entry.work == Work::wait) {
      kept.start = now() - origin_;
      return kept;
    }
    bases_.resize(system().devices.size());
    Event& base = bases_[std::size_t(entry.ordinal)];
    if (!base) {
      TERN_CUDA(cuEventCreate, &base, 0);
      TERN_CUDA(cuEventRecord, base, stream);
      TERN_CUDA(cuEventSynchronize, base);
      base_seconds_.resize(bases_.size());
      base_seconds_[std::size_t(entry.ordinal)] = now() - origin_;
    }
    for (Event* const event : {&kept.begin, &kept.end}) TERN_CUDA(cuEventCreate, event, 0);
    TERN_CUDA(cuEventRecord, kept.begin, stream);
    return kept;
  }
  void end(TimelineEntry& entry, Stream stream) const {
    if (entry.work == Work::wait) entry.seconds = now() - origin_ - entry.start;
    else driver().functions.cuEventRecord(entry.end, stream);
  }

  /// All entries so far, with their times. Waits for the devices.
  std::vector<TimelineEntry> entries() {
    const std::lock_guard lock(mutex_);
    for (TimelineEntry& entry : entries_) {
      if (entry.work == Work::wait) continue;
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
  Span(Work work, const char* name, int ordinal, Stream stream, std::size_t bytes = 0, bool pinned = false)
      : work_(work), stream_(stream) {
    tern::detail::DeviceEvents& events = tern::detail::device_events;
    ++events.count[int(work)];
    events.bytes[int(work)] += std::int64_t(bytes);
    if (work != Work::kernel) start_ = now();
    if (Timeline* const line = timeline.load(std::memory_order_relaxed)) [[unlikely]] {
      const Here* const site = tern::detail::outermost_site;
      entry_ = &line->begin({work, pinned, ordinal, name, site ? *site : Here("", 0), bytes, 0, 0}, stream);
      line_ = line;
    }
  }
  ~Span() {
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
