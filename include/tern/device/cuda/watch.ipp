// The functions of watch.hpp that are not templates.
#pragma once
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "../../core/clock.hpp"
#include "watch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

struct WatchList {
  std::mutex mutex;
  std::vector<const Watch*> all;
  std::atomic<int> count{0};
};

TERN_COLD WatchList& watch_list() {
  static WatchList& list = *new WatchList;
  return list;
}

TERN_COLD Watch::Watch(std::function<void(int ordinal)> check) : check_(std::move(check)) {
  WatchList& list = watch_list();
  const std::lock_guard lock(list.mutex);
  list.all.push_back(this);
  ++list.count;
}

TERN_COLD Watch::~Watch() {
  WatchList& list = watch_list();
  const std::lock_guard lock(list.mutex);
  list.all.erase(std::find(list.all.begin(), list.all.end(), this));
  --list.count;
}

/// Returns when query() says something else than not ready. Errors come then, because the device may use what the
/// caller has on its stack.
template <class Query>
void watch_until(int ordinal, const Query& query) {
  WatchList& list = watch_list();
  constexpr double millisecond = 1e-3;
  std::exception_ptr problem;
  const double start = tern::detail::now();
  for (double checked = start; list.count && query() == status_not_ready;) {
    if (tern::detail::now() - start < millisecond) {
      sched_yield();
      continue;
    }
    usleep(100);
    if (tern::detail::now() - checked < millisecond) continue;
    const std::lock_guard lock(list.mutex);
    try {
      for (const Watch* const watch : list.all) watch->check(ordinal);
    } catch (...) {
      if (!problem) problem = std::current_exception();
    }
    checked = tern::detail::now();
  }
  if (problem) std::rethrow_exception(problem);
}

TERN_NOINLINE DriverStatus wait_for_work(int ordinal, StreamHandle stream) {
  watch_until(ordinal, [stream] { return driver().functions.cuStreamQuery(stream); });
  return driver().functions.cuStreamSynchronize(stream);
}

TERN_NOINLINE DriverStatus wait_for_event(int ordinal, Event event) {
  watch_until(ordinal, [event] { return driver().functions.cuEventQuery(event); });
  return driver().functions.cuEventSynchronize(event);
}

}}}  // namespace tern::cuda::detail
