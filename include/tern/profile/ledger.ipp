// The functions of ledger.hpp that are not templates.
#pragma once
#include <cstring>

#include "ledger.hpp"

namespace tern { inline namespace TERN_BUILD { namespace ledger {

TERN_COLD void start() {
  cuda::detail::timeline().start();
  cuda::detail::listener = &cuda::detail::timeline_listener;
}

TERN_COLD void stop() {
  cuda::detail::listener = nullptr;
  cuda::detail::timeline().stop();
}

}}}  // namespace tern::ledger

namespace tern { inline namespace TERN_BUILD { namespace ledger::detail {

TERN_COLD void Spans::merge() {
  if (spans_.empty()) return;
  // qsort, because std::sort would be four times as much machine code.
  std::qsort(spans_.data(), spans_.size(), sizeof(Span), [](const void* a, const void* b) {
    const double x = static_cast<const Span*>(a)->begin, y = static_cast<const Span*>(b)->begin;
    return int(x > y) - int(x < y);
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < spans_.size(); ++i) {
    const Span span = spans_[i];
    Span& before = spans_[last];
    if (span.begin > before.end) spans_[++last] = {span.begin, span.end, before.before + before.end - before.begin};
    else if (span.end > before.end) before.end = span.end;
  }
  spans_.resize(last + 1);
}

TERN_COLD double Spans::until(double time) const {
  std::size_t low = 0, high = spans_.size();  // the first span that begins later
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (spans_[middle].begin <= time) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return 0;
  const Span& last = spans_[low - 1];
  return last.before + (time < last.end ? time : last.end) - last.begin;
}

}}}  // namespace tern::ledger::detail

namespace tern { inline namespace TERN_BUILD { namespace ledger {

TERN_COLD Page page() {
  const auto listed = cuda::detail::timeline().read();
  Page page;
  page.seconds = listed.seconds;
  page.no_records = listed.no_records;
  std::vector<detail::Spans> computing,
      standing;  // of each device; of each thread of the host, for collectives in host memory
  computing.resize(std::size_t(cuda::device_count()));
  for (const auto& entry : listed.entries) {
    if (entry.work == tern::detail::Work::kernel) {
      computing[std::size_t(entry.ordinal)].add(entry.start, entry.seconds);
      ++page.kernels;
    } else if (entry.ordinal == cuda::detail::on_host) {
      const std::size_t thread = std::size_t(entry.thread), caller = std::size_t(entry.caller);
      if (standing.size() <= thread || standing.size() <= caller)
        standing.resize(1 + (thread > caller ? thread : caller));
      standing[thread].add(entry.start, entry.seconds);
    }
  }
  for (detail::Spans& thread : standing) thread.merge();
  for (detail::Spans& device : computing) {
    device.merge();
    page.computing += device.total();
  }
  for (const auto& entry : listed.entries) {
    if (entry.work == tern::detail::Work::kernel) continue;
    const std::string site = detail::name_of(entry.site);
    const char* const name = entry.work == tern::detail::Work::collective ? entry.name : detail::name_of(entry.work);
    std::size_t i = 0;
    for (; i < page.lines.size(); ++i) {
      const Line& line = page.lines[i];
      if (line.work == entry.work && line.pinned == entry.pinned && line.site == site &&
          std::strcmp(line.name, name) == 0)
        break;
    }
    if (i == page.lines.size()) page.lines.push_back({entry.work, site, entry.pinned, name});
    Line& line = page.lines[i];
    line.count += !entry.further;
    line.bytes += Index(entry.bytes);
    line.seconds += entry.seconds;
    if (entry.ordinal != cuda::detail::on_host) line.overlapped += computing[std::size_t(entry.ordinal)].within(entry);
    else if (entry.work == tern::detail::Work::collective)
      line.overlapped += entry.seconds - standing[std::size_t(entry.caller)].within(entry);
  }
  for (const Line& line : page.lines) {
    if (line.work != tern::detail::Work::collective) continue;
    page.communication.count += line.count;
    page.communication.bytes += line.bytes;
    page.communication.seconds += line.seconds;
    page.communication.waited += line.seconds - line.overlapped;
  }
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    if (page.seconds > 0) page.lines[i].share = page.lines[i].seconds / page.seconds;
    for (std::size_t j = i; j > 0 && page.lines[j].seconds > page.lines[j - 1].seconds; --j)
      std::swap(page.lines[j], page.lines[j - 1]);
  }
  return page;
}

TERN_COLD DeviceParts device_parts(int ordinal) {
  const auto listed = cuda::detail::timeline().read();
  DeviceParts parts;
  std::vector<const cuda::detail::TimelineEntry*> computing;
  detail::Spans computed, all;
  for (const auto& entry : listed.entries) {
    if (entry.ordinal != ordinal || entry.work == tern::detail::Work::wait) continue;
    all.add(entry.start, entry.seconds);
    if (entry.work != tern::detail::Work::kernel && entry.work != tern::detail::Work::collective) continue;
    computed.add(entry.start, entry.seconds);
    computing.push_back(&entry);
  }
  if (!computing.empty())
    std::qsort(computing.data(), computing.size(), sizeof computing[0], [](const void* a, const void* b) {
      const double x = (*static_cast<const cuda::detail::TimelineEntry* const*>(a))->start;
      const double y = (*static_cast<const cuda::detail::TimelineEntry* const*>(b))->start;
      return int(x > y) - int(x < y);
    });
  double counted = 0;  // until then
  for (const auto* const entry : computing) {
    const double end = entry->start + entry->seconds, from = counted > entry->start ? counted : entry->start;
    if (end <= from) continue;
    parts.seconds[int(entry->phase)] += end - from;
    counted = end;
  }
  computed.merge();
  all.merge();
  parts.transfers = all.total() - computed.total();
  return parts;
}

TERN_COLD std::string report() {
  const Page page = ledger::page();
  char row[200];
  std::snprintf(row, sizeof row, "%-10s %8s %12s %10s %6s %8s %8s  %s\n", "work", "count", "bytes", "ms", "share",
                "GB/s", "overlap", "line");
  std::string out = row;
  const auto percent = [](const Line& line) { return line.seconds > 0 ? 100 * line.overlapped / line.seconds : 0; };
  for (const Line& line : page.lines) {
    if (line.work == tern::detail::Work::collective) continue;
    std::snprintf(row, sizeof row, "%-10s %8lld %12lld %10.3f %5.1f%% %8.2f %7.0f%%  ", line.name,
                  (long long)line.count, (long long)line.bytes, 1e3 * line.seconds, 100 * line.share,
                  line.gigabytes_per_second(), percent(line));
    ((out += row) += line.site) += line.pinned ? " (pinned)\n" : "\n";
  }
  std::snprintf(row, sizeof row, "%lld kernels; computing %.3f of %.3f ms, %.1f%%\n", (long long)page.kernels,
                1e3 * page.computing, 1e3 * page.seconds, page.seconds > 0 ? 100 * page.computing / page.seconds : 0);
  out += row;
  out += page.no_records.empty() ? "times from CUPTI's records\n"
                                 : "times from events, which lengthen what they time: " + page.no_records + "\n";
  const Communication& all = page.communication;
  if (all.count == 0) return out;
  std::snprintf(row, sizeof row, "\n%-14s%5s %12s %10s %6s %8s %10s %7s  %s\n", "collective", "count", "bytes", "ms",
                "share", "GB/s", "waited ms", "hidden", "line");
  out += row;
  for (const Line& line : page.lines) {
    if (line.work != tern::detail::Work::collective) continue;
    std::snprintf(row, sizeof row, "%-14s%5lld %12lld %10.3f %5.1f%% %8.2f %10.3f %6.0f%%  ", line.name,
                  (long long)line.count, (long long)line.bytes, 1e3 * line.seconds, 100 * line.share,
                  line.gigabytes_per_second(), 1e3 * (line.seconds - line.overlapped), percent(line));
    ((out += row) += line.site) += "\n";
  }
  std::snprintf(row, sizeof row, "%lld collectives; %lld bytes in %.3f ms, waited %.3f ms, %.1f%% hidden\n",
                (long long)all.count, (long long)all.bytes, 1e3 * all.seconds, 1e3 * all.waited, 100 * all.hidden());
  return out += row;
}

TERN_COLD std::string json() {
  const Page page = ledger::page();
  char row[320];
  std::string out = "{\"lines\": [";
  double seconds[4] = {};
  Index count[4] = {}, bytes[4] = {};
  const char* separator = "\n";
  for (const Line& line : page.lines) {
    std::snprintf(
        row, sizeof row,
        ", \"work\": \"%s\", \"name\": \"%s\", \"pinned\": %s, \"count\": %lld, \"bytes\": %lld, \"seconds\": %.9g, "
        "\"gigabytes_per_second\": %.6g, "
        "\"overlapped\": %.9g, \"share\": %.6g}",
        detail::name_of(line.work), line.name, line.pinned ? "true" : "false", (long long)line.count,
        (long long)line.bytes, line.seconds, line.gigabytes_per_second(), line.overlapped, line.share);
    (((out += separator) += "{\"line\": ") += io::json_quoted(line.site)) += row;
    separator = ",\n";
    if (line.work == tern::detail::Work::collective) continue;
    count[int(line.work)] += line.count;
    bytes[int(line.work)] += line.bytes;
    seconds[int(line.work)] += line.seconds;
  }
  out += "],\n\"totals\": {";
  for (const tern::detail::Work work :
       {tern::detail::Work::to_device, tern::detail::Work::to_host, tern::detail::Work::wait}) {
    std::snprintf(row, sizeof row, "\"%s\": {\"count\": %lld, \"bytes\": %lld, \"seconds\": %.9g}, ",
                  detail::name_of(work), (long long)count[int(work)], (long long)bytes[int(work)], seconds[int(work)]);
    out += row;
  }
  const Communication& all = page.communication;
  std::snprintf(row, sizeof row,
                "\"collective\": {\"count\": %lld, \"bytes\": %lld, \"seconds\": %.9g, \"waited\": %.9g}, ",
                (long long)all.count, (long long)all.bytes, all.seconds, all.waited);
  out += row;
  std::snprintf(row, sizeof row,
                "\"kernel\": {\"count\": %lld, \"seconds\": %.9g}, \"seconds\": %.9g}, \"times\": \"%s\"",
                (long long)page.kernels, page.computing, page.seconds, page.no_records.empty() ? "cupti" : "events");
  out += row;
  if (!page.no_records.empty()) (out += ", \"no_records\": ") += io::json_quoted(page.no_records);
  return out += "}\n";
}

}}}  // namespace tern::ledger
