// The message of an Error, for tests of refusals.
#pragma once
#include <cctype>
#include <string>

#include "tern/device/cuda/copy.hpp"

namespace tern_test {

/// What the call throws, whole, or nothing. What a kernel of the call finds is waited for.
template <class F>
std::string whole_error_of(const F& f) {
  try {
    f();
    if (tern::cuda::is_available()) tern::cuda::synchronize();
  } catch (const tern::Error& error) { return error.what(); }
  return "";
}

/// The line " (file:line)" at a message's end. Empty if there is none.
inline std::string line_of(const std::string& message) {
  const std::size_t start = message.rfind(" ("), colon = message.rfind(':');
  if (start == std::string::npos || colon == std::string::npos || colon < start || message.back() != ')') return "";
  for (std::size_t i = start + 2; i < message.size() - 1; ++i)
    if (i < colon ? message[i] == ' ' : i > colon && !std::isdigit(static_cast<unsigned char>(message[i]))) return "";
  return message.substr(start);
}

/// What the call throws, without the line at the end and without what only a device adds.
template <class F>
std::string error_of(const F& f) {
  std::string text = whole_error_of(f);
  text.resize(text.size() - line_of(text).size());
  return text.substr(0, text.find("; found by an earlier kernel on the device"));
}

/// Checks that the statement's Error ends with the statement's line.
#define TERN_TEST_LINE(...)               \
  CHECK(tern_test::whole_error_of([&] {   \
          static_cast<void>(__VA_ARGS__); \
        }).ends_with(std::string(" (") + (std::strrchr(__FILE__, '/') + 1) + ":" + std::to_string(__LINE__) + ")"))

}  // namespace tern_test
