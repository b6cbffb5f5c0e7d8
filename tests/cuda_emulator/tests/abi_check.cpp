// Holds abi.hpp against NVIDIA's headers: every constant's value, and every function's result and parameters by size
// and kind. Compiles to nothing; built only where the headers are installed.
#include "../abi_functions.hpp"  // first: NVIDIA's headers make macros of some of its names

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

#include <type_traits>

namespace {

template <std::size_t bytes>
struct Structure {};

// What a calling convention sees of a type: pointers are alike, and so are an enumeration and its integer.
template <class T>
constexpr auto passed_as() {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<void*>(nullptr);
  } else if constexpr (std::is_class_v<T>) {
    return Structure<sizeof(T)>{};
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(sizeof(T) == sizeof(int));
    return int{};
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(int)) {
    return int{};
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(long long)) {
    return 0LL;
  } else {
    return T{};
  }
}

template <class T>
struct Passed {
  using type = decltype(passed_as<T>());
};
template <>
struct Passed<void> {
  using type = void;
};

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R(A...)> {
  using type = typename Passed<R>::type(typename Passed<std::remove_cv_t<A>>::type...);
};

template <class Ours, class Theirs>
constexpr bool same_abi = std::is_same_v<typename Signature<Ours>::type, typename Signature<Theirs>::type>;

}  // namespace

namespace abi {
#define SAME_FUNCTION(name, result, parameters) \
  using name##_type = result parameters;        \
  static_assert(same_abi<name##_type, std::remove_pointer_t<decltype(&::name)>>, #name);
ABI_DRIVER_FUNCTIONS(SAME_FUNCTION)
ABI_NVRTC_FUNCTIONS(SAME_FUNCTION)
ABI_CUBLASLT_FUNCTIONS(SAME_FUNCTION)
#ifdef CUDNN_MAJOR
ABI_CUDNN_FUNCTIONS(SAME_FUNCTION)
#endif
#ifdef NCCL_MAJOR
ABI_NCCL_FUNCTIONS(SAME_FUNCTION)
#endif
#ifdef CUPTI_API_VERSION
ABI_CUPTI_FUNCTIONS(SAME_FUNCTION)
#endif
}  // namespace abi

#define SAME_VALUE(name, value, ...) static_assert(static_cast<int>(name) == (value), #name);
ABI_DRIVER_ERRORS(SAME_VALUE)
ABI_DRIVER_CONSTANTS(SAME_VALUE)
ABI_NVRTC_CONSTANTS(SAME_VALUE)
ABI_CUBLASLT_CONSTANTS(SAME_VALUE)
#ifdef CUDNN_MAJOR
ABI_CUDNN_CONSTANTS(SAME_VALUE)
ABI_CUDNN_GRAPH_CONSTANTS(SAME_VALUE)
#endif
#ifdef NCCL_MAJOR
ABI_NCCL_CONSTANTS(SAME_VALUE)
#endif
#ifdef CUPTI_API_VERSION
ABI_CUPTI_ERRORS(SAME_VALUE)
ABI_CUPTI_CONSTANTS(SAME_VALUE)
#define SAME_PLACE(ours, theirs, member) \
  static_assert(offsetof(abi::ours, member) == offsetof(theirs, member), #ours "." #member);
#define SAME_COPY(ours, theirs)      \
  SAME_PLACE(ours, theirs, copyKind) \
  SAME_PLACE(ours, theirs, srcKind)  \
  SAME_PLACE(ours, theirs, dstKind)  \
  SAME_PLACE(ours, theirs, bytes)
#define SAME_RECORD(ours, theirs)    \
  SAME_PLACE(ours, theirs, start)    \
  SAME_PLACE(ours, theirs, end)      \
  SAME_PLACE(ours, theirs, deviceId) \
  SAME_PLACE(ours, theirs, streamId) \
  SAME_PLACE(ours, theirs, correlationId)
SAME_RECORD(CUpti_ActivityKernel, CUpti_ActivityKernel8)
SAME_PLACE(CUpti_ActivityKernel, CUpti_ActivityKernel8, name)
SAME_COPY(CUpti_ActivityMemcpy, CUpti_ActivityMemcpy5)
SAME_RECORD(CUpti_ActivityMemcpy, CUpti_ActivityMemcpy5)
SAME_COPY(CUpti_ActivityMemcpyPtoP, CUpti_ActivityMemcpyPtoP4)
SAME_RECORD(CUpti_ActivityMemcpyPtoP, CUpti_ActivityMemcpyPtoP4)
SAME_PLACE(CUpti_ActivityMemcpyPtoP, CUpti_ActivityMemcpyPtoP4, dstDeviceId)
SAME_RECORD(CUpti_ActivityMemset, CUpti_ActivityMemset4)
SAME_PLACE(CUpti_ActivityMemset, CUpti_ActivityMemset4, bytes)
#if CUPTI_API_VERSION >= 130202
SAME_RECORD(CUpti_ActivityKernel, CUpti_ActivityKernel11)
SAME_PLACE(CUpti_ActivityKernel, CUpti_ActivityKernel11, name)
SAME_COPY(CUpti_ActivityMemcpy, CUpti_ActivityMemcpy6)
SAME_RECORD(CUpti_ActivityMemcpy, CUpti_ActivityMemcpy6)
#endif
static_assert(sizeof(abi::CUpti_CallbackData) == sizeof(CUpti_CallbackData));
static_assert(offsetof(abi::CUpti_CallbackData, correlationId) == offsetof(CUpti_CallbackData, correlationId));
#endif

static_assert(sizeof(abi::cublasLtMatmulAlgo_t) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(abi::cublasLtMatmulHeuristicResult_t) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(abi::cublasLtMatmulHeuristicResult_t, workspaceSize) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(abi::cublasLtMatmulHeuristicResult_t, state) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));
