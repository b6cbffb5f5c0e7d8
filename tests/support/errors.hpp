// The message of an Error, for tests of refusals.
#pragma once
#include <string>

#include "tern/core/error.hpp"

namespace tern_test {

/// What the call throws, or nothing.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const tern::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tern_test
