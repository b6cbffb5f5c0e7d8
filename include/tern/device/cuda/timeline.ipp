// The functions of timeline.hpp that are not templates.
#pragma once
#include "timeline.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

TERN_INLINE Timeline& timeline() {
  static Timeline& instance = *new Timeline;
  return instance;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::turn_page() {
  const std::lock_guard lock(mutex_);
  ++page_;
  for (TimelineEntry& entry : entries_) give_back(entry);
  entries_.clear();
  settled_ = 0;
  for (int i = 0; i < devices_; ++i) clocks_[i].forget();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE TimelinePosition Timeline::begin(const WorkItem& item) {
  TimelineEntry entry{item, thread_number()};
  const std::lock_guard lock(mutex_);
  // Bounds the number of events. No host gets further ahead of its device than this.
  if (entries_.size() - settled_ >= most_unsettled) settle(settled_ + most_unsettled / 2);
  DeviceClock& clock = clock_of(entry.ordinal);
  if (entry.work == Work::wait) entry.stream = clock.stream;
  entry.begin = clock.spare_event(1);
  entry.end = clock.spare_event(0);
  TERN_CUDA(cuEventRecord, entry.begin, entry.stream);
  clock.spares -= 2;
  entries_.push_back(entry);
  return {page_, entries_.size() - 1};
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::end(TimelinePosition position) {
  const std::lock_guard lock(mutex_);
  if (position.page != page_) return;
  TimelineEntry& entry = entries_[position.index];
  entry.ended = true;
  // The next call reports the error. The work's duration stays unknown.
  if (const Status status = driver().functions.cuEventRecord(entry.end, entry.stream)) {
    note_failure("cuEventRecord", status);
    give_back(entry);
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Timeline::Page Timeline::read() {
  const std::lock_guard lock(mutex_);
  settle(entries_.size());
  Page page;
  page.entries.assign(entries_.begin(), entries_.begin() + std::ptrdiff_t(settled_));
  for (int i = 0; i < devices_; ++i) {
    DeviceClock& clock = clocks_[i];
    if (!clock.base) continue;
    bind(i);
    const Event event = clock.spare_event(0);
    TERN_CUDA(cuEventRecord, event, clock.stream);
    const double age = clock.base_seconds + seconds_between(clock.base, event);
    if (age > page.seconds) page.seconds = age;
  }
  return page;
}

TERN_INLINE int Timeline::thread_number() {
  static std::atomic<int> threads{0};
  static constinit thread_local int number = 0;
  if (!number) number = ++threads;
  return number;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE double Timeline::seconds_between(Event from, Event to) {
  float milliseconds = 0;
  const Status status = driver().functions.cuEventElapsedTime(&milliseconds, from, to);
  if (status == status_not_ready) {
    TERN_CUDA(cuEventSynchronize, to);
    TERN_CUDA(cuEventElapsedTime, &milliseconds, from, to);
  } else if (status) {
    refuse("cuEventElapsedTime", status);
  }
  return 1e-3 * double(milliseconds);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::give_back(TimelineEntry& entry) {
  if (!entry.begin) return;
  DeviceClock& clock = clocks_[entry.ordinal];
  clock.keep(entry.begin);
  clock.keep(entry.end);
  entry.begin = nullptr;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Timeline::DeviceClock& Timeline::clock_of(int ordinal) {
  if (!clocks_) clocks_ = new DeviceClock[std::size_t(devices_ = device_count())];
  bind(ordinal);
  DeviceClock& clock = clocks_[ordinal];
  if (clock.base) return clock;
  if (!clock.stream) TERN_CUDA(cuStreamCreate, &clock.stream, stream_non_blocking);
  const Event base = clock.spare_event(0);
  TERN_CUDA(cuEventRecord, base, clock.stream);
  TERN_CUDA(cuEventSynchronize, base);
  clock.base = base;
  --clock.spares;
  if (entries_.empty()) origin_ = now();
  clock.base_seconds = entries_.empty() ? 0 : now() - origin_;
  return clock;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::settle(std::size_t to) {
  for (; settled_ < to && entries_[settled_].ended; ++settled_) {
    TimelineEntry& entry = entries_[settled_];
    if (!entry.begin) continue;
    bind(entry.ordinal);
    DeviceClock& clock = clocks_[entry.ordinal];
    const double from = seconds_between(clock.base, entry.begin);
    entry.start = clock.base_seconds + from;
    entry.seconds = seconds_between(entry.begin, entry.end);
    // The driver gives times as floats, which are coarse far from the base. So the base moves along.
    if (from > 1) {
      clock.base_seconds += from;
      std::swap(clock.base, entry.begin);
    }
    give_back(entry);
  }
}

}  // namespace tern::cuda::detail
