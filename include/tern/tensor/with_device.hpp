// Chooses a device at run time, usually once, in main.
#pragma once
#include <string>

#include "../core/error.hpp"
#include "../device/device.hpp"

namespace tern { inline namespace TERN_BUILD {

// Not a function of tern's, but of a namespace of its own: where tern/cuda.hpp is included, too, that header's
// with_device is called, and objects of one program may differ in what they include.
namespace detail::cpu_alone {

/// Calls f(D{}) for the device called name: "cpu", "cuda", "cuda:1" …, or "auto" for a GPU if there is one. Everything
/// that f instantiates is compiled for each kind of device that is included. Without tern/cuda.hpp, or with
/// TERN_CPU_ONLY, that is the CPU, and "cuda" is an Error. f's thread makes new tensors on that device.
template <class F>
auto with_device(const std::string& name, F&& f) {
  if (name != "cpu" && name != "auto")
    Error::fail("with_device",
                {"'", name,
                 "' was asked for, but this program was compiled for the CPU alone, with TERN_CPU_ONLY or without "
                 "tern/cuda.hpp"});
  return f(Cpu{});
}

}  // namespace detail::cpu_alone

using detail::cpu_alone::with_device;

}}  // namespace tern
