// When each kernel, copy and wait began and ended, on one time line. Only what reads it includes it: a program that
// does not has none of its code.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "span.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// One piece of work. Seconds count from the first piece of the page, on the device's clock: events around a kernel or
/// a copy on its stream, and around a wait of the host on a stream that has no other work, so that all of them can be
/// compared.
struct TimelineEntry : WorkItem {
  int thread;  // the host's, numbered as they come
  bool ended = false;
  double start = 0, seconds = 0;
  Event begin = nullptr, end = nullptr;
};

/// What was done since a page was begun, on every device.
class Timeline {
 public:
  /// Forgets what was listed.
  [[gnu::noinline, gnu::cold]] void turn_page() {
    const std::lock_guard lock(mutex_);
    ++page_;
    for (TimelineEntry& entry : entries_) give_back(entry);
    entries_.clear();
    settled_ = 0;
    for (int i = 0; i < devices_; ++i) clocks_[i].forget();
  }

  [[gnu::noinline, gnu::cold]] Place begin(const WorkItem& item) {
    TimelineEntry entry{item, thread_number()};
    const std::lock_guard lock(mutex_);
    // A long page needs no more events than this, and no host is further ahead of its device.
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
  [[gnu::noinline, gnu::cold]] void end(Place place) {
    const std::lock_guard lock(mutex_);
    if (place.page != page_) return;
    TimelineEntry& entry = entries_[place.index];
    entry.ended = true;
    // Its error is the next call's to report; how long the work took is not known.
    if (const Status status = driver().functions.cuEventRecord(entry.end, entry.stream)) {
      note_failure("cuEventRecord", status);
      give_back(entry);
    }
  }

  /// What has ended, in the order in which it was begun, and the seconds from the first piece of work until the page
  /// was read.
  struct Page {
    std::vector<TimelineEntry> entries;
    double seconds = 0;
  };
  /// Waits for the devices.
  [[gnu::noinline, gnu::cold]] Page read() {
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

 private:
  static constexpr std::size_t most_unsettled = 1024;

  struct DeviceClock {
    Event base = nullptr;     // recorded on the stream when
    double base_seconds = 0;  // the page was this old
    Stream stream = nullptr;  // has no work but these events
    std::size_t spares = 0;
    Event spare[2 * most_unsettled];

    /// The last of the spare ones but n.
    Event spare_event(std::size_t n) {
      for (; spares <= n; ++spares) TERN_CUDA(cuEventCreate, &spare[spares], 0);
      return spare[spares - 1 - n];
    }
    void keep(Event event) {
      if (spares < 2 * most_unsettled)
        spare[spares++] = event;
      else
        TERN_CUDA_RELEASE(cuEventDestroy_v2, event);
    }
    void forget() {
      if (base) keep(base);
      base = nullptr;
      while (spares > 0) TERN_CUDA_RELEASE(cuEventDestroy_v2, spare[--spares]);
    }
  };

  static int thread_number() {
    static std::atomic<int> threads{0};
    static constinit thread_local int number = 0;
    if (!number) number = ++threads;
    return number;
  }
  /// Waits for the second event where it is still to come, which is rare: a call less for each of many.
  [[gnu::noinline, gnu::cold]] static double seconds_between(Event from, Event to) {
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
  [[gnu::noinline, gnu::cold]] void give_back(TimelineEntry& entry) {
    if (!entry.begin) return;
    DeviceClock& clock = clocks_[entry.ordinal];
    clock.keep(entry.begin);
    clock.keep(entry.end);
    entry.begin = nullptr;
  }

  /// The device's clock, started with its first piece of work on the page.
  [[gnu::noinline, gnu::cold]] DeviceClock& clock_of(int ordinal) {
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

  /// Gives the entries up to there their times, and their events back, but for those after one that has not ended.
  [[gnu::noinline, gnu::cold]] void settle(std::size_t to) {
    for (; settled_ < to && entries_[settled_].ended; ++settled_) {
      TimelineEntry& entry = entries_[settled_];
      if (!entry.begin) continue;
      bind(entry.ordinal);
      DeviceClock& clock = clocks_[entry.ordinal];
      const double from = seconds_between(clock.base, entry.begin);
      entry.start = clock.base_seconds + from;
      entry.seconds = seconds_between(entry.begin, entry.end);
      // The driver gives times as floats: far from the base they are coarse, so the base follows.
      if (from > 1) {
        clock.base_seconds += from;
        std::swap(clock.base, entry.begin);
      }
      give_back(entry);
    }
  }

  std::mutex mutex_;
  int page_ = 0;
  std::vector<TimelineEntry> entries_;
  std::size_t settled_ = 0;  // so many entries have their times
  int devices_ = 0;
  DeviceClock* clocks_ = nullptr;
  double origin_ = 0;  // the host's clock at the first base, for the bases of other devices
};

/// The program's, never destroyed: work may end while the program does.
inline Timeline& timeline() {
  static Timeline& instance = *new Timeline;
  return instance;
}
inline constexpr Listener timeline_listener{[](const WorkItem& item) { return timeline().begin(item); },
                                            [](Place place) { timeline().end(place); }};

}  // namespace tern::cuda::detail
