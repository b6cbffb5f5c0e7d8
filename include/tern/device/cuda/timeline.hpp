// When each kernel, copy and wait began and ended. Only the profiler includes this header, so other programs contain
// none of its code.
#pragma once
#include "cupti.hpp"
#include "span.hpp"
#include "stream_pool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// One piece of work. Seconds count from the first piece of work of the page. All times of a page are of one clock:
/// CUPTI's, of which a wait of the host has the time at its begin and its end; or the device's, where a kernel, a copy
/// or a collective has events around it on its stream, a wait of the host events on a stream without other work, and
/// only what is on_host has the host's clock.
struct TimelineEntry : WorkItem {
  int thread;  // of the host, in the order of appearance
  bool ended = false;
  bool further =
      false;  // a piece of the copy before it: the library's copies of pageable memory are several of the driver's
  double start = 0, seconds = 0;
  Event begin = nullptr, end = nullptr;
  TimelinePosition outer = {};  // with records: what the thread was at before
};

/// The work of all devices since the page was begun.
class TERN_API Timeline {
 public:
  /// Begins a page. Its times are from CUPTI's records where it can be used, else from events.
  void start();
  /// Clears the page, and gives CUPTI back.
  void stop();

  TimelinePosition begin(const WorkItem& item);
  void end(TimelinePosition position);

  /// The finished work, in the order in which it began, and the seconds from the first piece of work until the page was
  /// read. With records, a kernel or copy is one of those: a product of several kernels is several entries, a captured
  /// step as many as it has kernels, and what was queued outside of the library has no line.
  struct Page {
    std::vector<TimelineEntry> entries;
    double seconds = 0;
    std::string no_records;  // why the times are from events; empty: they are from records
  };
  /// The page so far. Waits for the devices.
  Page read();
  /// CUPTI's records of the page, as far as it has been read.
  const std::vector<DeviceRecord>& records() const { return records_; }

 private:
  static constexpr std::size_t most_unsettled = 1024;

  struct DeviceClock {
    Event base = nullptr;           // recorded on `stream`
    double base_seconds = 0;        // the age of the page at that moment
    StreamHandle stream = nullptr;  // has no work but these events
    std::size_t unsettled = 0;      // entries of the device that have events
    std::size_t next = 0;           // the first that may be one
    std::size_t spares = 0;
    Event spare[2 * most_unsettled];

    /// The spare event n places before the last.
    Event spare_event(std::size_t n) {
      for (; spares <= n; ++spares) TERN_CUDA(cuEventCreate, &spare[spares], 0);
      return spare[spares - 1 - n];
    }
    void keep(Event event) {
      if (spares < 2 * most_unsettled) spare[spares++] = event;
      else TERN_CUDA_RELEASE(cuEventDestroy_v2, event);
    }
    void forget() {
      if (base) keep(base);
      base = nullptr;
      next = 0;
    }
    void destroy_spares() {
      while (spares > 0) TERN_CUDA_RELEASE(cuEventDestroy_v2, spare[--spares]);
    }
  };

  void turn_page();
  /// The time that an item has which the host times: of a device's wait on CUPTI's clock, else on the host's.
  double host_seconds(const WorkItem& item) const;
  void note_call(std::uint32_t correlation);
  /// Waits for all work of the devices that have work on the page.
  void wait_for_devices(std::unique_lock<std::mutex>& lock);
  Page read_records(std::unique_lock<std::mutex>& lock);

  /// Seconds between two events; negative if the second one has not happened, which is rare. So no call is spent on
  /// asking first.
  static double seconds_between(Event from, Event to);
  void give_back(TimelineEntry& entry);
  /// Waits for an event while other threads go on: what lies before it on its device may be a collective that they have
  /// yet to call.
  void await(std::unique_lock<std::mutex>& lock, Event event);

  /// The device's clock. It starts with the first piece of the device's work on the page.
  DeviceClock& clock_of(int ordinal);

  /// Sets the times of a device's entries, all but the last `left` ones, and reuses their events. Entries after one
  /// that has not ended are left. Where it waits, the lock is open, and the page may turn.
  void settle(std::unique_lock<std::mutex>& lock, int ordinal, std::size_t left);

  std::mutex mutex_;
  int page_ = 0;
  /// Of a time of CUPTI's. Since the page's begin, because doubles are coarse far from 0.
  double seconds_at(std::uint64_t ns) const { return 1e-9 * double(std::int64_t(ns - base_)); }
  std::uint64_t base_ = 0;
  std::string no_records_ = "nothing was recorded";
  struct QueuingCall {
    std::uint32_t correlation;
    std::uint32_t index;  // of the entry
  };
  std::vector<QueuingCall> calls_;
  std::vector<DeviceRecord> records_;
  std::uint32_t last_call_ = 0, last_of_pages_before_ = 0;  // correlations
  int awaited_ = 0;                                         // events that threads wait for
  std::vector<TimelineEntry> entries_;
  bool host_exchanges_ = false;
  int devices_ = 0;
  DeviceClock* clocks_ = nullptr;
  double origin_ = 0;  // the host's clock at the first piece of work; relates the bases of devices to it; with records,
                       // the page's begin
};

/// The program's timeline. Never destroyed, because work may end after main does.
TERN_API Timeline& timeline();
inline constexpr Listener timeline_listener{[](const WorkItem& item) { return timeline().begin(item); },
                                            [](TimelinePosition position) { timeline().end(position); }};

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "timeline.ipp"
#endif
