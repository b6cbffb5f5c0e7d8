// The functions of the libraries that the emulator offers, under the names that the libraries export.
// X(name, result, (parameters))
#pragma once
#include "abi.hpp"

#define ABI_DRIVER_FUNCTIONS(X)                                                                                     \
  X(cuInit, CUresult, (unsigned flags))                                                                             \
  X(cuDriverGetVersion, CUresult, (int* version))                                                                   \
  X(cuGetErrorName, CUresult, (CUresult error, const char** text))                                                  \
  X(cuGetErrorString, CUresult, (CUresult error, const char** text))                                                \
  X(cuDeviceGetCount, CUresult, (int* count))                                                                       \
  X(cuDeviceGet, CUresult, (CUdevice * device, int ordinal))                                                        \
  X(cuDeviceGetName, CUresult, (char* name, int size, CUdevice device))                                             \
  X(cuDeviceGetAttribute, CUresult, (int* value, int attribute, CUdevice device))                                   \
  X(cuDeviceCanAccessPeer, CUresult, (int* can, CUdevice device, CUdevice peer))                                    \
  X(cuDeviceTotalMem_v2, CUresult, (std::size_t* bytes, CUdevice device))                                           \
  X(cuDevicePrimaryCtxRetain, CUresult, (CUcontext * context, CUdevice device))                                     \
  X(cuDevicePrimaryCtxRelease_v2, CUresult, (CUdevice device))                                                      \
  X(cuCtxSetCurrent, CUresult, (CUcontext context))                                                                 \
  X(cuCtxGetCurrent, CUresult, (CUcontext * context))                                                               \
  X(cuCtxGetDevice, CUresult, (CUdevice * device))                                                                  \
  X(cuCtxSynchronize, CUresult, ())                                                                                 \
  X(cuMemGetInfo_v2, CUresult, (std::size_t* free, std::size_t* total))                                             \
  X(cuMemAlloc_v2, CUresult, (CUdeviceptr * pointer, std::size_t bytes))                                            \
  X(cuMemFree_v2, CUresult, (CUdeviceptr pointer))                                                                  \
  X(cuDeviceGetDefaultMemPool, CUresult, (CUmemoryPool * pool, CUdevice device))                                    \
  X(cuMemPoolSetAttribute, CUresult, (CUmemoryPool pool, int attribute, void* value))                               \
  X(cuMemPoolGetAttribute, CUresult, (CUmemoryPool pool, int attribute, void* value))                               \
  X(cuMemPoolSetAccess, CUresult, (CUmemoryPool pool, const CUmemAccessDesc* map, std::size_t count))               \
  X(cuMemPoolTrimTo, CUresult, (CUmemoryPool pool, std::size_t bytes))                                              \
  X(cuMemAllocAsync, CUresult, (CUdeviceptr * pointer, std::size_t bytes, CUstream stream))                         \
  X(cuMemFreeAsync, CUresult, (CUdeviceptr pointer, CUstream stream))                                               \
  X(cuMemHostAlloc, CUresult, (void** pointer, std::size_t bytes, unsigned flags))                                  \
  X(cuMemFreeHost, CUresult, (void* pointer))                                                                       \
  X(cuMemHostGetFlags, CUresult, (unsigned* flags, void* pointer))                                                  \
  X(cuPointerGetAttribute, CUresult, (void* data, int attribute, CUdeviceptr pointer))                              \
  X(cuMemcpyHtoD_v2, CUresult, (CUdeviceptr target, const void* source, std::size_t bytes))                         \
  X(cuMemcpyDtoH_v2, CUresult, (void* target, CUdeviceptr source, std::size_t bytes))                               \
  X(cuMemcpyHtoDAsync_v2, CUresult, (CUdeviceptr target, const void* source, std::size_t bytes, CUstream stream))   \
  X(cuMemcpyDtoHAsync_v2, CUresult, (void* target, CUdeviceptr source, std::size_t bytes, CUstream stream))         \
  X(cuMemcpyDtoDAsync_v2, CUresult, (CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream))   \
  X(cuMemcpyPeerAsync, CUresult,                                                                                    \
    (CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context, std::size_t bytes, \
     CUstream stream))                                                                                              \
  X(cuMemsetD8Async, CUresult, (CUdeviceptr target, unsigned char value, std::size_t count, CUstream stream))       \
  X(cuMemsetD32Async, CUresult, (CUdeviceptr target, unsigned value, std::size_t count, CUstream stream))           \
  X(cuStreamCreate, CUresult, (CUstream * stream, unsigned flags))                                                  \
  X(cuStreamDestroy_v2, CUresult, (CUstream stream))                                                                \
  X(cuStreamSynchronize, CUresult, (CUstream stream))                                                               \
  X(cuStreamQuery, CUresult, (CUstream stream))                                                                     \
  X(cuStreamWaitEvent, CUresult, (CUstream stream, CUevent event, unsigned flags))                                  \
  X(cuLaunchHostFunc, CUresult, (CUstream stream, CUhostFn function, void* data))                                   \
  X(cuEventCreate, CUresult, (CUevent * event, unsigned flags))                                                     \
  X(cuEventRecord, CUresult, (CUevent event, CUstream stream))                                                      \
  X(cuEventQuery, CUresult, (CUevent event))                                                                        \
  X(cuEventSynchronize, CUresult, (CUevent event))                                                                  \
  X(cuEventElapsedTime, CUresult, (float* ms, CUevent start, CUevent end))                                          \
  X(cuEventElapsedTime_v2, CUresult, (float* ms, CUevent start, CUevent end))                                       \
  X(cuEventDestroy_v2, CUresult, (CUevent event))                                                                   \
  X(cuModuleLoadData, CUresult, (CUmodule * module, const void* image))                                             \
  X(cuModuleUnload, CUresult, (CUmodule module))                                                                    \
  X(cuModuleGetFunction, CUresult, (CUfunction * function, CUmodule module, const char* name))                      \
  X(cuModuleGetGlobal_v2, CUresult, (CUdeviceptr * pointer, std::size_t* bytes, CUmodule module, const char* name)) \
  X(cuFuncGetAttribute, CUresult, (int* value, int attribute, CUfunction function))                                 \
  X(cuFuncSetAttribute, CUresult, (CUfunction function, int attribute, int value))                                  \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, CUresult,                                                          \
    (int* blocks, CUfunction function, int threads, std::size_t dynamic_shared))                                    \
  X(cuLaunchKernel, CUresult,                                                                                       \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,    \
     unsigned block_z, unsigned shared, CUstream stream, void** parameters, void** extra))                          \
  X(cuStreamBeginCapture_v2, CUresult, (CUstream stream, int mode))                                                 \
  X(cuStreamEndCapture, CUresult, (CUstream stream, CUgraph * graph))                                               \
  X(cuStreamIsCapturing, CUresult, (CUstream stream, int* status))                                                  \
  X(cuGraphInstantiateWithFlags, CUresult, (CUgraphExec * executable, CUgraph graph, unsigned long long flags))     \
  X(cuGraphLaunch, CUresult, (CUgraphExec executable, CUstream stream))                                             \
  X(cuGraphDestroy, CUresult, (CUgraph graph))                                                                      \
  X(cuGraphExecDestroy, CUresult, (CUgraphExec executable))

#define ABI_NVRTC_FUNCTIONS(X)                                                                                   \
  X(nvrtcGetErrorString, const char*, (nvrtcResult result))                                                      \
  X(nvrtcVersion, nvrtcResult, (int* major, int* minor))                                                         \
  X(nvrtcGetNumSupportedArchs, nvrtcResult, (int* count))                                                        \
  X(nvrtcGetSupportedArchs, nvrtcResult, (int* architectures))                                                   \
  X(nvrtcCreateProgram, nvrtcResult,                                                                             \
    (nvrtcProgram * program, const char* source, const char* name, int header_count, const char* const* headers, \
     const char* const* include_names))                                                                          \
  X(nvrtcDestroyProgram, nvrtcResult, (nvrtcProgram * program))                                                  \
  X(nvrtcCompileProgram, nvrtcResult, (nvrtcProgram program, int count, const char* const* options))             \
  X(nvrtcGetPTXSize, nvrtcResult, (nvrtcProgram program, std::size_t* size))                                     \
  X(nvrtcGetPTX, nvrtcResult, (nvrtcProgram program, char* ptx))                                                 \
  X(nvrtcGetCUBINSize, nvrtcResult, (nvrtcProgram program, std::size_t* size))                                   \
  X(nvrtcGetCUBIN, nvrtcResult, (nvrtcProgram program, char* cubin))                                             \
  X(nvrtcGetProgramLogSize, nvrtcResult, (nvrtcProgram program, std::size_t* size))                              \
  X(nvrtcGetProgramLog, nvrtcResult, (nvrtcProgram program, char* log))                                          \
  X(nvrtcAddNameExpression, nvrtcResult, (nvrtcProgram program, const char* expression))                         \
  X(nvrtcGetLoweredName, nvrtcResult, (nvrtcProgram program, const char* expression, const char** lowered))

#define ABI_CUBLASLT_FUNCTIONS(X)                                                                                      \
  X(cublasLtCreate, cublasStatus_t, (cublasLtHandle_t * handle))                                                       \
  X(cublasLtDestroy, cublasStatus_t, (cublasLtHandle_t handle))                                                        \
  X(cublasLtGetVersion, std::size_t, ())                                                                               \
  X(cublasLtGetStatusName, const char*, (cublasStatus_t status))                                                       \
  X(cublasLtGetStatusString, const char*, (cublasStatus_t status))                                                     \
  X(cublasLtMatmulDescCreate, cublasStatus_t, (cublasLtMatmulDesc_t * desc, int compute_type, int scale_type))         \
  X(cublasLtMatmulDescDestroy, cublasStatus_t, (cublasLtMatmulDesc_t desc))                                            \
  X(cublasLtMatmulDescSetAttribute, cublasStatus_t,                                                                    \
    (cublasLtMatmulDesc_t desc, int attribute, const void* value, std::size_t size))                                   \
  X(cublasLtMatrixLayoutCreate, cublasStatus_t,                                                                        \
    (cublasLtMatrixLayout_t * layout, int type, std::uint64_t rows, std::uint64_t cols, std::int64_t ld))              \
  X(cublasLtMatrixLayoutDestroy, cublasStatus_t, (cublasLtMatrixLayout_t layout))                                      \
  X(cublasLtMatrixLayoutSetAttribute, cublasStatus_t,                                                                  \
    (cublasLtMatrixLayout_t layout, int attribute, const void* value, std::size_t size))                               \
  X(cublasLtMatmulPreferenceCreate, cublasStatus_t, (cublasLtMatmulPreference_t * preference))                         \
  X(cublasLtMatmulPreferenceDestroy, cublasStatus_t, (cublasLtMatmulPreference_t preference))                          \
  X(cublasLtMatmulPreferenceSetAttribute, cublasStatus_t,                                                              \
    (cublasLtMatmulPreference_t preference, int attribute, const void* value, std::size_t size))                       \
  X(cublasLtMatmulAlgoGetHeuristic, cublasStatus_t,                                                                    \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,           \
     cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int requested,         \
     cublasLtMatmulHeuristicResult_t results[], int* returned))                                                        \
  X(cublasLtMatmul, cublasStatus_t,                                                                                    \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,                             \
     cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta, const void* c, \
     cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,      \
     void* workspace, std::size_t workspace_bytes, CUstream stream))

#define ABI_CUDNN_FUNCTIONS(X)                                                                                        \
  X(cudnnGetVersion, std::size_t, ())                                                                                 \
  X(cudnnGetCudartVersion, std::size_t, ())                                                                           \
  X(cudnnGetErrorString, const char*, (cudnnStatus_t status))                                                         \
  X(cudnnGetLastErrorString, void, (char* message, std::size_t size))                                                 \
  X(cudnnBackendCreateDescriptor, cudnnStatus_t, (int kind, cudnnBackendDescriptor_t* desc))                          \
  X(cudnnBackendDestroyDescriptor, cudnnStatus_t, (cudnnBackendDescriptor_t desc))                                    \
  X(cudnnBackendSetAttribute, cudnnStatus_t,                                                                          \
    (cudnnBackendDescriptor_t desc, int attribute, int type, std::int64_t count, const void* values))                 \
  X(cudnnBackendGetAttribute, cudnnStatus_t,                                                                          \
    (cudnnBackendDescriptor_t const desc, int attribute, int type, std::int64_t most, std::int64_t* count,            \
     void* values))                                                                                                   \
  X(cudnnBackendFinalize, cudnnStatus_t, (cudnnBackendDescriptor_t desc))                                             \
  X(cudnnBackendExecute, cudnnStatus_t,                                                                               \
    (cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack))                             \
  X(cudnnCreate, cudnnStatus_t, (cudnnHandle_t * handle))                                                             \
  X(cudnnDestroy, cudnnStatus_t, (cudnnHandle_t handle))                                                              \
  X(cudnnSetStream, cudnnStatus_t, (cudnnHandle_t handle, CUstream stream))                                           \
  X(cudnnCreateTensorDescriptor, cudnnStatus_t, (cudnnTensorDescriptor_t * desc))                                     \
  X(cudnnSetTensorNdDescriptor, cudnnStatus_t,                                                                        \
    (cudnnTensorDescriptor_t desc, int type, int nd, const int* dims, const int* strides))                            \
  X(cudnnDestroyTensorDescriptor, cudnnStatus_t, (cudnnTensorDescriptor_t desc))                                      \
  X(cudnnCreateDropoutDescriptor, cudnnStatus_t, (cudnnDropoutDescriptor_t * desc))                                   \
  X(cudnnSetDropoutDescriptor, cudnnStatus_t,                                                                         \
    (cudnnDropoutDescriptor_t desc, cudnnHandle_t handle, float dropout, void* states, std::size_t states_bytes,      \
     unsigned long long seed))                                                                                        \
  X(cudnnDestroyDropoutDescriptor, cudnnStatus_t, (cudnnDropoutDescriptor_t desc))                                    \
  X(cudnnCreateRNNDescriptor, cudnnStatus_t, (cudnnRNNDescriptor_t * desc))                                           \
  X(cudnnSetRNNDescriptor_v8, cudnnStatus_t,                                                                          \
    (cudnnRNNDescriptor_t desc, int algo, int cell, int bias, int direction, int input_mode, int type, int math_type, \
     int math, std::int32_t inputs, std::int32_t hidden, std::int32_t projected, std::int32_t layers,                 \
     cudnnDropoutDescriptor_t dropout, std::uint32_t flags))                                                          \
  X(cudnnDestroyRNNDescriptor, cudnnStatus_t, (cudnnRNNDescriptor_t desc))                                            \
  X(cudnnCreateRNNDataDescriptor, cudnnStatus_t, (cudnnRNNDataDescriptor_t * desc))                                   \
  X(cudnnSetRNNDataDescriptor, cudnnStatus_t,                                                                         \
    (cudnnRNNDataDescriptor_t desc, int type, int layout, int longest, int batch, int vector, const int* lengths,     \
     void* padding))                                                                                                  \
  X(cudnnDestroyRNNDataDescriptor, cudnnStatus_t, (cudnnRNNDataDescriptor_t desc))                                    \
  X(cudnnGetRNNTempSpaceSizes, cudnnStatus_t,                                                                         \
    (cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int mode, cudnnRNNDataDescriptor_t x,                           \
     std::size_t* workspace_bytes, std::size_t* reserve_bytes))                                                       \
  X(cudnnGetRNNWeightSpaceSize, cudnnStatus_t, (cudnnHandle_t handle, cudnnRNNDescriptor_t desc, std::size_t* bytes)) \
  X(cudnnGetRNNWeightParams, cudnnStatus_t,                                                                           \
    (cudnnHandle_t handle, cudnnRNNDescriptor_t desc, std::int32_t pseudo_layer, std::size_t bytes,                   \
     const void* weights, std::int32_t piece, cudnnTensorDescriptor_t matrix_desc, void** matrix,                     \
     cudnnTensorDescriptor_t bias_desc, void** bias))                                                                 \
  X(cudnnRNNForward, cudnnStatus_t,                                                                                   \
    (cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int mode, const std::int32_t* lengths,                          \
     cudnnRNNDataDescriptor_t x_desc, const void* x, cudnnRNNDataDescriptor_t y_desc, void* y,                        \
     cudnnTensorDescriptor_t h_desc, const void* hx, void* hy, cudnnTensorDescriptor_t c_desc, const void* cx,        \
     void* cy, std::size_t weights_bytes, const void* weights, std::size_t workspace_bytes, void* workspace,          \
     std::size_t reserve_bytes, void* reserve))                                                                       \
  X(cudnnRNNBackwardData_v8, cudnnStatus_t,                                                                           \
    (cudnnHandle_t handle, cudnnRNNDescriptor_t desc, const std::int32_t* lengths, cudnnRNNDataDescriptor_t y_desc,   \
     const void* y, const void* dy, cudnnRNNDataDescriptor_t x_desc, void* dx, cudnnTensorDescriptor_t h_desc,        \
     const void* hx, const void* dhy, void* dhx, cudnnTensorDescriptor_t c_desc, const void* cx, const void* dcy,     \
     void* dcx, std::size_t weights_bytes, const void* weights, std::size_t workspace_bytes, void* workspace,         \
     std::size_t reserve_bytes, void* reserve))                                                                       \
  X(cudnnRNNBackwardWeights_v8, cudnnStatus_t,                                                                        \
    (cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int mode, const std::int32_t* lengths,                          \
     cudnnRNNDataDescriptor_t x_desc, const void* x, cudnnTensorDescriptor_t h_desc, const void* hx,                  \
     cudnnRNNDataDescriptor_t y_desc, const void* y, std::size_t weights_bytes, void* dweights,                       \
     std::size_t workspace_bytes, void* workspace, std::size_t reserve_bytes, void* reserve))

#define ABI_NCCL_FUNCTIONS(X)                                                                                         \
  X(ncclGetVersion, ncclResult_t, (int* version))                                                                     \
  X(ncclGetErrorString, const char*, (ncclResult_t result))                                                           \
  X(ncclGetUniqueId, ncclResult_t, (ncclUniqueId * id))                                                               \
  X(ncclCommInitRank, ncclResult_t, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank))                        \
  X(ncclCommDestroy, ncclResult_t, (ncclComm_t comm))                                                                 \
  X(ncclCommAbort, ncclResult_t, (ncclComm_t comm))                                                                   \
  X(ncclCommGetAsyncError, ncclResult_t, (ncclComm_t comm, ncclResult_t * error))                                     \
  X(ncclAllReduce, ncclResult_t,                                                                                      \
    (const void* send, void* receive, std::size_t count, int type, int op, ncclComm_t comm, CUstream stream))         \
  X(ncclBroadcast, ncclResult_t,                                                                                      \
    (const void* send, void* receive, std::size_t count, int type, int root, ncclComm_t comm, CUstream stream))       \
  X(ncclAllGather, ncclResult_t,                                                                                      \
    (const void* send, void* receive, std::size_t count, int type, ncclComm_t comm, CUstream stream))                 \
  X(ncclReduceScatter, ncclResult_t,                                                                                  \
    (const void* send, void* receive, std::size_t count, int type, int op, ncclComm_t comm, CUstream stream))         \
  X(ncclSend, ncclResult_t,                                                                                           \
    (const void* send, std::size_t count, int type, int peer, ncclComm_t comm, CUstream stream))                      \
  X(ncclRecv, ncclResult_t, (void* receive, std::size_t count, int type, int peer, ncclComm_t comm, CUstream stream)) \
  X(ncclGroupStart, ncclResult_t, ())                                                                                 \
  X(ncclGroupEnd, ncclResult_t, ())

#define ABI_CUPTI_FUNCTIONS(X)                                                                                   \
  X(cuptiGetVersion, CUptiResult, (std::uint32_t* version))                                                      \
  X(cuptiGetResultString, CUptiResult, (CUptiResult result, const char** text))                                  \
  X(cuptiGetTimestamp, CUptiResult, (std::uint64_t* ns))                                                         \
  X(cuptiSubscribe, CUptiResult, (CUpti_SubscriberHandle * subscriber, CUpti_CallbackFunc callback, void* user)) \
  X(cuptiUnsubscribe, CUptiResult, (CUpti_SubscriberHandle subscriber))                                          \
  X(cuptiEnableCallback, CUptiResult,                                                                            \
    (std::uint32_t enable, CUpti_SubscriberHandle subscriber, int domain, std::uint32_t cbid))                   \
  X(cuptiActivityRegisterCallbacks, CUptiResult,                                                                 \
    (CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete))                      \
  X(cuptiActivityEnable, CUptiResult, (int kind))                                                                \
  X(cuptiActivityDisable, CUptiResult, (int kind))                                                               \
  X(cuptiActivityFlushAll, CUptiResult, (std::uint32_t flag))                                                    \
  X(cuptiActivityGetNextRecord, CUptiResult, (std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record))
