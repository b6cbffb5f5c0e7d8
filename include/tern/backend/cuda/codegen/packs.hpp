// Kernels that read and write several neighbouring elements at once: packs of 16 bytes.
#pragma once
#include <initializer_list>

#include "parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

// How many elements a pack has. Results do not depend on addresses, so packs that are not aligned are read and written
// by elements.
inline constexpr const char* aligned_packs_text = "enum { vector = 16 / sizeof(T0), aligned = true };\n";
inline constexpr const char* unaligned_packs_text = "enum { vector = 16 / sizeof(T0), aligned = false };\n";
inline constexpr const char* single_elements_text = "enum { vector = 1, aligned = true };\n";
inline constexpr const char* packs_text = R"CUDA(
template <class T> inline __device__ Pack<T, vector> load(const T* from) {
  if (aligned) return *(const Pack<T, vector>*)from;
  Pack<T, vector> pack;
  for (int e = 0; e < vector; ++e) pack.at[e] = from[e];
  return pack;
}
template <class T> inline __device__ void store(T* to, const Pack<T, vector>& pack) {
  if (aligned) *(Pack<T, vector>*)to = pack;
  else
    for (int e = 0; e < vector; ++e) to[e] = pack.at[e];
}
)CUDA";

/// A kernel three times: for packs, aligned or not, and for elements.
template <class P>
struct PackedKernel {
  KernelOf<P> aligned_packs, unaligned_packs, single_elements;
  constexpr PackedKernel(const char* function, const char* source, std::initializer_list<const char*> shared)
      : aligned_packs(function, source, shared, {aligned_packs_text, packs_text}),
        unaligned_packs(function, source, shared, {unaligned_packs_text, packs_text}),
        single_elements(function, source, shared, {single_elements_text, packs_text}) {}
};

/// The elements in 16 bytes.
constexpr Index pack_size(DType type) { return 16 / detail::size_of(type); }

/// Whether each array, unless it is null, lies where packs of `elements` of its elements are aligned.
inline bool are_aligned(Index elements, std::initializer_list<const Array*> arrays) {
  for (const Array* const a : arrays)
    if (a && reinterpret_cast<std::uintptr_t>(a->data) % std::uintptr_t(elements * detail::size_of(a->dtype)))
      return false;
  return true;
}

/// Launches the kernel for elements of T0 that come in packs, or not. `arrays` are those that it reads or writes in
/// packs.
template <class P>
void launch_packed(int ordinal, const PackedKernel<P>& kernel, DType type, bool in_packs,
                   std::initializer_list<const Array*> arrays, cuda::Grid grid,
                   const std::type_identity_t<P>& parameters) {
  const bool aligned = in_packs && are_aligned(pack_size(type), arrays);
  const KernelOf<P>& in_elements = in_packs ? kernel.unaligned_packs : kernel.single_elements;
  launch_typed(ordinal, aligned ? kernel.aligned_packs : in_elements, {type}, grid, parameters);
}

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
