// The emulated cudnn: what it refuses of descriptors and handles.
#include "cudnn.hpp"

using namespace emulator_test;

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
  const int ok[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, zeros[] = {0, 0, 0, 0}, huge[] = {1 << 16, 1 << 15, 2, 1};
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "nowhere", cudnnCreateTensorDescriptor(nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such object",
                 cudnnDestroyTensorDescriptor(reinterpret_cast<cudnnTensorDescriptor_t>(&early)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "null pointer", cudnnSetTensorNdDescriptor(nullptr, 0, 4, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "null pointer", cudnnSetTensorNdDescriptor(tensor, 0, 4, ok, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "type 3", cudnnSetTensorNdDescriptor(tensor, 3, 4, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "2 dimensions", cudnnSetTensorNdDescriptor(tensor, 0, 2, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "9 dimensions", cudnnSetTensorNdDescriptor(tensor, 0, 9, ok, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "at least 1", cudnnSetTensorNdDescriptor(tensor, 0, 4, zeros, ok));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "at most 2^31", cudnnSetTensorNdDescriptor(tensor, 0, 4, huge, ok));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "strides", cudnnSetTensorNdDescriptor(tensor, 0, 4, ok, zeros));
  Library dnn;
  EXPECT(cudnnSetStream(dnn, reinterpret_cast<CUstream>(&early)) == CUDNN_STATUS_BAD_PARAM);
  CUcontext other = nullptr;
  EXPECT(cuDevicePrimaryCtxRetain(&other, 1) == CUDA_SUCCESS && cuCtxSetCurrent(other) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "another device", cudnnSetStream(dnn, nullptr));
  tern_emulator_break(1, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cudnnSetStream(dnn, nullptr) == CUDNN_STATUS_EXECUTION_FAILED);
}
