// The C functions of CUDA's driver, NVRTC, cuBLASLt, cuDNN, NCCL and CUPTI that the library calls. They are declared
// here so that a program compiles without NVIDIA's headers. tests/device/cuda/api.cpp compares every line with those
// headers. Over 400 lines, because it is a list.
//
// Sources: the documentation of the CUDA Driver API, NVRTC and cuBLAS, versions 12 and 13; of cuDNN, version 9;
// of NCCL, version 2; of CUPTI, versions 12.0 to 13.2.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"
#include "cudnn_backend.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

using DevicePointer = unsigned long long;
using Context = struct ContextHandle*;
using StreamHandle = struct OpaqueStream*;
using MemoryPool = struct MemoryPoolHandle*;
using Event = struct EventHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using CapturedGraph = struct CapturedGraphHandle*;
using ExecutableGraph = struct ExecutableGraphHandle*;
using DriverStatus = int;  // CUresult; 0 is success

enum DeviceAttribute : int {
  multiprocessor_count = 16,
  compute_capability_major = 75,
  compute_capability_minor = 76,
};
enum MemoryPoolAttribute : int {
  pool_release_threshold = 4,
  pool_reserved_current = 5,
  pool_used_current = 7,
};
enum MemoryLocationType : int { location_device = 1 };
enum MemoryAccess : int { access_read_write = 3 };
/// What a device may do with a pool's memory.
struct PoolAccess {
  MemoryLocationType type;
  int device;
  MemoryAccess access;
};
enum FunctionAttribute : int { function_max_dynamic_shared_bytes = 8 };
enum StreamFlag : unsigned { stream_non_blocking = 1 };
enum CaptureMode : int { capture_relaxed = 2 };
enum HostMemoryFlag : unsigned { host_memory_mapped = 2 };
enum EventFlag : unsigned { event_default = 0, event_disable_timing = 2 };

inline constexpr DriverStatus status_out_of_memory = 2, status_not_ready = 600;

/// f(name, result, arguments)
#define TERN_CUDA_DRIVER_FUNCTIONS(f)                                                                                   \
  f(cuInit, DriverStatus, (unsigned flags)) f(cuDriverGetVersion, DriverStatus, (int* version)) f(                      \
      cuGetErrorName, DriverStatus,                                                                                     \
      (DriverStatus status, const char** name)) f(cuGetErrorString, DriverStatus,                                       \
                                                  (DriverStatus status, const char** text))                             \
      f(cuDeviceGetCount, DriverStatus, (int* count)) f(cuDeviceGet, DriverStatus, (int* device, int ordinal)) f(       \
          cuDeviceGetName, DriverStatus, (char* name, int length, int device)) f(cuDeviceCanAccessPeer, DriverStatus,   \
                                                                                 (int* can, int device, int peer))      \
          f(cuDeviceGetAttribute, DriverStatus, (int* value, DeviceAttribute attribute, int device)) f(                 \
              cuDeviceTotalMem_v2, DriverStatus,                                                                        \
              (std::size_t* bytes,                                                                                      \
               int device)) f(cuDevicePrimaryCtxRetain, DriverStatus, (Context * context, int device))                  \
              f(cuDevicePrimaryCtxRelease_v2, DriverStatus, (int device)) f(                                            \
                  cuCtxGetCurrent, DriverStatus,                                                                        \
                  (Context * context)) f(cuCtxSetCurrent, DriverStatus, (Context context))                              \
                  f(cuDeviceGetDefaultMemPool, DriverStatus, (MemoryPool * pool, int device)) f(                        \
                      cuMemPoolSetAttribute, DriverStatus,                                                              \
                      (MemoryPool pool, MemoryPoolAttribute attribute,                                                  \
                       void* value)) f(cuMemPoolGetAttribute, DriverStatus,                                             \
                                       (MemoryPool pool, MemoryPoolAttribute attribute, void* value))                   \
                      f(cuMemPoolSetAccess, DriverStatus,                                                               \
                        (MemoryPool pool, const PoolAccess* accesses, std::size_t count))                               \
                          f(cuMemPoolTrimTo, DriverStatus, (MemoryPool pool, std::size_t bytes_to_keep)) f(             \
                              cuMemAllocAsync, DriverStatus,                                                            \
                              (DevicePointer * memory, std::size_t bytes, StreamHandle stream))                         \
                              f(cuMemFreeAsync, DriverStatus, (DevicePointer memory, StreamHandle stream)) f(           \
                                  cuMemHostAlloc,                                                                       \
                                  DriverStatus,                                                                         \
                                  (void** memory, std::size_t bytes,                                                    \
                                   unsigned flags)) f(cuMemFreeHost, DriverStatus, (void* memory))                      \
                                  f(cuMemcpyHtoDAsync_v2, DriverStatus,                                                 \
                                    (DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream))       \
                                      f(cuMemcpyDtoHAsync_v2, DriverStatus,                                             \
                                        (void* to, DevicePointer from, std::size_t bytes, StreamHandle stream))         \
                                          f(cuMemcpyDtoDAsync_v2, DriverStatus,                                         \
                                            (DevicePointer to, DevicePointer from, std::size_t bytes,                   \
                                             StreamHandle stream)) f(cuMemcpyPeerAsync, DriverStatus,                   \
                                                                     (DevicePointer to, Context to_context,             \
                                                                      DevicePointer from, Context from_context,         \
                                                                      std::size_t bytes, StreamHandle stream))          \
                                              f(cuMemsetD8Async, DriverStatus,                                          \
                                                (DevicePointer memory, unsigned char value, std::size_t count,          \
                                                 StreamHandle stream)) f(cuStreamCreate, DriverStatus,                  \
                                                                         (StreamHandle * stream, unsigned flags))       \
                                                  f(cuStreamDestroy_v2, DriverStatus, (StreamHandle stream)) f(         \
                                                      cuStreamSynchronize, DriverStatus,                                \
                                                      (StreamHandle stream))                                            \
                                                      f(cuStreamQuery, DriverStatus, (StreamHandle stream)) f(          \
                                                          cuStreamWaitEvent, DriverStatus,                              \
                                                          (StreamHandle stream, Event event,                            \
                                                           unsigned                                                     \
                                                               flags)) f(cuEventCreate, DriverStatus,                   \
                                                                         (Event * event, unsigned flags))               \
                                                          f(cuEventRecord, DriverStatus,                                \
                                                            (Event event,                                               \
                                                             StreamHandle stream)) f(cuEventQuery, DriverStatus,        \
                                                                                     (Event event))                     \
                                                              f(cuEventElapsedTime, DriverStatus,                       \
                                                                (float* milliseconds, Event start,                      \
                                                                 Event end)) f(cuEventSynchronize, DriverStatus,        \
                                                                               (Event event))                           \
                                                                  f(cuEventDestroy_v2, DriverStatus, (Event event)) f(  \
                                                                      cuModuleLoadData,                                 \
                                                                      DriverStatus,                                     \
                                                                      (Module * module, const void* image))             \
                                                                      f(cuModuleUnload, DriverStatus,                   \
                                                                        (Module module)) f(cuModuleGetFunction,         \
                                                                                           DriverStatus,                \
                                                                                           (                            \
                                                                                               Function * function,     \
                                                                                               Module module,           \
                                                                                               const char* name))       \
                                                                          f(cuFuncSetAttribute, DriverStatus,           \
                                                                            (Function function,                         \
                                                                             FunctionAttribute                          \
                                                                                 attribute,                             \
                                                                             int value))                                \
                                                                              f(cuLaunchKernel, DriverStatus,           \
                                                                                (Function function, unsigned grid_x,    \
                                                                                 unsigned grid_y,                       \
                                                                                 unsigned grid_z,                       \
                                                                                 unsigned block_x,                      \
                                                                                 unsigned block_y,                      \
                                                                                 unsigned block_z,                      \
                                                                                 unsigned shared_bytes,                 \
                                                                                 StreamHandle stream,                   \
                                                                                 void** parameters,                     \
                                                                                 void**                                 \
                                                                                     extra)) f(cuStreamBeginCapture_v2, \
                                                                                               DriverStatus,            \
                                                                                               (                        \
                                                                                                   StreamHandle stream, \
                                                                                                   CaptureMode mode))   \
                                                                                  f(cuStreamEndCapture, DriverStatus,   \
                                                                                    (StreamHandle stream,               \
                                                                                     CapturedGraph *                    \
                                                                                         graph))                        \
                                                                                      f(cuGraphInstantiateWithFlags,    \
                                                                                        DriverStatus,                   \
                                                                                        (ExecutableGraph * executable,  \
                                                                                         CapturedGraph graph,           \
                                                                                         unsigned long long flags))     \
                                                                                          f(cuGraphLaunch,              \
                                                                                            DriverStatus,               \
                                                                                            (ExecutableGraph            \
                                                                                                 executable,            \
                                                                                             StreamHandle stream))      \
                                                                                              f(cuGraphDestroy,         \
                                                                                                DriverStatus,           \
                                                                                                (CapturedGraph graph))  \
                                                                                                  f(cuGraphExecDestroy, \
                                                                                                    DriverStatus,       \
                                                                                                    (ExecutableGraph    \
                                                                                                         executable))

using NvrtcProgram = struct NvrtcProgramHandle*;

#define TERN_NVRTC_FUNCTIONS(f)                                                                              \
  f(nvrtcGetErrorString, const char*, (int status)) f(nvrtcVersion, int, (int* major, int* minor))           \
      f(nvrtcGetNumSupportedArchs, int, (int* count)) f(nvrtcGetSupportedArchs, int, (int* architectures))   \
          f(nvrtcCreateProgram, int,                                                                         \
            (NvrtcProgram * program, const char* source, const char* name, int headers,                      \
             const char* const* header_sources, const char* const* header_names))                            \
              f(nvrtcDestroyProgram, int, (NvrtcProgram * program))                                          \
                  f(nvrtcCompileProgram, int, (NvrtcProgram program, int count, const char* const* options)) \
                      f(nvrtcGetProgramLogSize, int, (NvrtcProgram program, std::size_t* bytes))             \
                          f(nvrtcGetProgramLog, int, (NvrtcProgram program, char* log))                      \
                              f(nvrtcGetCUBINSize, int, (NvrtcProgram program, std::size_t* bytes))          \
                                  f(nvrtcGetCUBIN, int, (NvrtcProgram program, char* image))                 \
                                      f(nvrtcGetPTXSize, int, (NvrtcProgram program, std::size_t* bytes))    \
                                          f(nvrtcGetPTX, int, (NvrtcProgram program, char* text))

using CublasLt = struct CublasLtHandle*;
using MatmulDesc = struct MatmulDescHandle*;
using MatrixLayout = struct MatrixLayoutHandle*;
using MatmulPreference = struct MatmulPreferenceHandle*;
struct MatmulAlgo {
  std::uint64_t data[8];
};
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

#define TERN_CUBLASLT_FUNCTIONS(f)                                                                                    \
  f(cublasLtGetStatusString, const char*, (int status)) f(cublasLtCreate, int, (CublasLt * handle))                   \
      f(cublasLtDestroy, int, (CublasLt handle))                                                                      \
          f(cublasLtMatmulDescCreate, int, (MatmulDesc * desc, CublasCompute compute, CudaType scale))                \
              f(cublasLtMatmulDescDestroy, int, (MatmulDesc desc)) f(                                                 \
                  cublasLtMatmulDescSetAttribute, int,                                                                \
                  (MatmulDesc desc, MatmulDescAttribute attribute, const void* value, std::size_t bytes))             \
                  f(cublasLtMatrixLayoutCreate, int,                                                                  \
                    (MatrixLayout * layout, CudaType type, std::uint64_t rows, std::uint64_t columns,                 \
                     std::int64_t leading)) f(cublasLtMatrixLayoutDestroy, int, (MatrixLayout layout))                \
                      f(cublasLtMatrixLayoutSetAttribute, int,                                                        \
                        (MatrixLayout layout, MatrixLayoutAttribute attribute, const void* value, std::size_t bytes)) \
                          f(cublasLtMatmulPreferenceCreate, int, (MatmulPreference * preference))                     \
                              f(cublasLtMatmulPreferenceDestroy, int, (MatmulPreference preference))                  \
                                  f(cublasLtMatmulPreferenceSetAttribute, int,                                        \
                                    (MatmulPreference preference, MatmulPreferenceAttribute attribute,                \
                                     const void* value, std::size_t bytes))                                           \
                                      f(cublasLtMatmulAlgoGetHeuristic, int,                                          \
                                        (CublasLt handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b,            \
                                         MatrixLayout c, MatrixLayout d, MatmulPreference preference, int asked,      \
                                         MatmulHeuristic* results, int* found))                                       \
                                          f(cublasLtMatmul, int,                                                      \
                                            (CublasLt handle, MatmulDesc desc, const void* alpha, const void* a,      \
                                             MatrixLayout a_layout, const void* b, MatrixLayout b_layout,             \
                                             const void* beta, const void* c, MatrixLayout c_layout, void* d,         \
                                             MatrixLayout d_layout, const MatmulAlgo* algorithm, void* workspace,     \
                                             std::size_t workspace_bytes, StreamHandle stream))

using CudnnTensor = struct CudnnTensorHandle*;
using CudnnDropout = struct CudnnDropoutHandle*;
using CudnnRNN = struct CudnnRNNHandle*;
using CudnnRNNData = struct CudnnRNNDataHandle*;

enum CudnnMath : int { cudnn_default_math = 0, cudnn_tensor_op_math = 1, cudnn_fma_math = 3 };
enum CudnnCell : int { cudnn_rnn_tanh = 1, cudnn_lstm = 2, cudnn_gru = 3 };
enum CudnnBiases : int { cudnn_no_bias = 0, cudnn_double_bias = 2 };
enum CudnnForwardMode : int { cudnn_inference = 0, cudnn_training = 1 };
inline constexpr int cudnn_standard_algorithm = 0, cudnn_small_layer_algorithm = 3, cudnn_linear_input = 0,
                     cudnn_add_gradient = 0, cudnn_packed_sequences = 1;

#define TERN_CUDNN_FUNCTIONS(f)                                                                                        \
  f(cudnnGetVersion, std::size_t, ()) f(cudnnGetErrorString, const char*, (int status))                                \
      f(cudnnCreate, int, (Cudnn * handle)) f(cudnnDestroy, int, (Cudnn handle)) f(                                    \
          cudnnSetStream, int, (Cudnn handle, StreamHandle stream)) f(cudnnCreateTensorDescriptor, int,                \
                                                                      (CudnnTensor * descriptor))                      \
          f(cudnnDestroyTensorDescriptor, int, (CudnnTensor descriptor)) f(                                            \
              cudnnSetTensorNdDescriptor, int,                                                                         \
              (CudnnTensor descriptor, CudnnType type, int dims, const int* sizes,                                     \
               const int* strides)) f(cudnnCreateDropoutDescriptor, int, (CudnnDropout * descriptor))                  \
              f(cudnnDestroyDropoutDescriptor, int, (CudnnDropout descriptor)) f(                                      \
                  cudnnSetDropoutDescriptor, int,                                                                      \
                  (CudnnDropout descriptor, Cudnn handle, float dropout, void* states, std::size_t states_bytes,       \
                   unsigned long long seed)) f(cudnnCreateRNNDescriptor, int, (CudnnRNN * descriptor))                 \
                  f(cudnnDestroyRNNDescriptor, int, (CudnnRNN descriptor))                                             \
                      f(cudnnSetRNNDescriptor_v8, int,                                                                 \
                        (CudnnRNN descriptor, int algorithm, CudnnCell cell, CudnnBiases biases,                       \
                         int bidirectional, int input_mode, CudnnType type, CudnnType compute, CudnnMath math,         \
                         std::int32_t inputs, std::int32_t hidden, std::int32_t projected, std::int32_t layers,        \
                         CudnnDropout dropout,                                                                         \
                         std::uint32_t flags)) f(cudnnCreateRNNDataDescriptor, int, (CudnnRNNData * descriptor))       \
                          f(cudnnDestroyRNNDataDescriptor, int, (CudnnRNNData descriptor)) f(                          \
                              cudnnSetRNNDataDescriptor, int,                                                          \
                              (CudnnRNNData descriptor, CudnnType type, int layout, int steps,                         \
                               int sequences, int size, const int* lengths, void* padding))                            \
                              f(cudnnGetRNNTempSpaceSizes, int,                                                        \
                                (Cudnn handle, CudnnRNN rnn, CudnnForwardMode mode, CudnnRNNData x,                    \
                                 std::size_t* workspace_bytes, std::size_t* reserve_bytes))                            \
                                  f(cudnnGetRNNWeightSpaceSize, int, (Cudnn handle, CudnnRNN rnn, std::size_t* bytes)) \
                                      f(cudnnGetRNNWeightParams, int,                                                  \
                                        (Cudnn handle, CudnnRNN rnn, std::int32_t direction, std::size_t bytes,        \
                                         const void* weights, std::int32_t piece, CudnnTensor matrix,                  \
                                         void** matrix_data, CudnnTensor bias, void** bias_data))                      \
                                          f(cudnnRNNForward, int,                                                      \
                                            (Cudnn handle, CudnnRNN rnn, CudnnForwardMode mode,                        \
                                             const std::int32_t* device_lengths, CudnnRNNData x, const void* x_data,   \
                                             CudnnRNNData y, void* y_data, CudnnTensor h, const void* h0, void* h_n,   \
                                             CudnnTensor c, const void* c0, void* c_n, std::size_t weights_bytes,      \
                                             const void* weights, std::size_t workspace_bytes, void* workspace,        \
                                             std::size_t reserve_bytes, void* reserve))                                \
                                              f(cudnnRNNBackwardData_v8, int,                                          \
                                                (Cudnn handle, CudnnRNN rnn, const std::int32_t* device_lengths,       \
                                                 CudnnRNNData y, const void* y_data, const void* dy, CudnnRNNData x,   \
                                                 void* dx, CudnnTensor h, const void* h0, const void* dh_n, void* dh0, \
                                                 CudnnTensor c, const void* c0, const void* dc_n, void* dc0,           \
                                                 std::size_t weights_bytes, const void* weights,                       \
                                                 std::size_t workspace_bytes, void* workspace,                         \
                                                 std::size_t reserve_bytes, void* reserve))                            \
                                                  f(cudnnRNNBackwardWeights_v8, int,                                   \
                                                    (Cudnn handle, CudnnRNN rnn, int gradient_mode,                    \
                                                     const std::int32_t* device_lengths, CudnnRNNData x,               \
                                                     const void* x_data, CudnnTensor h, const void* h0,                \
                                                     CudnnRNNData y, const void* y_data, std::size_t weights_bytes,    \
                                                     void* dweights, std::size_t workspace_bytes, void* workspace,     \
                                                     std::size_t reserve_bytes, void* reserve))

using NcclComm = struct NcclCommHandle*;
struct NcclId {
  char bytes[128];
};
enum NcclType : int {
  nccl_uint8 = 1,
  nccl_int32 = 2,
  nccl_int64 = 4,
  nccl_float16 = 6,
  nccl_float32 = 7,
  nccl_float64 = 8,
  nccl_bfloat16 = 9,
};
enum NcclOp : int { nccl_sum = 0, nccl_product = 1, nccl_max = 2, nccl_min = 3, nccl_avg = 4 };

#define TERN_NCCL_FUNCTIONS(f)                                                                                         \
  f(ncclGetVersion, int, (int* version)) f(ncclGetErrorString, const char*, (int status)) f(                           \
      ncclGetUniqueId, int, (NcclId * id)) f(ncclCommInitRank, int, (NcclComm * comm, int ranks, NcclId id, int rank)) \
      f(ncclCommDestroy, int, (NcclComm comm)) f(ncclCommAbort, int, (NcclComm comm))                                  \
          f(ncclCommGetAsyncError, int, (NcclComm comm, int* status)) f(                                               \
              ncclAllReduce, int,                                                                                      \
              (const void* in, void* out, std::size_t count, NcclType type, NcclOp op, NcclComm comm,                  \
               StreamHandle stream)) f(ncclBroadcast, int,                                                             \
                                       (const void* in, void* out, std::size_t count, NcclType type, int root,         \
                                        NcclComm comm, StreamHandle stream))                                           \
              f(ncclAllGather, int,                                                                                    \
                (const void* in, void* out, std::size_t count, NcclType type, NcclComm comm, StreamHandle stream))     \
                  f(ncclReduceScatter, int,                                                                            \
                    (const void* in, void* out, std::size_t count, NcclType type, NcclOp op,                           \
                     NcclComm comm, StreamHandle stream)) f(ncclSend, int,                                             \
                                                            (const void* in, std::size_t count, NcclType type, int to, \
                                                             NcclComm comm, StreamHandle stream))                      \
                      f(ncclRecv, int,                                                                                 \
                        (void* out, std::size_t count, NcclType type, int from, NcclComm comm, StreamHandle stream))   \
                          f(ncclGroupStart, int, ()) f(ncclGroupEnd, int, ())

#define TERN_NVTX_FUNCTIONS(f) f(nvtxRangePushA, int, (const char* name)) f(nvtxRangePop, int, ())

using CuptiSubscriber = struct CuptiSubscriberHandle*;
enum CuptiDomain : int { cupti_driver_api = 1, cupti_runtime_api = 2 };
enum CuptiSite : int { cupti_enter = 0, cupti_exit = 1 };
enum CuptiKind : int { cupti_copy = 1, cupti_fill = 2, cupti_kernel = 10, cupti_peer_copy = 22 };
enum CuptiCopyKind : int { cupti_to_device = 1, cupti_to_host = 2 };
enum CuptiMemory : int { cupti_pageable = 1, cupti_pinned = 2 };
inline constexpr int cupti_no_more_records = 12, cupti_has_subscriber = 39;

/// A call that a subscriber is told of.
struct CuptiCall {
  CuptiSite site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
  Context context;
  std::uint32_t context_id;
  std::uint64_t* correlation_data;
  std::uint32_t correlation;
};

/// Records of work, as far as CUDA 12.0 to 13 agree on them. Times are in ns.
struct CuptiRecord {
  CuptiKind kind;
};
struct CuptiCopyRecord {
  CuptiKind kind;
  std::uint8_t copy_kind, source, target, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};
struct CuptiPeerCopyRecord {
  CuptiKind kind;
  std::uint8_t copy_kind, source, target, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, source_device, source_context, target_device, target_context, correlation;
};
struct CuptiFillRecord {
  CuptiKind kind;
  std::uint32_t value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};
struct CuptiKernelRecord {
  CuptiKind kind;
  std::uint8_t cache, shared;
  std::uint16_t registers;
  int global_cache[2];
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3], static_shared, dynamic_shared;
  std::uint32_t local_of_thread, local, correlation;
  std::int64_t grid_id;
  const char* name;
};

#define TERN_CUPTI_FUNCTIONS(f)                                                                                        \
  f(cuptiGetVersion, int, (std::uint32_t* version)) f(cuptiGetResultString, int, (int status, const char** text))      \
      f(cuptiGetTimestamp, int, (std::uint64_t* ns))                                                                   \
          f(cuptiSubscribe, int,                                                                                       \
            (CuptiSubscriber * subscriber,                                                                             \
             void (*callback)(void* user, CuptiDomain domain, std::uint32_t id, const void* call), void* user))        \
              f(cuptiUnsubscribe, int, (CuptiSubscriber subscriber))                                                   \
                  f(cuptiEnableCallback, int,                                                                          \
                    (std::uint32_t on, CuptiSubscriber subscriber, CuptiDomain domain, std::uint32_t id))              \
                      f(cuptiActivityRegisterCallbacks, int,                                                           \
                        (void (*request)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records),        \
                         void (*complete)(Context context, std::uint32_t stream, std::uint8_t* buffer,                 \
                                          std::size_t bytes, std::size_t used)))                                       \
                          f(cuptiActivityEnable, int, (CuptiKind kind)) f(cuptiActivityDisable, int, (CuptiKind kind)) \
                              f(cuptiActivityFlushAll, int, (std::uint32_t flags))                                     \
                                  f(cuptiActivityGetNextRecord, int,                                                   \
                                    (std::uint8_t* buffer, std::size_t used, CuptiRecord** record))

#define TERN_CUDA_POINTER(name, result, arguments) result(*name) arguments = nullptr;

/// Pointers to a library's functions, named as the library names them.
struct DriverFunctions {
  TERN_CUDA_DRIVER_FUNCTIONS(TERN_CUDA_POINTER)
};
struct NvrtcFunctions {
  TERN_NVRTC_FUNCTIONS(TERN_CUDA_POINTER)
};
struct CublasLtFunctions {
  TERN_CUBLASLT_FUNCTIONS(TERN_CUDA_POINTER)
};
struct CudnnFunctions {
  TERN_CUDNN_FUNCTIONS(TERN_CUDA_POINTER)
  TERN_CUDNN_GRAPH_FUNCTIONS(TERN_CUDA_POINTER)
};
struct NcclFunctions {
  TERN_NCCL_FUNCTIONS(TERN_CUDA_POINTER)
};
struct NvtxFunctions {
  TERN_NVTX_FUNCTIONS(TERN_CUDA_POINTER)
};
struct CuptiFunctions {
  TERN_CUPTI_FUNCTIONS(TERN_CUDA_POINTER)
};
#undef TERN_CUDA_POINTER

}}}  // namespace tern::cuda
