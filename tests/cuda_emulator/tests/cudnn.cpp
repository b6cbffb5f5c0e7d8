// The emulated cudnn: its algorithms, and what it refuses of descriptors, handles and convolutions.
#include <cmath>

#include "cudnn.hpp"

using namespace emulator_test;

CHILD_CASE("cuda emulator: choosing and searching an algorithm") {
  tern_emulator_set("call_ns=100,kernel_ns=1000,memory_rate=100,float32=1000,tf32=8000");
  start();
  Library dnn;
  Stream stream;
  EXPECT(cudnnSetStream(dnn, stream) == 0);
  const Tensor x({1, 8, 16, 16}), y({1, 8, 16, 16});
  const Filter w({8, 8, 3, 3});
  const Case c{{1, 8, 16, 16}, {8, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}};
  const Convolution conv(c, CUDNN_DEFAULT_MATH);
  cudnnConvolutionAlgoPerf_t r[8];
  int found = 0;
  EXPECT(cudnnGetConvolutionForwardAlgorithm_v7(dnn, x, w, conv, y, 8, &found, r) == 0);
  EXPECT(found == 4);
  EXPECT(r[0].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM && r[0].memory == 4096 &&
         r[0].mathType == CUDNN_TENSOR_OP_MATH);
  EXPECT(r[1].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM && !r[1].status && r[1].mathType == CUDNN_DEFAULT_MATH);
  EXPECT(r[2].status == CUDNN_STATUS_NOT_SUPPORTED && r[3].status == CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT(cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, w, y, conv, x, 1, &found, r) == 0);
  EXPECT(found == 1 && r[0].determinism == CUDNN_NON_DETERMINISTIC);
  EXPECT(cudnnSetConvolutionMathType(conv, CUDNN_FMA_MATH) == 0);
  EXPECT(cudnnGetConvolutionForwardAlgorithm_v7(dnn, x, w, conv, y, 8, &found, r) == 0);
  EXPECT(r[0].mathType == CUDNN_FMA_MATH);
  EXPECT(cudnnSetConvolutionMathType(conv, CUDNN_DEFAULT_MATH) == 0);
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no results",
                 cudnnGetConvolutionForwardAlgorithm_v7(dnn, x, w, conv, y, 0, &found, r));

  const Array<float> dx(std::vector<float>(2048, 1)), dw(std::vector<float>(576, 1)), dy(std::vector<float>(2048, 1));
  const Array<char> room(4096);
  const std::uint64_t before = tern_emulator_now();
  EXPECT(cudnnFindConvolutionForwardAlgorithmEx(dnn, x, at(dx), w, at(dw), conv, y, at(dy), 8, &found, r, at(room),
                                                4096) == 0);
  EXPECT(tern_emulator_now() >= before + 1000 + 36 + 1000 + 294);  // it waited
  // 2 * 16 * 16 * 8 * 8 * 9 = 294912 operations; 18688 bytes and the workspace
  EXPECT(found == 4 && r[0].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM &&
         r[0].time == (1000 + 228) * 1e-6f);
  EXPECT(r[1].time == (1000 + 295) * 1e-6f);
  EXPECT(std::isnan(dy.values()[0]));  // overwritten
  EXPECT(cudnnFindConvolutionForwardAlgorithmEx(dnn, x, at(dx), w, at(dw), conv, y, at(dy), 8, &found, r, nullptr, 0) ==
         0);
  EXPECT(r[0].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM &&
         r[1].status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  EXPECT(cudnnFindConvolutionBackwardDataAlgorithmEx(dnn, w, at(dw), y, at(dy), conv, x, at(dx), 8, &found, r, nullptr,
                                                     0) == 0);
  EXPECT(std::isnan(dx.values()[0]) && r[0].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0);
  EXPECT(cudnnFindConvolutionBackwardFilterAlgorithmEx(dnn, x, at(dx), y, at(dy), conv, w, at(dw), 8, &found, r,
                                                       nullptr, 0) == 0);
  EXPECT(std::isnan(dw.values()[0]) && r[0].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0);

  std::size_t bytes = 1;
  EXPECT(cudnnGetConvolutionForwardWorkspaceSize(dnn, x, w, conv, y, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                                                 &bytes) == 0 &&
         bytes == 0);
  EXPECT(cudnnGetConvolutionBackwardDataWorkspaceSize(dnn, w, y, conv, x, 1, &bytes) == 0 && bytes == 65536);
  EXPECT(cudnnGetConvolutionBackwardFilterWorkspaceSize(dnn, x, y, conv, w, 1, &bytes) == 0 && bytes == 65536);

  EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  EXPECT_REFUSED(
      CUDNN_STATUS_EXECUTION_FAILED, "captured",
      cudnnFindConvolutionForwardAlgorithmEx(dnn, x, at(dx), w, at(dw), conv, y, at(dy), 8, &found, r, nullptr, 0));
  CUgraph graph = nullptr;
  EXPECT(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS);
}

CHILD_CASE("cuda emulator: algorithms that do not compute a convolution") {
  start();
  Library dnn;
  std::size_t bytes = 0;
  const auto refused = [&](const char* text, const Case& c, int algorithm, int format = CUDNN_TENSOR_NCHW,
                           int x_format = CUDNN_TENSOR_NCHW, int type = CUDNN_DATA_FLOAT) {
    const Tensor x(c.x, x_format, type), y(c.y(), x_format, type);
    const Filter w(c.w, format, type);
    const Convolution conv(c, CUDNN_DEFAULT_MATH, type);
    EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, text,
                   cudnnGetConvolutionForwardWorkspaceSize(dnn, x, w, conv, y, algorithm, &bytes));
  };
  Case strided = small, dilated = small, wide = small;
  strided.stride = {2, 2}, dilated.dilation = {2, 2}, wide.w = {4, 3, 5, 5};
  const Case volume{{1, 2, 3, 3, 3}, {2, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  refused("not implemented", small, 3);
  refused("NHWC filter of 4", small, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NHWC);
  refused("NHWC filter of 5", volume, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NHWC);
  refused("x and y are NHWC", small, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW);
  refused("doubles have no NHWC", small, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NHWC,
          CUDNN_DATA_DOUBLE);
  refused("for 4 dimensions", volume, CUDNN_CONVOLUTION_FWD_ALGO_GEMM);
  refused("no dilation", dilated, CUDNN_CONVOLUTION_FWD_ALGO_GEMM);
  refused("no stride", strided, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED);
  refused("no doubles", small, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NCHW,
          CUDNN_DATA_DOUBLE);
  refused("size 3", wide, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED);
}

CHILD_CASE("cuda emulator: convolutions whose descriptors do not fit, and calls that lack something") {
  start();
  Library dnn;
  const Tensor x(small.x), y(small.y()), volume({1, 2, 3, 3, 3}), cube({1, 2, 3, 3, 3, 3}),
      doubles(small.x, CUDNN_TENSOR_NHWC, CUDNN_DATA_DOUBLE);
  const Filter w(small.w), cube_filter({2, 2, 1, 1, 1, 1});
  const Convolution conv(small);
  OwnedTensor unset;
  OwnedConvolution cube_conv;
  const int ones[] = {1, 1, 1, 1}, none[] = {0, 0, 0, 0};
  EXPECT(cudnnSetConvolutionNdDescriptor(cube_conv, 4, none, ones, ones, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT) ==
         0);
  const Array<float> memory(2048);
  const auto run = [&](cudnnHandle_t handle, cudnnTensorDescriptor_t dx, cudnnTensorDescriptor_t dy, const float* alpha,
                       const void* px, int algorithm = 0, std::size_t bytes = 0, const void* room = nullptr) {
    return cudnnConvolutionForward(handle, alpha, dx, px, w, at(memory), conv, algorithm, const_cast<void*>(room),
                                   bytes, &zero, dy, at(memory));
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such handle", run(nullptr, x, y, &one, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "descriptor is missing", run(dnn, nullptr, y, &one, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "0: never set", run(dnn, unset, y, &one, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "5, 4, 4", run(dnn, volume, y, &one, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "types 1, 0, 0", run(dnn, doubles, y, &one, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "is not [2, 3, 6, 5]", run(dnn, x, x, &one, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "alpha", run(dnn, x, y, nullptr, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "x is null", run(dnn, x, y, &one, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "not inside one device allocation", run(dnn, x, y, &one, &one));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "workspace of 4096", run(dnn, x, y, &one, at(memory), 1, 4095, at(memory)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "workspace is null", run(dnn, x, y, &one, at(memory), 1, 4096));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "algorithm 3", run(dnn, x, y, &one, at(memory), 3));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "more than 5",
                 cudnnConvolutionForward(dnn, &one, cube, at(memory), cube_filter, at(memory), cube_conv, 0, nullptr, 0,
                                         &zero, cube, at(memory)));
  for (const char* setting : {"refuse=forward:0", "refuse=data:1+forward:0"}) {
    tern_emulator_set(setting);
    EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "as the setting says", run(dnn, x, y, &one, at(memory)));
  }
  tern_emulator_set("refuse=forward:1+fused:0");
  EXPECT(run(dnn, x, y, &one, at(memory)) == 0);
}

CHILD_CASE("cuda emulator: descriptors and handles of cudnn that make no sense") {
  cudnnHandle_t early = nullptr;
  EXPECT_REFUSED(CUDNN_STATUS_NOT_INITIALIZED, "no current context", cudnnCreate(&early));
  tern_emulator_set("devices=2,cudnn=90100");
  start();
  EXPECT(cudnnGetVersion() == 90100);
  EXPECT(std::string(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM)) == "CUDNN_STATUS_BAD_PARAM");
  EXPECT(std::string(cudnnGetErrorString(0)) == "CUDNN_STATUS_SUCCESS");
  EXPECT(std::string(cudnnGetErrorString(77)) == "CUDNN_UNKNOWN_STATUS");
  OwnedTensor tensor;
  OwnedFilter filter;
  OwnedConvolution conv;
  OwnedActivation activation;
  const int ok[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, zeros[] = {0, 0, 0, 0}, huge[] = {1 << 16, 1 << 15, 2, 1};
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "nowhere", cudnnCreateTensorDescriptor(nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such object",
                 cudnnDestroyTensorDescriptor(reinterpret_cast<cudnnTensorDescriptor_t>(&early)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "null pointer", cudnnSetTensorNdDescriptorEx(nullptr, 0, 0, 4, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "null pointer", cudnnSetTensorNdDescriptor(tensor, 0, 4, ok, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "type 3", cudnnSetTensorNdDescriptor(tensor, 3, 4, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "2 dimensions", cudnnSetTensorNdDescriptor(tensor, 0, 2, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "9 dimensions", cudnnSetTensorNdDescriptor(tensor, 0, 9, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "at least 1", cudnnSetTensorNdDescriptor(tensor, 0, 4, zeros, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "at most 2^31", cudnnSetTensorNdDescriptor(tensor, 0, 4, huge, ok));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "strides", cudnnSetTensorNdDescriptor(tensor, 0, 4, ok, zeros));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "format 2", cudnnSetTensorNdDescriptorEx(tensor, 2, 0, 4, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "format 2", cudnnSetFilterNdDescriptor(filter, 0, 2, 4, ok));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "over 1 dimensions",
                 cudnnSetConvolutionNdDescriptor(conv, 1, zeros, ok, ok, 1, 0));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "stride [0, 0]",
                 cudnnSetConvolutionNdDescriptor(conv, 2, zeros, zeros, ok, 1, 0));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "not in type 9",
                 cudnnSetConvolutionNdDescriptor(conv, 2, zeros, ok, ok, 1, CUDNN_DATA_BFLOAT16));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "0 groups", cudnnSetConvolutionGroupCount(conv, 0));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "math type 9", cudnnSetConvolutionMathType(conv, 9));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "activation 2", cudnnSetActivationDescriptor(activation, 2, 0, 0));
  Library dnn;
  EXPECT(cudnnSetStream(dnn, reinterpret_cast<CUstream>(&early)) == CUDNN_STATUS_BAD_PARAM);
  CUcontext other = nullptr;
  EXPECT(cuDevicePrimaryCtxRetain(&other, 1) == CUDA_SUCCESS && cuCtxSetCurrent(other) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "another device", cudnnSetStream(dnn, nullptr));
  tern_emulator_break(1, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cudnnSetStream(dnn, nullptr) == CUDNN_STATUS_EXECUTION_FAILED);
}
