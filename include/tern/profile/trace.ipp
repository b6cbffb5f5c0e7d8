// The functions of trace.hpp that are not templates.
#pragma once
#include "trace.hpp"

namespace tern { inline namespace TERN_BUILD { namespace ledger {

TERN_COLD std::string trace() {
  const auto page = cuda::detail::timeline().read();
  std::string out =
      "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, "
      "\"args\": {\"name\": \"host\"}}";
  char row[256];
  int devices = 0;
  constexpr const char* lanes[] = {"compute", "copies beside it", "collectives"};
  std::vector<double> ends(std::size(lanes) * std::size_t(cuda::device_count()));  // of the last work on each lane
  for (const auto& entry : page.entries) {
    for (; devices <= entry.ordinal; ++devices) {
      std::snprintf(row, sizeof row,
                    ",\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"args\": {\"name\": \"cuda:%d\"}}",
                    devices + 1, devices);
      out += row;
      for (int lane = 0; lane < int(std::size(lanes)); ++lane) {
        std::snprintf(
            row, sizeof row,
            ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"args\": {\"name\": \"%s\"}}",
            devices + 1, lane, lanes[lane]);
        out += row;
      }
    }
    const bool of_host = entry.work == tern::detail::Work::wait || entry.ordinal == cuda::detail::on_host;
    int lane = entry.thread;
    if (!of_host)
      lane = entry.work == tern::detail::Work::collective ? 2 : entry.stream == cuda::detail::bind(entry.ordinal).copy;
    // Work that follows at once on a stream may seem to begin some ns early, because the driver's times are floats.
    // Viewers would take that for nesting.
    double start = entry.start, end = entry.start + entry.seconds;
    if (!of_host) {
      double& last = ends[std::size(lanes) * std::size_t(entry.ordinal) + std::size_t(lane)];
      if (start < last && start > last - 1e-7) start = last;
      if (end < start) end = start;
      last = end;
    }
    (out += ",\n{\"name\": ") += io::json_quoted(entry.name);
    std::snprintf(
        row, sizeof row,
        ", \"cat\": \"%s\", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, \"pid\": %d, \"tid\": %d, \"args\": {",
        detail::name_of(entry.work), 1e6 * start, 1e6 * (end - start), of_host ? 0 : entry.ordinal + 1, lane);
    out += row;
    if (entry.bytes) {
      std::snprintf(row, sizeof row, "\"bytes\": %llu, \"GB/s\": %.3f, \"pinned\": %s, ",
                    (unsigned long long)entry.bytes, entry.seconds > 0 ? 1e-9 * double(entry.bytes) / entry.seconds : 0,
                    entry.pinned ? "true" : "false");
      out += row;
    }
    ((out += "\"line\": ") += io::json_quoted(detail::name_of(entry.site))) += "}}";
  }
  out += "\n], \"otherData\": {\"times\": ";
  out += page.no_records.empty() ? "\"cupti\"" : "\"events\", \"no_records\": " + io::json_quoted(page.no_records);
  return out += "}}\n";
}

TERN_COLD void write_trace(const std::string& path, CallSite here) { io::write_file_atomically(path, trace(), here); }

}}}  // namespace tern::ledger
