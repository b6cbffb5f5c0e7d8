// The functions of rebuild.hpp that are not templates.
#pragma once
#include "rebuild.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD Converted::~Converted() {
  while (shared_) delete std::exchange(shared_, shared_->next);
}

TERN_COLD const AnyTensor* Converted::find(const tern::detail::TensorImpl* from) const {
  for (const auto& [known, to] : tensors_)
    if (known == from) return &to;
  return nullptr;
}

TERN_COLD void Converted::add(const tern::detail::TensorImpl* from, const AnyTensor& to) {
  tensors_.emplace_back(from, to);
}

}}}  // namespace tern::nn::detail
