// The pages of NVIDIA's documentation that refusals cite.
#pragma once

namespace emulator::page {

#define DRIVER_API "https://docs.nvidia.com/cuda/cuda-driver-api/"
inline constexpr const char* initialize = DRIVER_API "group__CUDA__INITIALIZE.html";
inline constexpr const char* device = DRIVER_API "group__CUDA__DEVICE.html";
inline constexpr const char* primary_context = DRIVER_API "group__CUDA__PRIMARY__CTX.html";
inline constexpr const char* context = DRIVER_API "group__CUDA__CTX.html";
inline constexpr const char* module = DRIVER_API "group__CUDA__MODULE.html";
inline constexpr const char* memory = DRIVER_API "group__CUDA__MEM.html";
inline constexpr const char* pool = DRIVER_API "group__CUDA__MALLOC__ASYNC.html";
inline constexpr const char* pointer = DRIVER_API "group__CUDA__UNIFIED.html";
inline constexpr const char* stream = DRIVER_API "group__CUDA__STREAM.html";
inline constexpr const char* event = DRIVER_API "group__CUDA__EVENT.html";
inline constexpr const char* launch = DRIVER_API "group__CUDA__EXEC.html";
inline constexpr const char* occupancy = DRIVER_API "group__CUDA__OCCUPANCY.html";
inline constexpr const char* graph = DRIVER_API "group__CUDA__GRAPH.html";
inline constexpr const char* errors = DRIVER_API "group__CUDA__TYPES.html";
inline constexpr const char* synchronization = DRIVER_API "api-sync-behavior.html";
inline constexpr const char* null_stream = DRIVER_API "stream-sync-behavior.html";
#undef DRIVER_API
#define GUIDE "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#"
inline constexpr const char* capture = GUIDE "prohibited-and-unhandled-operations";
inline constexpr const char* cross_stream = GUIDE "cross-stream-dependencies-and-events";
inline constexpr const char* capabilities =
    GUIDE "features-and-technical-specifications-technical-specifications-per-compute-capability";
inline constexpr const char* compatibility = GUIDE "binary-compatibility";
inline constexpr const char* launch_bounds = GUIDE "launch-bounds";
#undef GUIDE
inline constexpr const char* nvrtc = "https://docs.nvidia.com/cuda/nvrtc/index.html";
#define CUBLAS "https://docs.nvidia.com/cuda/cublas/index.html#"
inline constexpr const char* matmul = CUBLAS "cublasltmatmul";
inline constexpr const char* matmul_heuristic = CUBLAS "cublasltmatmulalgogetheuristic";
inline constexpr const char* matmul_desc = CUBLAS "cublasltmatmuldescattributes-t";
inline constexpr const char* matrix_layout = CUBLAS "cublasltmatrixlayoutattribute-t";
inline constexpr const char* preference = CUBLAS "cublasltmatmulpreferenceattributes-t";
inline constexpr const char* epilogue = CUBLAS "cublasltepilogue-t";
#undef CUBLAS
#define CUDNN "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/"
inline constexpr const char* cudnn_handle = CUDNN "cudnn-graph-library.html#cudnncreate";
inline constexpr const char* cudnn_tensor = CUDNN "cudnn-ops-library.html#cudnnsettensornddescriptor";
inline constexpr const char* graph_create = CUDNN "cudnn-graph-library.html#cudnnbackendcreatedescriptor";
inline constexpr const char* graph_set = CUDNN "cudnn-graph-library.html#cudnnbackendsetattribute";
inline constexpr const char* graph_get = CUDNN "cudnn-graph-library.html#cudnnbackendgetattribute";
inline constexpr const char* graph_finalize = CUDNN "cudnn-graph-library.html#cudnnbackendfinalize";
inline constexpr const char* graph_execute = CUDNN "cudnn-graph-library.html#cudnnbackendexecute";
inline constexpr const char* cudnn_dropout = CUDNN "cudnn-ops-library.html#cudnnsetdropoutdescriptor";
inline constexpr const char* rnn = CUDNN "cudnn-adv-library.html#cudnnsetrnndescriptor-v8";
inline constexpr const char* rnn_data = CUDNN "cudnn-adv-library.html#cudnnsetrnndatadescriptor";
inline constexpr const char* rnn_spaces = CUDNN "cudnn-adv-library.html#cudnngetrnntempspacesizes";
inline constexpr const char* rnn_weights = CUDNN "cudnn-adv-library.html#cudnngetrnnweightparams";
inline constexpr const char* rnn_forward = CUDNN "cudnn-adv-library.html#cudnnrnnforward";
inline constexpr const char* rnn_backward_data = CUDNN "cudnn-adv-library.html#cudnnrnnbackwarddata-v8";
inline constexpr const char* rnn_backward_weights = CUDNN "cudnn-adv-library.html#cudnnrnnbackwardweights-v8";
#undef CUDNN
#define NCCL "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
inline constexpr const char* nccl_communicator = NCCL "api/comms.html";
inline constexpr const char* nccl_collective = NCCL "api/colls.html";
inline constexpr const char* nccl_transfer = NCCL "api/p2p.html";
inline constexpr const char* nccl_group = NCCL "api/group.html";
inline constexpr const char* nccl_types = NCCL "api/types.html";
inline constexpr const char* nccl_in_place = NCCL "usage/inplace.html";
#undef NCCL
#define CUPTI "https://docs.nvidia.com/cupti/api/"
inline constexpr const char* cupti_activity = CUPTI "group__CUPTI__ACTIVITY__API.html";
inline constexpr const char* cupti_callback = CUPTI "group__CUPTI__CALLBACK__API.html";
#undef CUPTI

}  // namespace emulator::page
