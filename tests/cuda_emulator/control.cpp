#include "control.hpp"

#include "call.hpp"
#include "settings.hpp"
#include "state.hpp"

using namespace emulator;

extern "C" {

int tern_emulator_set(const char* settings) {
  const std::lock_guard lock(state().mutex);
  return !apply_settings(settings).empty();
}

void tern_emulator_fail(const char* function, std::uint64_t nth, int code) {
  const std::lock_guard lock(state().mutex);
  fail_call(function, nth, code);
}

std::uint64_t tern_emulator_calls(const char* function) {
  const std::lock_guard lock(state().mutex);
  return call_count(function);
}

std::int64_t tern_emulator_live(const char* kind) {
  const std::lock_guard lock(state().mutex);
  std::int64_t sum = 0;
  for (const auto& [name, count] : state().census)
    if (!kind || name == kind) sum += count;
  return sum;
}

const char* tern_emulator_message() {
  thread_local std::string text;
  const std::lock_guard lock(state().mutex);
  text = last_message();
  return text.c_str();
}

void tern_emulator_break(int device, int code) {
  const std::lock_guard lock(state().mutex);
  state().contexts.at(static_cast<std::size_t>(device))->sticky = code;
}

std::uint64_t tern_emulator_now() {
  const std::lock_guard lock(state().mutex);
  return state().now;
}

void tern_emulator_advance(std::uint64_t ns) {
  const std::lock_guard lock(state().mutex);
  state().now += ns;
}

void tern_emulator_reset() {
  const std::lock_guard lock(state().mutex);
  reset_state();
}

}  // extern "C"
