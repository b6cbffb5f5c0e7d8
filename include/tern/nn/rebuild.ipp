// The functions of rebuild.hpp that are not templates.
#pragma once
#include "rebuild.hpp"

namespace tern::inline TERN_BUILD::nn::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE Converted::~Converted() {
  while (shared_) delete std::exchange(shared_, shared_->next);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE const AnyTensor* Converted::find(const tern::detail::TensorImpl* from) const {
  for (const auto& [known, to] : tensors_)
    if (known == from) return &to;
  return nullptr;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Converted::add(const tern::detail::TensorImpl* from, const AnyTensor& to) {
  tensors_.emplace_back(from, to);
}

}  // namespace tern::nn::detail
