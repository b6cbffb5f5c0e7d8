#include "state.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <chrono>
#include <thread>

#include "activity.hpp"
#include "call.hpp"
#include "folder.hpp"
#include "heap.hpp"
#include "settings.hpp"

namespace emulator {

State& state() {
  static State& s = []() -> State& {
    reload_settings();
    pthread_atfork(nullptr, nullptr, [] { state().forked = state().initialised; });
    return *new State;
  }();
  return s;
}

std::unique_lock<std::mutex>*& current_lock() {
  thread_local std::unique_lock<std::mutex>* lock = nullptr;
  return lock;
}

Context*& current_context() {
  thread_local Context* context = nullptr;
  return context;
}

void add_live(const char* kind, const void* handle, const Context* context) {
  state().live[handle] = {kind, context};
  if (kind) ++state().census[kind];
}

void remove_live(const void* handle) {
  const auto found = state().live.find(handle);
  if (found->second.kind) --state().census[found->second.kind];
  state().live.erase(found);
}

void remove_live_of(const Context& context) {
  std::vector<const void*> handles;
  for (const auto& [handle, object] : state().live)
    if (object.context == &context) handles.push_back(handle);
  for (const void* handle : handles) remove_live(handle);
}

namespace {

void spend(std::uint64_t ms) {
  state().now += 1'000'000 * ms;
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

}  // namespace

void open_library(const char* name) {
  if (settings().cold && settings().open_libraries.insert(name).second) spend(333);
}

void spend_compiling(const std::string& source) {
  if (settings().cold) spend(20 + std::hash<std::string>{}(source) % 281);
}

void reset_state() {
  State& s = state();
  reload_settings();
  for (auto& context : s.contexts) {
    context->executor.stop();
    context->retained = 0;
  }
  device_heap().clear();
  pinned_heap().clear();
  s.initialised = false;
  s.live.clear();
  s.census.clear();
  s.streams.clear();
  s.captures.clear();
  s.now = 0;
  fail_call(nullptr, 0, 0);
  forget_activity();
}

std::string library_folder() {
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&library_folder), &info);
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace emulator
