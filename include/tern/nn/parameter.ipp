// The functions of parameter.hpp that are not templates.
#pragma once
#include "parameter.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD Original::Original(const AnyTensor& learned, const AnyTensor& rounded, const Ops& ops)
    : learned_(learned), rounded_(rounded), ops_(ops), learned_version_(learned.impl()->owner->version),
      rounded_version_(rounded.impl()->owner->version) {}

TERN_COLD void Original::use_rounded() {
  if (is_used_) return;
  is_used_ = true;
  convert({this});
}

TERN_COLD void check_replaced(const tern::detail::TensorImpl* parameter) {
  if (parameter && !parameter->refs.unique())
    Error::fail("nn::Parameter", {"a tensor replaces a parameter that others hold, such as an optimiser: write its "
                                  "elements, p.copy_(x), or make a new one of it, p = nn::Parameter<D, T>(x)"});
}

TERN_INLINE void Original::convert(const std::vector<Original*>& originals) {
  const NoGradGuard off;
  originals[0]->ops_.round(originals.data(), originals.size());
  for (Original* const o : originals) {
    o->learned_version_ = o->learned_.impl()->owner->version;
    o->rounded_version_ = o->rounded_.impl()->owner->version;
    o->is_current_ = !tern::detail::capture;
  }
}

TERN_INLINE bool Original::is_stale() const {
  const tern::detail::TensorImpl* const to = rounded_.impl();
  if (to->owner->version != rounded_version_)
    Error::fail("Mixed",
                {"the 16-bit copy of a weight ", to->shape(), " was written; write the float that parameters() lists"});
  return !is_current_ || tern::detail::capture || learned_.impl()->owner->version != learned_version_;
}

TERN_INLINE void Original::record() const {
  const tern::detail::TensorImpl* const from = learned_.impl();
  tern::detail::TensorImpl* const to = rounded_.impl();
  if (!from->node && to->node) tern::detail::release_node(std::exchange(to->node, nullptr));  // it was frozen
  if (from->node) ops_.record(*this);
}

TERN_NOINLINE void Original::refresh(const std::vector<std::shared_ptr<Original>>& all) {
  std::vector<Original*> stale;
  for (const auto& original : all)
    if (original->is_used_ && original->is_stale()) stale.push_back(original.get());
  while (!stale.empty()) {
    std::vector<Original*> alike, others;
    for (Original* const o : stale) {
      const bool same =
          &o->ops_ == &stale[0]->ops_ && o->learned_.impl()->ordinal == stale[0]->learned_.impl()->ordinal;
      (same ? alike : others).push_back(o);
    }
    convert(alike);
    stale.swap(others);
  }
  for (const auto& original : all)
    if (original->is_used_) original->record();
}

}}}  // namespace tern::nn::detail
