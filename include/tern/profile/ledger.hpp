// The ledger lists every copy between host and device, every wait of the host and every collective of several ranks, by
// the user's source line.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../device/cuda/timeline.hpp"
#include "../io/json.hpp"

namespace tern { inline namespace TERN_BUILD { namespace ledger {

/// Starts a new page: clears the list and begins listing.
TERN_API void start();
/// Stops listing and clears the list.
TERN_API void stop();

/// One line of the ledger: all work of one kind that one line of the user's program has caused.
struct Line {
  tern::detail::Work work;
  std::string site;  // file:line
  bool pinned;
  const char* name = "";  // of a collective: "all_reduce"; else of the kind of work
  Index count = 0, bytes = 0;
  double seconds = 0;
  double overlapped = 0;  // the part of these seconds during which the device computed; of collectives in host memory:
                          // their callers went on
  double share = 0;       // seconds as a fraction of the page's

  /// 10^9 bytes a second; 0 for a wait.
  double gigabytes_per_second() const { return seconds > 0 ? 1e-9 * double(bytes) / seconds : 0; }
};

/// All collectives together.
struct Communication {
  Index count = 0, bytes = 0;
  double seconds = 0;
  double waited = 0;  // the part of these seconds during which nothing else went on

  /// 1 - waited / seconds; 0 without a collective.
  double hidden() const { return seconds > 0 ? 1 - waited / seconds : 0; }
};

/// The content of the ledger.
struct Page {
  std::vector<Line> lines;  // copies, waits and collectives; those with the most seconds come first
  double seconds = 0;       // from the first piece of work until the page was read
  Index kernels = 0;
  double computing = 0;  // seconds during which a kernel ran, added up over the devices
  Communication communication;
  std::string no_records;  // why the times are from events and not from CUPTI's records; empty if they are from these
};

namespace detail {

inline const char* name_of(tern::detail::Work work) {
  constexpr const char* names[] = {"kernel", "to device", "to host", "wait", "collective"};
  return names[int(work)];
}

inline std::string name_of(const CallSite& site) {
  return site.line() ? tern::detail::text({site.file(), ":", Index(site.line())}) : std::string("(no line)");
}

/// The time spans in which something went on.
class TERN_API Spans {
 public:
  void add(double begin, double seconds) { spans_.push_back({begin, begin + seconds, 0}); }
  /// Ends adding: sorts the spans, and makes one of those that touch.
  void merge();

  /// The seconds within the spans until `time`.
  double until(double time) const;
  /// The seconds of a piece of work that lie within the spans: also after rounding none, all, or a part of its own.
  double within(const cuda::detail::TimelineEntry& entry) const {
    const double seconds = until(entry.start + entry.seconds) - until(entry.start);
    return seconds < 0 ? 0 : seconds < entry.seconds ? seconds : entry.seconds;
  }
  double total() const { return spans_.empty() ? 0 : until(spans_.back().end); }

 private:
  struct Span {
    double begin, end, before;  // before: the seconds of the spans before it
  };
  std::vector<Span> spans_;
};

}  // namespace detail

/// The page so far. Waits for the devices.
TERN_API Page page();

/// The copies, waits and collectives so far; those with the most seconds come first. Waits for the devices.
inline std::vector<Line> lines() { return page().lines; }

/// What a device did since the page was begun. An instant at which several kernels run counts for the one that began
/// first.
struct DeviceParts {
  double seconds[int(tern::detail::Phase::other) + 1] =
      {};                // in kernels and collectives, by the part of a step that queued them
  double transfers = 0;  // in copies from and to the host while nothing was computed

  double busy() const {
    double sum = transfers;
    for (const double part : seconds) sum += part;
    return sum;
  }
};

/// The parts so far of a device's work. Waits for the devices.
TERN_API DeviceParts device_parts(int ordinal);

/// The collectives so far, of all ranks of this process. Waits for the devices.
inline Communication communication() { return page().communication; }

/// The page as a table of copies and waits and, if there are any, one of collectives.
TERN_API std::string report();

/// The page as JSON: {"lines": [...], "totals": {...}}. Each line of the ledger is an object with Line's members, on
/// its own line of text.
TERN_API std::string json();

/// The copies and waits that a scope may cause on the calling thread.
struct Transfers {
  Index h2d = 0, d2h = 0, waits = 0;
};

/// The copies and waits of this thread so far.
inline Transfers transfers() {
  const auto& count = tern::detail::device_events.count;
  return {count[int(tern::detail::Work::to_device)], count[int(tern::detail::Work::to_host)],
          count[int(tern::detail::Work::wait)]};
}

/// Runs f. Error if its copies or waits differ from the expected ones.
template <class F>
void expect_transfers(const Transfers& expected, F&& f, CallSite here = {}) {
  const Transfers before = transfers();
  f();
  const Transfers after = transfers();
  const Transfers seen{after.h2d - before.h2d, after.d2h - before.d2h, after.waits - before.waits};
  if (seen.h2d != expected.h2d || seen.d2h != expected.d2h || seen.waits != expected.waits)
    Error::fail({"expect_transfers", here},
                {"expected ", expected.h2d, " copies to the device, ", expected.d2h, " to the host and ",
                 expected.waits, " waits; there were ", seen.h2d, ", ", seen.d2h, " and ", seen.waits});
}

}}}  // namespace tern::ledger

#ifndef TERN_COMPILED
#include "ledger.ipp"
#endif
