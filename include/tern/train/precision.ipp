// The functions of precision.hpp that are not templates.
#pragma once
#include "../backend/cpu/onednn/onednn.hpp"
#include "../device/device.hpp"
#include "precision.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

TERN_COLD bool has_bfloat16() { return tern::detail::onednn::has_bfloat16(); }

}  // namespace detail

TERN_COLD void check_precision(const std::string& precision, const char* device) {
  check_choice("--precision", precision, {"f32", "bf16", "f16", "bf16-weights"});
  if (precision == "f16" && device == std::string(DeviceTraits<Cpu>::name))
    fail("options", {"--precision f16 is not for the CPU: its kernels use no processor's instructions for half, they "
                     "convert it and compute "
                     "in float, slower than f32; take bf16 or a GPU"});
}

TERN_COLD std::string precision_note(const std::string& precision, const char* device, bool has_bfloat16) {
  if (!precision.starts_with("bf16") || device != std::string(DeviceTraits<Cpu>::name) || has_bfloat16) return "";
  return tern::detail::text({"--precision ", precision,
                             " is slower than f32 on this processor: oneDNN finds neither AVX512-BF16 nor AMX.\n"});
}

}}}  // namespace tern::train
