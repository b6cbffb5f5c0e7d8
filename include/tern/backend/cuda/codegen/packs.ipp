// The functions of packs.hpp that are not templates.
#pragma once
#include "packs.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cuda_kernels {

TERN_INLINE bool are_aligned(Index elements, std::initializer_list<const Array*> arrays) {
  for (const Array* const a : arrays)
    if (a && reinterpret_cast<std::uintptr_t>(a->data) % std::uintptr_t(elements * detail::size_of(a->dtype)))
      return false;
  return true;
}

}}}  // namespace tern::backend::cuda_kernels
