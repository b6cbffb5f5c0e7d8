// The message of an Error, for tests of refusals.
#pragma once
#include <string>

#include "tern/device/cuda/copy.hpp"

namespace tern_test {

/// What the call throws, or nothing. What a kernel of the call finds is waited for.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
    if (tern::cuda::is_available()) tern::cuda::synchronize();
  } catch (const tern::Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find("; found by an earlier kernel on the device"));
  }
  return "";
}

}  // namespace tern_test
