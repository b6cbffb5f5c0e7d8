#include "streams.hpp"

#include <algorithm>
#include <cmath>

#include "activity.hpp"
#include "call.hpp"
#include "capture.hpp"
#include "settings.hpp"

namespace emulator {

namespace {

// A device takes up a bounded number of launches; a host that is further ahead waits.
constexpr std::size_t longest_queue = 1024;

void merge(Known& into, const Point& point) {
  for (const auto& [stream, count] : point.known) {
    std::uint64_t& have = into[stream];
    have = std::max(have, count);
  }
  std::uint64_t& have = into[point.stream];
  have = std::max(have, point.count);
}

// What the legacy stream's rules make a new operation wait for.
std::vector<Point> legacy_dependencies(Stream& stream) {
  std::vector<Point> after;
  Stream* legacy = stream.context->legacy;
  if (&stream == legacy) {
    for (const auto& other : state().streams)
      if (other.get() != legacy && other->blocking && other->context == stream.context && other->enqueued)
        after.push_back(end_of(*other));
  } else if (stream.blocking && legacy->enqueued) {
    after.push_back(end_of(*legacy));
  }
  return after;
}

// When the work ends, in the time model.
std::uint64_t schedule(Stream& stream, const Work& work, const std::vector<Point>& after) {
  std::uint64_t start = std::max(state().now, stream.time);
  for (const Point& point : after) start = std::max(start, point.time);
  if (work.engine == Engine::none) return start + work.ns;
  std::uint64_t& free = stream.context->engine_free[static_cast<int>(work.engine)];
  free = std::max(start, free) + work.ns;
  return free;
}

void run_until(Stream& stream, std::uint64_t count) {
  while (stream.done < count) {
    if (stream.running) {  // another thread is at its front operation
      state().changed.wait(*current_lock());
      continue;
    }
    const std::shared_ptr<Meeting> meeting = stream.queue.front().work.meeting;
    if (meeting && !stream.context->sticky && !meeting->is_over()) {
      const std::vector<Point> after = stream.queue.front().after;  // a copy: another thread may run it meanwhile
      for (const Point& point : after) run_until(*point.stream, point.count);
      meeting->arrive(abi::CUDA_SUCCESS);
      meeting->hasten();
      if (!meeting->is_over()) state().changed.wait(*current_lock());
      continue;
    }
    stream.running = true;
    Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    for (const Point& point : operation.after) run_until(*point.stream, point.count);
    // A context with an error runs nothing more; its queues only drain.
    if (!stream.context->sticky) {
      const int status = run_work(operation.work);
      if (status) stream.context->sticky = status;
    } else if (meeting) {
      meeting->arrive(stream.context->sticky);
    }
    ++stream.done;
    stream.running = false;
    state().changed.notify_all();
  }
}

// Brings about that the stream's front operation can run without waiting. False where that is for other threads or
// processes to do.
bool approach(Stream& stream) {
  const std::shared_ptr<Meeting> meeting = stream.queue.front().work.meeting;
  const std::vector<Point> after = stream.queue.front().after;
  for (const Point& point : after) {
    pursue(*point.stream, point.count);
    if (point.stream->done < point.count) return false;
  }
  if (!meeting || stream.context->sticky || meeting->is_over()) return true;
  meeting->arrive(abi::CUDA_SUCCESS);
  meeting->hasten();
  return meeting->is_over();
}

// Under order=eager: runs all that does not wait for other threads.
void run_what_can_run() {
  for (std::size_t i = 0; i < state().streams.size(); ++i) pursue(*state().streams[i], state().streams[i]->enqueued);
}

}  // namespace

void pursue(Stream& stream, std::uint64_t count) {
  if (stream.pursued) return;
  stream.pursued = true;
  while (stream.done < count && !stream.running) {
    const std::uint64_t done = stream.done;
    if (!approach(stream)) break;
    run_until(stream, done + 1);
  }
  stream.pursued = false;
}

int run_work(Work& work) {
  if (!work.calls_host) return work.run();
  std::unique_lock<std::mutex>& lock = *current_lock();
  lock.unlock();
  in_host_function() = true;
  const int status = work.run();
  in_host_function() = false;
  lock.lock();
  return status;
}

Stream* stream_of(abi::CUstream handle, int& status) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value <= 1) return current_context()->legacy;
  if (value == 2) {
    status = refuse(abi::CUDA_ERROR_NOT_SUPPORTED, "CU_STREAM_PER_THREAD is not emulated", page::null_stream);
  } else if (!is_live(handle)) {
    status = refuse(abi::CUDA_ERROR_INVALID_HANDLE, "no such stream, or it has been destroyed", page::stream);
  } else if (handle->context->sticky) {
    status = handle->context->sticky;
  } else {
    return handle;
  }
  return nullptr;
}

Point end_of(Stream& stream) { return {&stream, stream.enqueued, stream.time, stream.known}; }

int enqueue(Stream& stream, Work work, std::vector<Point> after) {
  state().now += static_cast<std::uint64_t>(settings().call_ns);
  // What a library queues is a kernel of the library's name.
  if (!work.activity.kind && (work.engine == Engine::compute || work.meeting))
    work.activity = kernel_activity(Call::current_function());
  if (stream.capture) return add_node(stream, std::move(work));
  if (const int status = refuse_implicit_dependency(stream)) return status;
  for (Point& point : legacy_dependencies(stream)) after.push_back(std::move(point));
  stream.time = schedule(stream, work, after);
  for (const Point& point : after) merge(stream.known, point);
  if (work.activity.kind) note_activity(stream, work, stream.time - work.ns, stream.time, stream.enqueued + 1);
  const std::shared_ptr<Meeting> meeting = work.meeting;
  stream.queue.push_back({std::move(work), std::move(after)});
  ++stream.enqueued;
  if (meeting) meeting->queued();
  if (settings().order == Order::eager) run_what_can_run();
  if (stream.queue.size() > longest_queue) run_until(stream, stream.enqueued - longest_queue / 2);
  return abi::CUDA_SUCCESS;
}

void wait_for(const Point& point) {
  if (!point.stream) return;
  run_until(*point.stream, point.count);
  // The stream's end is later now where another rank of a meeting came late.
  state().now = std::max(state().now, point.count == point.stream->enqueued ? point.stream->time : point.time);
}

void wait_for_all(Context& context) {
  for (std::size_t i = 0; i < state().streams.size(); ++i) {
    Stream& stream = *state().streams[i];
    if (stream.context == &context) wait_for(end_of(stream));
  }
}

bool advance_towards(const Point& point) {
  if (!point.stream || point.stream->done >= point.count) {
    state().now = std::max(state().now, point.time);
    return true;
  }
  state().now += static_cast<std::uint64_t>(settings().call_ns);
  pursue(*point.stream, point.stream->done + 1);
  return false;
}

void advance_at_random() {
  unsigned& seed = settings().seed;
  const auto draw = [&](std::size_t n) { return (seed = seed * 1664525u + 1013904223u) / 65536 % n; };
  if (state().streams.empty() || draw(4)) return;
  Stream& stream = *state().streams[draw(state().streams.size())];
  if (stream.done < stream.enqueued) pursue(stream, stream.done + 1);
}

bool has_pending_user(std::uintptr_t allocation, const Point* point) {
  for (const auto& stream : state().streams) {
    if (point && point->stream == stream.get()) continue;
    std::uint64_t known = 0;
    if (point) {
      const auto found = point->known.find(stream.get());
      if (found != point->known.end()) known = found->second;
    }
    std::uint64_t count = stream->enqueued - stream->queue.size();
    for (const Operation& operation : stream->queue) {
      const auto& uses = operation.work.uses;
      if (++count > known && std::find(uses.begin(), uses.end(), allocation) != uses.end()) return true;
    }
  }
  return false;
}

std::uint64_t transfer_ns(std::size_t bytes, double rate, double latency_ns) {
  return static_cast<std::uint64_t>(std::ceil(latency_ns + static_cast<double>(bytes) / rate));
}

}  // namespace emulator
