// Choosing a device at run time, once, in main.
#pragma once
#include <string>

#include "../device/device.hpp"

namespace tern {

/// Calls f(D{}) for the device that name says: "cpu", or "auto" for the fastest there is. Everything that f instantiates is compiled
/// for each device of the list.
template <class F>
auto with_device(const std::string& name, F&& f) {
  if (name == "cpu" || name == "auto") return f(Cpu{});
  if (name == "cuda" || name.starts_with("cuda:"))
    fail("with_device", {"'", name, "' was asked for, but this version of tern has no CUDA backend; there is cpu"});
  fail("with_device", {"there is no device '", name, "'; there are cpu and auto"});
}

}  // namespace tern
