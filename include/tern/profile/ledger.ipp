// The functions of ledger.hpp that are not templates.
#pragma once
#include "ledger.hpp"

namespace tern::inline TERN_BUILD::ledger {

[[gnu::noinline, gnu::cold]] TERN_INLINE void start() {
  cuda::detail::timeline().turn_page();
  cuda::detail::listener = &cuda::detail::timeline_listener;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void stop() {
  cuda::detail::listener = nullptr;
  cuda::detail::timeline().turn_page();
}

}  // namespace tern::ledger

namespace tern::inline TERN_BUILD::ledger::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE Computing::Computing(const std::vector<cuda::detail::TimelineEntry>& entries, int ordinal) {
  for (const auto& entry : entries)
    if (entry.work == Work::kernel && entry.ordinal == ordinal)
      spans_.push_back({entry.start, entry.start + entry.seconds, 0});
  if (spans_.empty()) return;
  // qsort, because std::sort would be four times as much machine code.
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

[[gnu::noinline, gnu::cold]] TERN_INLINE double Computing::until(double time) const {
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

}  // namespace tern::ledger::detail

namespace tern::inline TERN_BUILD::ledger {

[[gnu::noinline, gnu::cold]] TERN_INLINE Page page() {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string report() {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE std::string json() {
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

}  // namespace tern::ledger
