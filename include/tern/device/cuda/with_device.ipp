// The functions of with_device.hpp that are not templates.
#pragma once
#include "with_device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD int cuda_ordinal(const std::string& name) {
  char* end = nullptr;
  const long ordinal = name.starts_with("cuda:") ? std::strtol(name.c_str() + 5, &end, 10) : 0;
  if (name != "cuda" && (!end || end == name.c_str() + 5 || *end || ordinal < 0 || ordinal > 255))
    Error::fail("with_device", {"there is no device '", name, "'; there are cpu, cuda, cuda:1, … and auto"});
  if (!cuda::is_available()) Error::fail("with_device", {"'", name, "' was asked for, but ", cuda::why_not()});
  return int(ordinal);
}

}}}  // namespace tern::detail
