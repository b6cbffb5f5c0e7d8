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
  host_exchanges_ = false;
  for (int i = 0; i < devices_; ++i) {
    clocks_[i].forget();
    if (awaited_ == 0) clocks_[i].destroy_spares();
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE TimelinePosition Timeline::begin(const WorkItem& item) {
  TimelineEntry entry{item, tern::detail::thread_number()};
  std::unique_lock lock(mutex_);
  // Bounds the number of events. No host gets further ahead of its device than this. It does not wait for other devices, which may wait for a
  // collective that this thread has yet to call.
  if (entry.ordinal != on_host && clocks_ && clocks_[entry.ordinal].unsettled >= most_unsettled)
    settle(lock, entry.ordinal, most_unsettled / 2);
  if (entries_.empty()) origin_ = now();
  if (entry.ordinal == on_host) {
    host_exchanges_ = true;
    entry.start = now() - origin_;
    entries_.push_back(entry);
    return {page_, entries_.size() - 1};
  }
  DeviceClock& clock = clock_of(entry.ordinal);
  if (entry.work == Work::wait) entry.stream = clock.stream;
  entry.begin = clock.spare_event(1);
  entry.end = clock.spare_event(0);
  TERN_CUDA(cuEventRecord, entry.begin, entry.stream);
  clock.spares -= 2;
  ++clock.unsettled;
  entries_.push_back(entry);
  return {page_, entries_.size() - 1};
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::end(TimelinePosition position) {
  const std::lock_guard lock(mutex_);
  if (position.page != page_) return;
  TimelineEntry& entry = entries_[position.index];
  entry.ended = true;
  if (entry.ordinal == on_host) {
    entry.seconds = now() - origin_ - entry.start;
    return;
  }
  // The next call reports the error. The work's duration stays unknown.
  if (const Status status = driver().functions.cuEventRecord(entry.end, entry.stream)) {
    note_failure("cuEventRecord", status);
    give_back(entry);
  }
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Timeline::Page Timeline::read() {
  std::unique_lock lock(mutex_);
  for (int i = 0; i < devices_; ++i) settle(lock, i, 0);
  Page page;
  if (host_exchanges_) page.seconds = now() - origin_;
  for (std::size_t i = 0; i < entries_.size() && entries_[i].ended && !entries_[i].begin; ++i) page.entries.push_back(entries_[i]);
  for (int i = 0; i < devices_; ++i) {
    DeviceClock& clock = clocks_[i];
    if (!clock.base) continue;
    bind(i);
    const Event event = clock.spare_event(0);
    TERN_CUDA(cuEventRecord, event, clock.stream);
    TERN_CUDA(cuEventSynchronize, event);
    const double age = clock.base_seconds + seconds_between(clock.base, event);
    if (age > page.seconds) page.seconds = age;
  }
  return page;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE double Timeline::seconds_between(Event from, Event to) {
  float milliseconds = 0;
  const Status status = driver().functions.cuEventElapsedTime(&milliseconds, from, to);
  if (status == status_not_ready) return -1;
  if (status) refuse("cuEventElapsedTime", status);
  return 1e-3 * double(milliseconds);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::await(std::unique_lock<std::mutex>& lock, Event event) {
  ++awaited_;
  lock.unlock();
  const Status status = driver().functions.cuEventSynchronize(event);
  lock.lock();
  --awaited_;
  if (status) refuse("cuEventSynchronize", status);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::give_back(TimelineEntry& entry) {
  if (!entry.begin) return;
  DeviceClock& clock = clocks_[entry.ordinal];
  clock.keep(entry.begin);
  clock.keep(entry.end);
  entry.begin = nullptr;
  --clock.unsettled;
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
  clock.base_seconds = entries_.empty() ? 0 : now() - origin_;
  return clock;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Timeline::settle(std::unique_lock<std::mutex>& lock, int ordinal, std::size_t left) {
  const int page = page_;
  DeviceClock& clock = clocks_[ordinal];
  while (page == page_ && clock.unsettled > left) {
    TimelineEntry& entry = entries_[clock.next];
    if (!entry.begin || entry.ordinal != ordinal) {
      ++clock.next;
      continue;
    }
    if (!entry.ended) return;
    bind(ordinal);
    const double seconds = seconds_between(entry.begin, entry.end);
    if (seconds < 0) {
      await(lock, entry.end);
      continue;
    }
    const double from = seconds_between(clock.base, entry.begin);
    entry.start = clock.base_seconds + from;
    entry.seconds = seconds;
    // The driver gives times as floats, which are coarse far from the base. So the base moves along.
    if (from > 1) {
      clock.base_seconds += from;
      std::swap(clock.base, entry.begin);
    }
    give_back(entry);
  }
}

}  // namespace tern::cuda::detail
