// The ledger: every copy between host and device and every wait of the host, by the user's source line.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../device/cuda/timeline.hpp"

namespace tern::ledger {

/// Starts a new page: forgets what was listed, and lists from here on.
[[gnu::noinline, gnu::cold]] inline void start() {
  delete cuda::detail::timeline.exchange(new cuda::detail::Timeline);
}
/// Stops listing, and forgets.
[[gnu::noinline, gnu::cold]] inline void stop() { delete cuda::detail::timeline.exchange(nullptr); }

/// One line of the ledger: all work of one kind that one line of the user's program caused.
struct Line {
  Work work;
  std::string site;      // file:line
  bool pinned;
  Index count = 0, bytes = 0;
  double seconds = 0;    // the device's for copies, the host's for waits
  double overlapped = 0; // of these, those during which a kernel ran

  /// 10^9 bytes a second; 0 for a wait.
  double gigabytes_per_second() const { return seconds > 0 ? 1e-9 * double(bytes) / seconds : 0; }
};

namespace detail {

inline const char* name_of(Work work) {
  constexpr const char* names[] = {"kernel", "to device", "to host", "wait"};
  return names[int(work)];
}

/// All that was listed; nothing if nothing is.
inline std::vector<cuda::detail::TimelineEntry> entries() {
  cuda::detail::Timeline* const line = cuda::detail::timeline;
  return line ? line->entries() : std::vector<cuda::detail::TimelineEntry>();
}

/// The seconds of [from, to) in which one of the sorted, disjoint spans runs.
inline double covered(const std::vector<std::pair<double, double>>& spans, double from, double to) {
  double sum = 0;
  for (const auto& [begin, end] : spans) sum += std::max(0.0, std::min(end, to) - std::max(begin, from));
  return sum;
}

}  // namespace detail

/// The copies and waits so far, most seconds first. Waits for the devices.
[[gnu::noinline, gnu::cold]] inline std::vector<Line> lines() {
  const auto entries = detail::entries();
  std::vector<std::pair<double, double>> kernels;
  for (const auto& entry : entries)
    if (entry.work == Work::kernel) kernels.emplace_back(entry.start, entry.start + entry.seconds);
  std::sort(kernels.begin(), kernels.end());
  std::size_t merged = 0;
  for (const auto& kernel : kernels) {
    if (merged && kernel.first <= kernels[merged - 1].second) kernels[merged - 1].second = std::max(kernels[merged - 1].second, kernel.second);
    else kernels[merged++] = kernel;
  }
  kernels.resize(merged);
  std::vector<Line> lines;
  for (const auto& entry : entries) {
    if (entry.work == Work::kernel) continue;
    const std::string site = entry.site.line ? text({entry.site.file, ":", Index(entry.site.line)}) : std::string("(no line)");
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) {
      return l.work == entry.work && l.pinned == entry.pinned && l.site == site;
    });
    if (line == lines.end()) line = lines.insert(line, {entry.work, site, entry.pinned});
    ++line->count;
    line->bytes += Index(entry.bytes);
    line->seconds += entry.seconds;
    line->overlapped += detail::covered(kernels, entry.start, entry.start + entry.seconds);
  }
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.seconds > b.seconds; });
  return lines;
}

/// The lines as a table.
[[gnu::noinline, gnu::cold]] inline std::string report() {
  char row[512];
  std::snprintf(row, sizeof row, "%-10s %8s %12s %10s %8s %9s  %s\n", "work", "count", "bytes", "ms", "GB/s", "overlap", "line");
  std::string out = row;
  for (const Line& line : lines()) {
    std::snprintf(row, sizeof row, "%-10s %8lld %12lld %10.3f %8.2f %8.0f%%  %s%s\n", detail::name_of(line.work), (long long)line.count,
                  (long long)line.bytes, 1e3 * line.seconds, line.gigabytes_per_second(),
                  line.seconds > 0 ? 100 * line.overlapped / line.seconds : 0, line.site.c_str(), line.pinned ? " (pinned)" : "");
    out += row;
  }
  return out;
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
    fail("expect_transfers", {"expected ", expected.h2d, " copies to the device, ", expected.d2h, " to the host and ", expected.waits,
                              " waits; there were ", seen.h2d, ", ", seen.d2h, " and ", seen.waits});
}

}  // namespace tern::ledger
