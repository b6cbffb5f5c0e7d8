// The functions of module.hpp that are not templates.
#pragma once
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

TERN_COLD ModuleBase::ModuleBase(ModuleBase&& other) noexcept
    : Registered(other), hooks_(std::exchange(other.hooks_, nullptr)), training(other.training) {}

TERN_COLD ModuleBase& ModuleBase::operator=(ModuleBase&& other) noexcept {
  std::swap(hooks_, other.hooks_);
  training = other.training;
  return *this;
}

TERN_COLD ModuleBase::~ModuleBase() {
  if (hooks_) hooks_->destroy(hooks_);
}

TERN_COLD void set_training(const AnyModule& module, bool on) {
  module.each([on](const detail::Member& m) {
    if (m.type) const_cast<ModuleBase*>(static_cast<const ModuleBase*>(m.base.begin))->training = on;
  });
}

}}}  // namespace tern::nn
