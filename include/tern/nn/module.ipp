// The functions of module.hpp that are not templates.
#pragma once
#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {

[[gnu::noinline, gnu::cold]] TERN_INLINE ModuleBase::ModuleBase(ModuleBase&& other) noexcept
    : Registered(other), hooks_(std::exchange(other.hooks_, nullptr)), training_(other.training_) {}

[[gnu::noinline, gnu::cold]] TERN_INLINE ModuleBase& ModuleBase::operator=(ModuleBase&& other) noexcept {
  std::swap(hooks_, other.hooks_);
  training_ = other.training_;
  return *this;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE ModuleBase::~ModuleBase() {
  if (hooks_) hooks_->destroy(hooks_);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void set_training(const AnyModule& module, bool on) {
  module.each([on](const detail::Member& m) {
    if (m.type) const_cast<ModuleBase*>(static_cast<const ModuleBase*>(m.base.begin))->training_ = on;
  });
}

}  // namespace tern::nn
