// The options that this object was compiled with. All of tern stands in an inline namespace named after them,
// tern::avx2_fma_openmp for example. Objects compiled with other options have other names, so none of them calls
// another's functions and runs instructions that its processor may lack. Where they are mixed, the linker reports an
// undefined reference that names both.
#pragma once
#include <oneapi/dnnl/dnnl_version.h>

// Rounding by adding and subtracting 1.5 * 2^23, tests for NaN, masks of -infinity and compensated sums need IEEE
// arithmetic. g++ takes no word for it here: after `#pragma GCC optimize("no-fast-math")` isnan(NaN) is still false.
// clang does, which helps where a part of -ffast-math defines no macro. Its pragma holds to the end of the file that
// includes this one. It also sets -ffp-contract, which the second pragma sets back.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || __FINITE_MATH_ONLY__
#error \
    "tern needs IEEE arithmetic, not -ffast-math, -Ofast or a part of them: compile what includes it with -fno-fast-math at the end"
#elif defined(__clang__)
#pragma float_control(precise, on)
#pragma STDC FP_CONTRACT DEFAULT
#endif

#if defined(TERN_KERNEL_SET)  // a kernel set of the compiled library is built for a newer processor, but has the
                              // library's name
#define TERN_ISA sse2
#elif defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)
#define TERN_ISA avx512_vnni
#elif defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define TERN_ISA avx512
#elif defined(__AVX512F__)
#define TERN_ISA avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define TERN_ISA avx2_fma
#elif defined(__AVX2__)
#define TERN_ISA avx2
#elif defined(__AVX__)
#define TERN_ISA avx
#elif defined(__SSE4_2__)
#define TERN_ISA sse4_2
#elif defined(__SSE2__)
#define TERN_ISA sse2
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 512  // g++ -msve-vector-bits=512
#define TERN_ISA sve_512
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 256
#define TERN_ISA sve_256
#elif defined(__ARM_FEATURE_SVE)
#define TERN_ISA sve
#elif defined(__ARM_NEON)
#define TERN_ISA neon
#else
#define TERN_ISA generic
#endif

// tern::compiled is built for any x86-64 processor, with OpenMP. A file with other options has other names (below) and
// cannot call it. For such a file TERN_COMPILED does not count: the headers alone give it everything. TERN_SAME_OPTIONS
// says that the library was compiled with the options of this file.
#if defined(TERN_COMPILED) && !defined(TERN_KERNEL_SET) && !defined(TERN_SAME_OPTIONS) && \
    (defined(__SSE4_2__) || !defined(_OPENMP))
#undef TERN_COMPILED
#endif

// The library comes in two forms. X.hpp holds declarations and templates; X.ipp, where compiling it costs a program
// something, defines the functions that are not templates. By default X.hpp includes X.ipp, and every function is
// inline. With TERN_COMPILED it does not: tern.cpp, which is compiled once, holds these definitions and the instances
// of templates that most programs use.
#if defined(TERN_COMPILING)
#define TERN_INLINE
#else
#define TERN_INLINE inline
#endif
// The same for a function that is not worth its code at each call, and for one that is called seldom or on an error.
#define TERN_NOINLINE [[gnu::noinline]] TERN_INLINE
#define TERN_COLD [[gnu::noinline, gnu::cold]] TERN_INLINE

// Stands before a virtual function that a .ipp defines. In a header-only program the first such function of a class
// (the ABI's key function) is inline. Otherwise every file that includes the header would compile the class's virtual
// functions and all that they call.
#if defined(TERN_COMPILED) || defined(TERN_COMPILING)
#define TERN_KEY
#else
#define TERN_KEY inline
#endif

// A symbol that a program and its shared objects share, even if they hide their own symbols.
#define TERN_API __attribute__((visibility("default")))

// tern.cpp holds the CPU's kernels, once for each instruction set (backend/cpu/dispatch.hpp). Programs and the
// library's other parts have only their declarations.
#if (defined(TERN_COMPILED) || defined(TERN_COMPILING)) && !defined(TERN_COMPILING_KERNELS)
#define TERN_NO_KERNELS
#endif

// An instance of a function template or class template that tern.cpp holds. Those for Cuda count where tern/cuda.hpp
// was included before (device/cuda/traits.hpp).
#if defined(TERN_COMPILING_INSTANCES)
#define TERN_INSTANCE(...) template TERN_API __VA_ARGS__;
#define TERN_CLASS_INSTANCE(...) template struct TERN_API __VA_ARGS__;
#elif defined(TERN_COMPILED) || defined(TERN_COMPILING)
#define TERN_INSTANCE(...) extern template TERN_API __VA_ARGS__;
#define TERN_CLASS_INSTANCE(...) extern template struct TERN_API __VA_ARGS__;
#else
#define TERN_INSTANCE(...)
#define TERN_CLASS_INSTANCE(...)
#endif
#define TERN_CUDA_INSTANCE(...)
#define TERN_CUDA_CLASS_INSTANCE(...)

#if defined(_OPENMP)
#define TERN_THREADING openmp
#else
#define TERN_THREADING serial
#endif

#define TERN_JOIN_(a, b) a##_##b
#define TERN_JOIN(a, b) TERN_JOIN_(a, b)
#if defined(TERN_SEPARATE_BLOCKS)  // see device/memory.hpp
#define TERN_BUILD TERN_JOIN(TERN_JOIN(TERN_ISA, TERN_THREADING), separate_blocks)
#else
#define TERN_BUILD TERN_JOIN(TERN_ISA, TERN_THREADING)
#endif

// The macros that remain defined after tern's headers (tests/public_names checks the list). All others end in the file
// that uses them.
//   of programs:              TERN_FIELDS TERN_FIELDS_AS TERN_NAMED_FIELDS (nn/module.hpp), TERN_UNARY
//                             (ops/support/pointwise.hpp), TERN_VERSION TERN_VERSION_MAJOR TERN_VERSION_MINOR
//                             TERN_VERSION_PATCH
//   of ops and layers:        TERN_BUILD TERN_API TERN_INLINE TERN_NOINLINE TERN_COLD TERN_KEY TERN_INSTANCE
//                             TERN_CLASS_INSTANCE TERN_CUDA_INSTANCE TERN_CUDA_CLASS_INSTANCE TERN_REFUSED
//                             TERN_SAME_PLACE TERN_OF_FLOATS TERN_LOSS_WITH_WEIGHT TERN_NAMED_TUPLE
//                             TERN_LOSS_WITH_REDUCTION
//                             TERN_NAMED_TUPLE_SIZE TERN_UNARY_BY_HAND TERN_UNARY_IN_PLACE
//                             TERN_MODULE_METHODS TERN_MODULE_CLASS TERN_LAYER TERN_LAYER_AS TERN_NAMED_LAYER
//                             TERN_OPTIMIZER TERN_FOR_EACH
//   of devices:               TERN_CUDA TERN_CUDA_RELEASE TERN_CUBLASLT TERN_NVRTC TERN_KERNEL_STRUCT
//                             TERN_LIBRARY_KERNEL TERN_PART_KERNEL TERN_KERNEL_IN_LIBRARY, and the tables of NVIDIA's
//                             functions, which tests read: TERN_CUDA_DRIVER_FUNCTIONS TERN_NVRTC_FUNCTIONS
//                             TERN_CUBLASLT_FUNCTIONS TERN_CUDNN_FUNCTIONS TERN_CUDNN_GRAPH_FUNCTIONS
//                             TERN_NCCL_FUNCTIONS TERN_NVTX_FUNCTIONS TERN_CUPTI_FUNCTIONS
//   that those expand to:     TERN_ISA TERN_THREADING TERN_JOIN TERN_JOIN_ TERN_STRINGIFY TERN_STRINGIFY_ TERN_DOTTED
//                             TERN_CALLS_ TERN_FIELD_REBUILD_ TERN_FIELD_VISIT_ TERN_NAMED_LAYER_AS_ TERN_PARENTHESES
//                             and the steps TERN_EXPAND… TERN_FOR_EACH_…
//   of the compiled library:  TERN_COMPILED TERN_NO_KERNELS
#define TERN_STRINGIFY_(x) #x
#define TERN_STRINGIFY(x) TERN_STRINGIFY_(x)

// The library's version, as numbers for #if and as text. CMakeLists.txt reads it here.
#define TERN_VERSION_MAJOR 0
#define TERN_VERSION_MINOR 2
#define TERN_VERSION_PATCH 0
#define TERN_DOTTED(major, minor, patch) TERN_STRINGIFY(major) "." TERN_STRINGIFY(minor) "." TERN_STRINGIFY(patch)
#define TERN_VERSION TERN_DOTTED(TERN_VERSION_MAJOR, TERN_VERSION_MINOR, TERN_VERSION_PATCH)

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// What this object was compiled for.
struct BuildInfo {
  const char* version = TERN_VERSION;
  const char* instruction_set = TERN_STRINGIFY(TERN_ISA);
#if defined(__clang__)
  const char* compiler = "clang " __clang_version__;
#else
  const char* compiler = "g++ " __VERSION__;
#endif
  const char* onednn = TERN_DOTTED(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
};
}  // namespace detail

/// The library's version, the instruction set and the compiler of the calling object, and the oneDNN whose headers it
/// was compiled with.
constexpr detail::BuildInfo build_info() { return {}; }

}}  // namespace tern
