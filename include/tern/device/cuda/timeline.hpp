// When each kernel, copy and wait began and ended, on one time line. Only what reads it includes it: a program that
// does not has none of its code.
#pragma once
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
class TERN_API Timeline {
 public:
  /// Forgets what was listed.
  void turn_page();

  TimelinePosition begin(const WorkItem& item);
  void end(TimelinePosition position);

  /// What has ended, in the order in which it was begun, and the seconds from the first piece of work until the page
  /// was read.
  struct Page {
    std::vector<TimelineEntry> entries;
    double seconds = 0;
  };
  /// Waits for the devices.
  Page read();

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

  static int thread_number();
  /// Waits for the second event where it is still to come, which is rare: a call less for each of many.
  static double seconds_between(Event from, Event to);
  void give_back(TimelineEntry& entry);

  /// The device's clock, started with its first piece of work on the page.
  DeviceClock& clock_of(int ordinal);

  /// Gives the entries up to there their times, and their events back, but for those after one that has not ended.
  void settle(std::size_t to);

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
                                            [](TimelinePosition position) { timeline().end(position); }};

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "timeline.ipp"
#endif
