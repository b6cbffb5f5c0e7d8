// What cudnn's handles point to, and what its functions share.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "abi.hpp"
#include "call.hpp"

namespace abi {

struct cudnnContext {
  CUcontext context;  // that it was made in
  CUstream stream = nullptr;
};

// nd = 0: not set yet.
struct cudnnTensorStruct {
  int type = 0, nd = 0;
  int dims[CUDNN_DIM_MAX] = {}, strides[CUDNN_DIM_MAX] = {};
};

}  // namespace abi

namespace emulator::dnn {

using Tensor = abi::cudnnTensorStruct;

/// Bytes of an element; 0 for a type that is not emulated.
std::size_t type_bytes(int type);
std::string describe(const int* dims, int nd);
enum class Pass { forward, data, filter };
/// A step at which cudnn can refuse: its heuristics name an engine, a plan is made, the plan runs.
enum class Stage { choice, plan, run };
/// Whether the setting `refuse` names it: "forward:1".
bool names_refusal(const std::string& pass, int number);

/// result = alpha * value + beta * (what was there), where beta is not 0.
struct Blend {
  double alpha = 1, beta = 0;
};

/// y = conv(x, w), or one of its gradients, and how the window moves.
struct Convolution {
  Tensor x, w, y;
  int nd = 0;  // of space
  int pads[abi::CUDNN_DIM_MAX] = {}, strides[abi::CUDNN_DIM_MAX] = {}, dilations[abi::CUDNN_DIM_MAX] = {};
  int mode = 0, groups = 1;
};
/// By plain loops. Of the three pointers the pass's own is written.
void compute_convolution(const Convolution& c, Pass pass, bool tf32, Blend blend, char* x, char* w, char* y);

/// Something in device memory that a call reads or writes.
struct Memory {
  std::string name;
  const void* pointer;
  std::size_t bytes;
  bool optional = false;  // may be null
};

/// Makes an object, known as one of a kind.
template <class T>
int create(const char* kind, T** object) {
  if (!object) return refuse(abi::CUDNN_STATUS_BAD_PARAM, "nowhere to put it", page::cudnn_tensor);
  *object = new T;
  add_live(kind, *object);
  return abi::CUDNN_STATUS_SUCCESS;
}

template <class T>
int destroy(T* object) {
  if (!object) return abi::CUDNN_STATUS_SUCCESS;
  if (!is_live(object))
    return refuse(abi::CUDNN_STATUS_BAD_PARAM, "no such object, or it was destroyed", page::cudnn_tensor);
  remove_live(object);
  delete object;
  return abi::CUDNN_STATUS_SUCCESS;
}

/// Whether a call may begin: the handle exists, and belongs to the current context. Returns a status, after refuse().
int check_handle(abi::cudnnHandle_t handle);
/// Checks the memory and puts work behind what is in the handle's stream. run: gets the emulator's views of the memory,
/// null where there is none.
int queue(abi::cudnnHandle_t handle, const std::vector<Memory>& memory, std::uint64_t ns, const char* page,
          std::function<void(char* const*)> run);
/// By arithmetic or by memory, whichever takes longer.
std::uint64_t time_of(double operations, double rate, const std::vector<Memory>& memory);

}  // namespace emulator::dnn
