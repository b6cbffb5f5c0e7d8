// Queues of work, what orders them, and when they run.
#pragma once
#include "state.hpp"

namespace emulator {

/// The stream that a handle names in the current context: null and CU_STREAM_LEGACY are its legacy stream. Null, after
/// refuse(), where there is none; `status` says why.
Stream* stream_of(abi::CUstream handle, int& status);

/// Puts work behind what is in the stream (in a capture: into its graph). Returns a CUresult.
int enqueue(Stream& stream, Work work, std::vector<Point> after = {});

/// Where the stream is now.
Point end_of(Stream& stream);

/// Runs what this point depends on, and moves the host's clock there.
void wait_for(const Point& point);
void wait_for_all(Context& context);

/// Gets the stream towards its first `count` operations, as far as nothing has to be waited for that other threads or
/// processes have yet to do.
void pursue(Stream& stream, std::uint64_t count);

/// What a query does: one operation is run. True if the point had been reached before.
bool advance_towards(const Point& point);

/// Under order=random: runs an operation of some stream, or does not.
void advance_at_random();

/// Runs one piece of work; a host function without the lock.
int run_work(Work& work);

/// True if queued work uses the allocation (its address) and is not known to be done at `point`; null: wherever it is.
bool has_pending_user(std::uintptr_t allocation, const Point* point);

/// Durations in the time model.
std::uint64_t transfer_ns(std::size_t bytes, double rate, double latency_ns);

}  // namespace emulator
