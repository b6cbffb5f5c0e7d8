// The C functions of CUDA's driver, of NVRTC and of cuBLASLt that the library calls, declared here so that a program needs none
// of NVIDIA's headers to compile. tests/device/cuda/api.cpp holds every line against those headers.
//
// Sources: CUDA Driver API, NVRTC and cuBLAS documentation, versions 12 and 13.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tern::cuda {

using DevicePointer = unsigned long long;
using Context = struct ContextHandle*;
using Stream = struct StreamHandle*;
using MemoryPool = struct MemoryPoolHandle*;
using Event = struct EventHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using CapturedGraph = struct CapturedGraphHandle*;
using ExecutableGraph = struct ExecutableGraphHandle*;
using Status = int;  // CUresult; 0 is success

enum DeviceAttribute : int {
  multiprocessor_count = 16,
  compute_capability_major = 75,
  compute_capability_minor = 76,
};
enum MemoryPoolAttribute : int {
  pool_release_threshold = 4,
  pool_reserved_current = 5,
  pool_used_current = 7,
  pool_used_high = 8,
};
enum StreamFlag : unsigned { stream_non_blocking = 1 };
enum CaptureMode : int { capture_relaxed = 2 };
enum HostMemoryFlag : unsigned { host_memory_mapped = 2 };
enum EventFlag : unsigned { event_default = 0, event_disable_timing = 2 };

inline constexpr Status status_out_of_memory = 2, status_not_ready = 600;

/// f(name, result, arguments)
#define TERN_CUDA_DRIVER_FUNCTIONS(f)                                                                                    \
  f(cuInit, Status, (unsigned flags))                                                                                    \
  f(cuDriverGetVersion, Status, (int* version))                                                                          \
  f(cuGetErrorName, Status, (Status status, const char** name))                                                          \
  f(cuGetErrorString, Status, (Status status, const char** text))                                                        \
  f(cuDeviceGetCount, Status, (int* count))                                                                              \
  f(cuDeviceGet, Status, (int* device, int ordinal))                                                                     \
  f(cuDeviceGetName, Status, (char* name, int length, int device))                                                       \
  f(cuDeviceGetAttribute, Status, (int* value, DeviceAttribute attribute, int device))                                   \
  f(cuDeviceTotalMem_v2, Status, (std::size_t* bytes, int device))                                                       \
  f(cuDevicePrimaryCtxRetain, Status, (Context* context, int device))                                                    \
  f(cuDevicePrimaryCtxRelease_v2, Status, (int device))                                                                  \
  f(cuCtxSetCurrent, Status, (Context context))                                                                          \
  f(cuDeviceGetDefaultMemPool, Status, (MemoryPool* pool, int device))                                                   \
  f(cuMemPoolSetAttribute, Status, (MemoryPool pool, MemoryPoolAttribute attribute, void* value))                        \
  f(cuMemPoolGetAttribute, Status, (MemoryPool pool, MemoryPoolAttribute attribute, void* value))                        \
  f(cuMemPoolTrimTo, Status, (MemoryPool pool, std::size_t bytes_to_keep))                                               \
  f(cuMemAllocAsync, Status, (DevicePointer* memory, std::size_t bytes, Stream stream))                                  \
  f(cuMemFreeAsync, Status, (DevicePointer memory, Stream stream))                                                       \
  f(cuMemHostAlloc, Status, (void** memory, std::size_t bytes, unsigned flags))                                          \
  f(cuMemFreeHost, Status, (void* memory))                                                                               \
  f(cuMemcpyHtoDAsync_v2, Status, (DevicePointer to, const void* from, std::size_t bytes, Stream stream))                \
  f(cuMemcpyDtoHAsync_v2, Status, (void* to, DevicePointer from, std::size_t bytes, Stream stream))                      \
  f(cuMemcpyDtoDAsync_v2, Status, (DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream))              \
  f(cuMemcpyPeerAsync, Status,                                                                                           \
    (DevicePointer to, Context to_context, DevicePointer from, Context from_context, std::size_t bytes, Stream stream))  \
  f(cuMemsetD8Async, Status, (DevicePointer memory, unsigned char value, std::size_t count, Stream stream))              \
  f(cuStreamCreate, Status, (Stream* stream, unsigned flags))                                                            \
  f(cuStreamDestroy_v2, Status, (Stream stream))                                                                         \
  f(cuStreamSynchronize, Status, (Stream stream))                                                                        \
  f(cuStreamWaitEvent, Status, (Stream stream, Event event, unsigned flags))                                             \
  f(cuEventCreate, Status, (Event* event, unsigned flags))                                                               \
  f(cuEventRecord, Status, (Event event, Stream stream))                                                                 \
  f(cuEventQuery, Status, (Event event))                                                                                 \
  f(cuEventElapsedTime, Status, (float* milliseconds, Event start, Event end))                                           \
  f(cuEventSynchronize, Status, (Event event))                                                                           \
  f(cuEventDestroy_v2, Status, (Event event))                                                                            \
  f(cuModuleLoadData, Status, (Module* module, const void* image))                                                       \
  f(cuModuleUnload, Status, (Module module))                                                                             \
  f(cuModuleGetFunction, Status, (Function* function, Module module, const char* name))                                  \
  f(cuLaunchKernel, Status,                                                                                              \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,           \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))                           \
  f(cuStreamBeginCapture_v2, Status, (Stream stream, CaptureMode mode))                                                  \
  f(cuStreamEndCapture, Status, (Stream stream, CapturedGraph* graph))                                                   \
  f(cuGraphInstantiateWithFlags, Status,                                                                                 \
    (ExecutableGraph* executable, CapturedGraph graph, unsigned long long flags))                                        \
  f(cuGraphLaunch, Status, (ExecutableGraph executable, Stream stream))                                                  \
  f(cuGraphDestroy, Status, (CapturedGraph graph))                                                                       \
  f(cuGraphExecDestroy, Status, (ExecutableGraph executable))

using NvrtcProgram = struct NvrtcProgramHandle*;

#define TERN_NVRTC_FUNCTIONS(f)                                                                                          \
  f(nvrtcGetErrorString, const char*, (int status))                                                                      \
  f(nvrtcVersion, int, (int* major, int* minor))                                                                         \
  f(nvrtcGetNumSupportedArchs, int, (int* count))                                                                        \
  f(nvrtcGetSupportedArchs, int, (int* architectures))                                                                   \
  f(nvrtcCreateProgram, int,                                                                                             \
    (NvrtcProgram* program, const char* source, const char* name, int headers, const char* const* header_sources,        \
     const char* const* header_names))                                                                                   \
  f(nvrtcDestroyProgram, int, (NvrtcProgram* program))                                                                   \
  f(nvrtcCompileProgram, int, (NvrtcProgram program, int count, const char* const* options))                             \
  f(nvrtcGetProgramLogSize, int, (NvrtcProgram program, std::size_t* bytes))                                             \
  f(nvrtcGetProgramLog, int, (NvrtcProgram program, char* log))                                                          \
  f(nvrtcGetCUBINSize, int, (NvrtcProgram program, std::size_t* bytes))                                                  \
  f(nvrtcGetCUBIN, int, (NvrtcProgram program, char* image))                                                             \
  f(nvrtcGetPTXSize, int, (NvrtcProgram program, std::size_t* bytes))                                                    \
  f(nvrtcGetPTX, int, (NvrtcProgram program, char* text))

using CublasLt = struct CublasLtHandle*;
using MatmulDesc = struct MatmulDescHandle*;
using MatrixLayout = struct MatrixLayoutHandle*;
using MatmulPreference = struct MatmulPreferenceHandle*;
struct MatmulAlgo { std::uint64_t data[8]; };
struct MatmulHeuristic {
  MatmulAlgo algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

enum CublasCompute : int { compute_32f = 68, compute_32f_fast_tf32 = 77, compute_64f = 70 };
enum CudaType : int { type_32f = 0, type_64f = 1, type_16f = 2, type_16bf = 14 };
enum MatmulDescAttribute : int { desc_transpose_a = 3, desc_transpose_b = 4, desc_epilogue = 7, desc_bias_pointer = 8 };
enum MatrixLayoutAttribute : int { layout_batch_count = 5, layout_batch_stride = 6 };
enum MatmulPreferenceAttribute : int {
  preference_workspace_bytes = 1,
  preference_alignment_a = 5,
  preference_alignment_b = 6,
  preference_alignment_c = 7,
  preference_alignment_d = 8,
};
enum MatmulEpilogue : int { epilogue_none = 1, epilogue_bias = 4 };

#define TERN_CUBLASLT_FUNCTIONS(f)                                                                                       \
  f(cublasLtGetStatusString, const char*, (int status))                                                                  \
  f(cublasLtCreate, int, (CublasLt* handle))                                                                             \
  f(cublasLtMatmulDescCreate, int, (MatmulDesc* desc, CublasCompute compute, CudaType scale))                            \
  f(cublasLtMatmulDescDestroy, int, (MatmulDesc desc))                                                                   \
  f(cublasLtMatmulDescSetAttribute, int,                                                                                 \
    (MatmulDesc desc, MatmulDescAttribute attribute, const void* value, std::size_t bytes))                              \
  f(cublasLtMatrixLayoutCreate, int,                                                                                     \
    (MatrixLayout* layout, CudaType type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading))              \
  f(cublasLtMatrixLayoutDestroy, int, (MatrixLayout layout))                                                             \
  f(cublasLtMatrixLayoutSetAttribute, int,                                                                               \
    (MatrixLayout layout, MatrixLayoutAttribute attribute, const void* value, std::size_t bytes))                        \
  f(cublasLtMatmulPreferenceCreate, int, (MatmulPreference* preference))                                                 \
  f(cublasLtMatmulPreferenceDestroy, int, (MatmulPreference preference))                                                 \
  f(cublasLtMatmulPreferenceSetAttribute, int,                                                                           \
    (MatmulPreference preference, MatmulPreferenceAttribute attribute, const void* value, std::size_t bytes))            \
  f(cublasLtMatmulAlgoGetHeuristic, int,                                                                                 \
    (CublasLt handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b, MatrixLayout c, MatrixLayout d,                   \
     MatmulPreference preference, int asked, MatmulHeuristic* results, int* found))                                      \
  f(cublasLtMatmul, int,                                                                                                 \
    (CublasLt handle, MatmulDesc desc, const void* alpha, const void* a, MatrixLayout a_layout, const void* b,           \
     MatrixLayout b_layout, const void* beta, const void* c, MatrixLayout c_layout, void* d, MatrixLayout d_layout,      \
     const MatmulAlgo* algorithm, void* workspace, std::size_t workspace_bytes, Stream stream))

#define TERN_CUDA_POINTER(name, result, arguments) result(*name) arguments = nullptr;

/// Pointers to a library's functions, by their own names.
struct DriverFunctions {
  TERN_CUDA_DRIVER_FUNCTIONS(TERN_CUDA_POINTER)
};
struct NvrtcFunctions {
  TERN_NVRTC_FUNCTIONS(TERN_CUDA_POINTER)
};
struct CublasLtFunctions {
  TERN_CUBLASLT_FUNCTIONS(TERN_CUDA_POINTER)
};
#undef TERN_CUDA_POINTER

}  // namespace tern::cuda
