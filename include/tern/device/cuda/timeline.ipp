// The functions of timeline.hpp that are not templates.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "timeline.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// True for what the host itself times where there are records.
inline bool has_host_time(const WorkItem& item) {
  return item.work == tern::detail::Work::wait || item.ordinal == on_host;
}

TERN_INLINE Timeline& timeline() {
  static Timeline& instance = *new Timeline;
  return instance;
}

/// What the thread is at. Of another page: nothing.
inline thread_local constinit TimelinePosition innermost{-1, 0};

TERN_COLD void Timeline::start() {
  std::string no_records = "there is no device";
  if (is_available())
    no_records = recorder().start([](std::uint32_t correlation) { timeline().note_call(correlation); });
  if (no_records.empty()) (void)recorder().take();
  const std::lock_guard lock(mutex_);
  turn_page();
  no_records_ = no_records;
  if (no_records.empty()) base_ = recorder().now();
  origin_ = tern::detail::now();
}

TERN_COLD void Timeline::stop() {
  {
    const std::lock_guard lock(mutex_);
    turn_page();
    no_records_ = "nothing was recorded";
  }
  recorder().stop();
}

TERN_COLD void Timeline::turn_page() {
  ++page_;
  calls_.clear();
  records_.clear();
  last_of_pages_before_ = last_call_;
  for (TimelineEntry& entry : entries_) give_back(entry);
  entries_.clear();
  host_exchanges_ = false;
  for (int i = 0; i < devices_; ++i) {
    clocks_[i].forget();
    if (awaited_ == 0) clocks_[i].destroy_spares();
  }
}

TERN_COLD TimelinePosition Timeline::begin(const WorkItem& item) {
  TimelineEntry entry{item, tern::detail::thread_number()};
  std::unique_lock lock(mutex_);
  if (no_records_.empty()) {
    entry.outer = innermost;
    host_exchanges_ = host_exchanges_ || entry.ordinal == on_host;
    if (has_host_time(entry)) entry.start = host_seconds(entry);
    entries_.push_back(entry);
    return innermost = {page_, entries_.size() - 1};
  }
  // Bounds the number of events. No host gets further ahead of its device than this. It does not wait for other
  // devices, which may wait for a collective that this thread has yet to call.
  if (entry.ordinal != on_host && clocks_ && clocks_[entry.ordinal].unsettled >= most_unsettled)
    settle(lock, entry.ordinal, most_unsettled / 2);
  if (entries_.empty()) origin_ = tern::detail::now();
  if (entry.ordinal == on_host) {
    host_exchanges_ = true;
    entry.start = tern::detail::now() - origin_;
    entries_.push_back(entry);
    return {page_, entries_.size() - 1};
  }
  DeviceClock& clock = clock_of(entry.ordinal);
  if (entry.work == tern::detail::Work::wait) entry.stream = clock.stream;
  entry.begin = clock.spare_event(1);
  entry.end = clock.spare_event(0);
  TERN_CUDA(cuEventRecord, entry.begin, entry.stream);
  clock.spares -= 2;
  ++clock.unsettled;
  entries_.push_back(entry);
  return {page_, entries_.size() - 1};
}

TERN_COLD void Timeline::end(TimelinePosition position) {
  const std::lock_guard lock(mutex_);
  if (position.page != page_) return;
  TimelineEntry& entry = entries_[position.index];
  entry.ended = true;
  if (no_records_.empty()) {
    innermost = entry.outer;
    if (has_host_time(entry)) entry.seconds = host_seconds(entry) - entry.start;
    return;
  }
  if (entry.ordinal == on_host) {
    entry.seconds = tern::detail::now() - origin_ - entry.start;
    return;
  }
  // The next call reports the error. The work's duration stays unknown.
  if (const DriverStatus status = driver().functions.cuEventRecord(entry.end, entry.stream)) {
    note_failure("cuEventRecord", status);
    give_back(entry);
  }
}

TERN_COLD double Timeline::host_seconds(const WorkItem& item) const {
  return item.ordinal == on_host ? tern::detail::now() - origin_ : seconds_at(recorder().now());
}

TERN_COLD void Timeline::note_call(std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  last_call_ = correlation;
  if (innermost.page == page_) calls_.push_back({correlation, std::uint32_t(innermost.index)});
}

TERN_COLD void Timeline::wait_for_devices(std::unique_lock<std::mutex>& lock) {
  std::vector<bool> used;
  used.resize(std::size_t(device_count()));
  for (const TimelineEntry& entry : entries_)
    if (entry.ordinal != on_host) used[std::size_t(entry.ordinal)] = true;
  lock.unlock();
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    bind(int(i));
    const DeviceState& own = *system().devices[i];
    std::vector<StreamHandle> streams{own.compute, own.copy};
    for (int k = 0; k < own.streams->count; ++k)
      for (const StreamHandle stream : {own.streams->streams[k]->state.compute, own.streams->streams[k]->state.copy})
        if (stream) streams.push_back(stream);
    for (const StreamHandle stream : streams)
      if (const DriverStatus status = driver().functions.cuStreamSynchronize(stream))
        refuse("cuStreamSynchronize", status);
  }
  lock.lock();
}

TERN_COLD Timeline::Page Timeline::read_records(std::unique_lock<std::mutex>& lock) {
  const int number = page_;
  wait_for_devices(lock);
  lock.unlock();
  const std::vector<DeviceRecord> taken =
      recorder().take();  // by callbacks, which may wait for a thread that lists work
  const std::uint64_t time = recorder().now();
  lock.lock();
  Page page;
  if (number != page_) return page;
  double end_of_page = seconds_at(time);
  if (host_exchanges_) end_of_page = std::max(end_of_page, tern::detail::now() - origin_);
  for (const DeviceRecord& record : taken)  // numbers of calls rise, and start again after 2^32
    if (std::int32_t(record.correlation - last_of_pages_before_) > 0) records_.push_back(record);

  if (!calls_.empty())
    std::qsort(calls_.data(), calls_.size(), sizeof(QueuingCall), [](const void* a, const void* b) {
      const std::uint32_t x = static_cast<const QueuingCall*>(a)->correlation,
                          y = static_cast<const QueuingCall*>(b)->correlation;
      return int(x > y) - int(x < y);
    });
  constexpr std::uint64_t no_entry = ~std::uint64_t(0) >> 32;
  const auto entry_of = [&](const DeviceRecord& record) -> std::uint64_t {
    const auto found = std::lower_bound(
        calls_.begin(), calls_.end(), record.correlation,
        [](const QueuingCall& call, std::uint32_t correlation) { return call.correlation < correlation; });
    return found != calls_.end() && found->correlation == record.correlation ? found->index : no_entry;
  };
  struct Placed {
    std::uint64_t index, start;
    const DeviceRecord* record;
  };
  std::vector<Placed> placed;
  for (const DeviceRecord& record : records_) placed.push_back({entry_of(record), record.start, &record});
  if (!placed.empty())
    std::qsort(placed.data(), placed.size(), sizeof(Placed), [](const void* a, const void* b) {
      const Placed &x = *static_cast<const Placed*>(a), &y = *static_cast<const Placed*>(b);
      return x.index != y.index ? int(x.index > y.index) - int(x.index < y.index)
                                : int(x.start > y.start) - int(x.start < y.start);
    });

  std::size_t next = 0;
  for (std::size_t i = 0; i <= entries_.size(); ++i) {
    const TimelineEntry* const entry = i < entries_.size() ? &entries_[i] : nullptr;
    if (entry && entry->ended && has_host_time(*entry)) page.entries.push_back(*entry);
    bool in_collective = false, in_copy = false;
    for (; next < placed.size() && (!entry || placed[next].index == i); ++next) {
      const DeviceRecord& record = *placed[next].record;
      const double start = seconds_at(record.start), end = seconds_at(record.end);
      if (entry && entry->work == tern::detail::Work::collective && in_collective) {
        TimelineEntry& whole = page.entries.back();
        whole.seconds = std::max(whole.start + whole.seconds, end) - whole.start;
        continue;
      }
      TimelineEntry listed =
          entry ? *entry
                : TimelineEntry{{record.work, record.pinned, record.ordinal, nullptr, "", CallSite::unknown, 0}, 0};
      in_collective = entry && entry->work == tern::detail::Work::collective;
      if (!in_collective && listed.work != record.work) listed.pinned = record.pinned;
      if (!in_collective) listed.work = record.work;
      if (listed.work == tern::detail::Work::to_device || listed.work == tern::detail::Work::to_host) {
        listed.bytes = record.bytes;
        listed.further = entry && std::exchange(in_copy, true);
      }
      if (record.name && !in_collective) listed.name = record.name;
      else if (!entry || entry->work == tern::detail::Work::wait)
        listed.name = record.work == tern::detail::Work::kernel ? "fill or copy on device" : "copy";
      listed.start = start;
      listed.seconds = end - start;
      page.entries.push_back(listed);
    }
  }
  if (page.entries.empty()) return page;
  double origin = end_of_page;
  for (const TimelineEntry& entry : page.entries) origin = std::min(origin, entry.start);
  for (TimelineEntry& entry : page.entries) entry.start -= origin;
  page.seconds = end_of_page - origin;
  return page;
}

TERN_COLD Timeline::Page Timeline::read() {
  std::unique_lock lock(mutex_);
  if (no_records_.empty()) return read_records(lock);
  for (int i = 0; i < devices_; ++i) settle(lock, i, 0);
  Page page;
  page.no_records = no_records_;
  if (host_exchanges_) page.seconds = tern::detail::now() - origin_;
  for (std::size_t i = 0; i < entries_.size() && entries_[i].ended && !entries_[i].begin; ++i)
    page.entries.push_back(entries_[i]);
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

TERN_COLD double Timeline::seconds_between(Event from, Event to) {
  float milliseconds = 0;
  const DriverStatus status = driver().functions.cuEventElapsedTime(&milliseconds, from, to);
  if (status == status_not_ready) return -1;
  if (status) refuse("cuEventElapsedTime", status);
  return 1e-3 * double(milliseconds);
}

TERN_COLD void Timeline::await(std::unique_lock<std::mutex>& lock, Event event) {
  ++awaited_;
  lock.unlock();
  const DriverStatus status = driver().functions.cuEventSynchronize(event);
  lock.lock();
  --awaited_;
  if (status) refuse("cuEventSynchronize", status);
}

TERN_COLD void Timeline::give_back(TimelineEntry& entry) {
  if (!entry.begin) return;
  DeviceClock& clock = clocks_[entry.ordinal];
  clock.keep(entry.begin);
  clock.keep(entry.end);
  entry.begin = nullptr;
  --clock.unsettled;
}

TERN_COLD Timeline::DeviceClock& Timeline::clock_of(int ordinal) {
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
  clock.base_seconds = entries_.empty() ? 0 : tern::detail::now() - origin_;
  return clock;
}

TERN_COLD void Timeline::settle(std::unique_lock<std::mutex>& lock, int ordinal, std::size_t left) {
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

}}}  // namespace tern::cuda::detail
