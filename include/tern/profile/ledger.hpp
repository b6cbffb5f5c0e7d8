// The ledger: every copy between host and device and every wait of the host, by the user's source line.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../device/cuda/timeline.hpp"
#include "../io/json.hpp"

namespace tern::inline TERN_BUILD::ledger {

/// Starts a new page: forgets what was listed, and lists from here on.
[[gnu::noinline, gnu::cold]] inline void start() {
  cuda::detail::timeline().turn_page();
  cuda::detail::listener = &cuda::detail::timeline_listener;
}
/// Stops listing, and forgets.
[[gnu::noinline, gnu::cold]] inline void stop() {
  cuda::detail::listener = nullptr;
  cuda::detail::timeline().turn_page();
}

/// One line of the ledger: all work of one kind that one line of the user's program caused.
struct Line {
  Work work;
  std::string site;  // file:line
  bool pinned;
  Index count = 0, bytes = 0;
  double seconds = 0;
  double overlapped = 0;  // of these, those during which the device computed
  double share = 0;       // seconds as a fraction of the page's

  /// 10^9 bytes a second; 0 for a wait.
  double gigabytes_per_second() const { return seconds > 0 ? 1e-9 * double(bytes) / seconds : 0; }
};

/// A page of the ledger.
struct Page {
  std::vector<Line> lines;  // copies and waits, most seconds first
  double seconds = 0;       // from the first piece of work until the page was read
  Index kernels = 0;
  double computing = 0;  // seconds during which a kernel ran on some device, each device's added
};

namespace detail {

inline const char* name_of(Work work) {
  constexpr const char* names[] = {"kernel", "to device", "to host", "wait"};
  return names[int(work)];
}

inline std::string name_of(const Here& site) {
  return site.line ? text({site.file, ":", Index(site.line)}) : std::string("(no line)");
}

/// When a device computed: sorted, disjoint spans, each with the seconds computed before it.
class Computing {
 public:
  struct Span {
    double begin, end, before;
  };

  [[gnu::noinline, gnu::cold]] Computing(const std::vector<cuda::detail::TimelineEntry>& entries, int ordinal) {
    for (const auto& entry : entries)
      if (entry.work == Work::kernel && entry.ordinal == ordinal)
        spans_.push_back({entry.start, entry.start + entry.seconds, 0});
    if (spans_.empty()) return;
    // qsort, because std::sort is four times the machine code.
    std::qsort(spans_.data(), spans_.size(), sizeof(Span), [](const void* a, const void* b) {
      const double x = static_cast<const Span*>(a)->begin, y = static_cast<const Span*>(b)->begin;
      return int(x > y) - int(x < y);
    });
    double before = 0;
    for (const Span& span : spans_) {
      if (count_ && span.begin <= spans_[count_ - 1].end) {
        if (span.end > spans_[count_ - 1].end) spans_[count_ - 1].end = span.end;
      } else {
        if (count_) before += spans_[count_ - 1].end - spans_[count_ - 1].begin;
        spans_[count_++] = {span.begin, span.end, before};
      }
    }
  }

  /// The seconds computed until then.
  [[gnu::noinline, gnu::cold]] double until(double time) const {
    std::size_t low = 0, high = count_;  // the first span that begins later
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (spans_[middle].begin <= time)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == 0) return 0;
    const Span& last = spans_[low - 1];
    return last.before + (time < last.end ? time : last.end) - last.begin;
  }
  double total() const { return count_ ? until(spans_[count_ - 1].end) : 0; }

 private:
  std::vector<Span> spans_;
  std::size_t count_ = 0;  // of them, once those that touch are one
};

}  // namespace detail

/// What was listed so far. Waits for the devices.
[[gnu::noinline, gnu::cold]] inline Page page() {
  const auto listed = cuda::detail::timeline().read();
  Page page;
  page.seconds = listed.seconds;
  for (int ordinal = 0; ordinal < cuda::device_count(); ++ordinal) {
    const detail::Computing device(listed.entries, ordinal);
    page.computing += device.total();
    for (const auto& entry : listed.entries) {
      if (entry.ordinal != ordinal) continue;
      if (entry.work == Work::kernel) {
        ++page.kernels;
        continue;
      }
      const std::string site = detail::name_of(entry.site);
      std::size_t i = 0;
      for (; i < page.lines.size(); ++i) {
        const Line& line = page.lines[i];
        if (line.work == entry.work && line.pinned == entry.pinned && line.site == site) break;
      }
      if (i == page.lines.size()) page.lines.push_back({entry.work, site, entry.pinned});
      Line& line = page.lines[i];
      ++line.count;
      line.bytes += Index(entry.bytes);
      line.seconds += entry.seconds;
      line.overlapped += device.until(entry.start + entry.seconds) - device.until(entry.start);
    }
  }
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    if (page.seconds > 0) page.lines[i].share = page.lines[i].seconds / page.seconds;
    for (std::size_t j = i; j > 0 && page.lines[j].seconds > page.lines[j - 1].seconds; --j)
      std::swap(page.lines[j], page.lines[j - 1]);
  }
  return page;
}

/// The copies and waits so far, most seconds first. Waits for the devices.
inline std::vector<Line> lines() { return page().lines; }

/// The page as a table.
[[gnu::noinline, gnu::cold]] inline std::string report() {
  const Page page = ledger::page();
  char row[160];
  std::snprintf(row, sizeof row, "%-10s %8s %12s %10s %6s %8s %8s  %s\n", "work", "count", "bytes", "ms", "share",
                "GB/s", "overlap", "line");
  std::string out = row;
  for (const Line& line : page.lines) {
    std::snprintf(row, sizeof row, "%-10s %8lld %12lld %10.3f %5.1f%% %8.2f %7.0f%%  ", detail::name_of(line.work),
                  (long long)line.count, (long long)line.bytes, 1e3 * line.seconds, 100 * line.share,
                  line.gigabytes_per_second(), line.seconds > 0 ? 100 * line.overlapped / line.seconds : 0);
    ((out += row) += line.site) += line.pinned ? " (pinned)\n" : "\n";
  }
  std::snprintf(row, sizeof row, "%lld kernels; computing %.3f of %.3f ms, %.1f%%\n", (long long)page.kernels,
                1e3 * page.computing, 1e3 * page.seconds, page.seconds > 0 ? 100 * page.computing / page.seconds : 0);
  return out += row;
}

/// The page as JSON: {"lines": [...], "totals": {...}}, each line of the ledger an object on a line of text, with the
/// members of Line.
[[gnu::noinline, gnu::cold]] inline std::string json() {
  const Page page = ledger::page();
  char row[320];
  std::string out = "{\"lines\": [";
  double seconds[4] = {};
  Index count[4] = {}, bytes[4] = {};
  const char* separator = "\n";
  for (const Line& line : page.lines) {
    std::snprintf(row, sizeof row,
                  ", \"work\": \"%s\", \"pinned\": %s, \"count\": %lld, \"bytes\": %lld, \"seconds\": %.9g, "
                  "\"gigabytes_per_second\": %.6g, "
                  "\"overlapped\": %.9g, \"share\": %.6g}",
                  detail::name_of(line.work), line.pinned ? "true" : "false", (long long)line.count,
                  (long long)line.bytes, line.seconds, line.gigabytes_per_second(), line.overlapped, line.share);
    (((out += separator) += "{\"line\": ") += io::json_quoted(line.site)) += row;
    separator = ",\n";
    count[int(line.work)] += line.count;
    bytes[int(line.work)] += line.bytes;
    seconds[int(line.work)] += line.seconds;
  }
  out += "],\n\"totals\": {";
  for (const Work work : {Work::to_device, Work::to_host, Work::wait}) {
    std::snprintf(row, sizeof row, "\"%s\": {\"count\": %lld, \"bytes\": %lld, \"seconds\": %.9g}, ",
                  detail::name_of(work), (long long)count[int(work)], (long long)bytes[int(work)], seconds[int(work)]);
    out += row;
  }
  std::snprintf(row, sizeof row, "\"kernel\": {\"count\": %lld, \"seconds\": %.9g}, \"seconds\": %.9g}}\n",
                (long long)page.kernels, page.computing, page.seconds);
  return out += row;
}

/// What a scope may cause on the calling thread.
struct Transfers {
  Index h2d = 0, d2h = 0, waits = 0;
};

/// This thread's copies and waits so far.
inline Transfers transfers() {
  const auto& count = tern::detail::device_events.count;
  return {count[int(Work::to_device)], count[int(Work::to_host)], count[int(Work::wait)]};
}

/// Runs f. Error if it copies or waits otherwise than expected.
template <class F>
void expect_transfers(const Transfers& expected, F&& f) {
  const Transfers before = transfers();
  f();
  const Transfers after = transfers();
  const Transfers seen{after.h2d - before.h2d, after.d2h - before.d2h, after.waits - before.waits};
  if (seen.h2d != expected.h2d || seen.d2h != expected.d2h || seen.waits != expected.waits)
    fail("expect_transfers", {"expected ", expected.h2d, " copies to the device, ", expected.d2h, " to the host and ",
                              expected.waits, " waits; there were ", seen.h2d, ", ", seen.d2h, " and ", seen.waits});
}

}  // namespace tern::ledger
