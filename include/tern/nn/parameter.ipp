// The functions of parameter.hpp that are not templates.
#pragma once
#include "parameter.hpp"

namespace tern::inline TERN_BUILD::nn::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE Original::Original(const AnyTensor& learned, const AnyTensor& rounded, const Ops& ops)
    : learned_(learned), rounded_(rounded), ops_(ops), learned_version_(learned.impl()->owner->version),
      rounded_version_(rounded.impl()->owner->version) {}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Original::use_rounded() {
  if (is_used_) return;
  is_used_ = true;
  convert();
}

TERN_INLINE void Original::convert() {
  const NoGradGuard off;
  ops_.round(*this);
  learned_version_ = learned_.impl()->owner->version;
  rounded_version_ = rounded_.impl()->owner->version;
}

[[gnu::noinline]] TERN_INLINE void Original::refresh() {
  if (!is_used_) return;
  const TensorImpl* const from = learned_.impl();
  TensorImpl* const to = rounded_.impl();
  if (to->owner->version != rounded_version_)
    fail("Mixed", {"the 16-bit copy of a weight ", to->shape(), " was written; write the float that parameters() lists"});
  const bool capturing = tern::detail::capture;
  if (!is_current_ || capturing || from->owner->version != learned_version_) {
    convert();
    is_current_ = !capturing;
  }
  if (!from->node && to->node) tern::detail::release_node(std::exchange(to->node, nullptr));  // it was frozen
  if (from->node) ops_.record(*this);
}

}  // namespace tern::nn::detail
