#include "call.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>

#include "settings.hpp"
#include "streams.hpp"

namespace emulator {

namespace {

struct Plan {
  std::string function;
  unsigned long nth = 0;
  int code = 0;
  std::map<const char*, unsigned long> calls;  // by __func__, which is one pointer for each function
  unsigned long all = 0;
  std::string message;
};

Plan& plan() {
  static Plan& p = *new Plan;
  return p;
}

thread_local const char* function_name = "";

void say(const std::string& text) {
  plan().message = text;
  if (!settings().quiet) std::fprintf(stderr, "[cuda emulator] %s\n", text.c_str());
}

// Where a refusal stands, for tests/refusals.
void record(const char* file, int line) {
  if (!settings().log.empty()) std::ofstream(settings().log, std::ios::app) << file << ':' << line << '\n';
}

// Whether this is the call that a test wants to fail.
bool planned(const char* function) {
  Plan& p = plan();
  const unsigned long count = ++p.calls[function];
  ++p.all;
  return p.nth && (p.function == "*" ? p.all == p.nth : p.function == function && count == p.nth);
}

}  // namespace

Call::Call(const char* function, int failure, unsigned traits) : traced_(function) {
  outer_ = current_lock();  // of the call that runs a host function which calls this
  lock_ = std::unique_lock(state().mutex);
  current_lock() = &lock_;
  function_name = function;
  if (in_host_function()) {
    status_ = refuse(abi::CUDA_ERROR_NOT_PERMITTED, "a host function must not call CUDA", page::launch);
    return;
  }
  const bool fails = planned(function);
  const int early = prerequisites(traits);
  const int code = early ? early : fails ? (plan().code ? plan().code : failure) : 0;
  // Where there is no context at all, there is nothing to release either.
  const bool has_driver = !(traits & (initialised | context)) || state().initialised;
  const bool has_context = !(traits & context) || (current_context() && current_context()->retained);
  if (traits & releases && code && has_driver && has_context) {
    late_ = code;
  } else {
    status_ = code;
  }
  if (!status_ && settings().order == Order::random) advance_at_random();
}

Call::~Call() {
  current_lock() = outer_;
  lock_.unlock();  // before a subscriber is told
}

int Call::prerequisites(unsigned traits) const {
  if (!(traits & (initialised | context))) return 0;
  if (state().forked)
    return refuse(abi::CUDA_ERROR_NOT_INITIALIZED, "in a forked child of a process that uses CUDA", page::initialize);
  if (!state().initialised)
    return refuse(abi::CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called", page::initialize);
  if (!(traits & context)) return 0;
  const Context* current = current_context();
  if (!current || !current->retained)
    return refuse(abi::CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context", page::context);
  return current->sticky;
}

const char* Call::current_function() { return function_name; }

int refuse(int code, const std::string& reason, const char* page, const char* file, int line) {
  record(file, line);
  say(std::string(function_name) + ": " + reason + " (" + page + ")");
  return code;
}

int fault(int code, const std::string& reason, const char* file, int line) {
  record(file, line);
  say("found in " + std::string(function_name) + ": " + reason);
  return code;
}

const std::string& last_message() { return plan().message; }

void fail_call(const char* function, unsigned long nth, int code) {
  Plan& p = plan();
  p.function = function ? function : "*";
  p.nth = nth;
  p.code = code;
  p.calls.clear();
  p.all = 0;
}

unsigned long call_count(const char* function) {
  Plan& p = plan();
  if (!function) return p.all;
  for (const auto& [name, count] : p.calls)
    if (!std::strcmp(name, function)) return count;
  return 0;
}

bool& in_host_function() {
  thread_local bool in = false;
  return in;
}

std::string hex(std::uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace emulator
