// What cudnn's handles point to, and what its functions share. "5-d" is a convolution over three dimensions.
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

struct cudnnFilterStruct {
  int type = 0, format = 0, nd = 0;
  int dims[CUDNN_DIM_MAX] = {};
};

struct cudnnConvolutionStruct {
  int nd = 0;  // of space
  int pads[CUDNN_DIM_MAX] = {}, strides[CUDNN_DIM_MAX] = {}, dilations[CUDNN_DIM_MAX] = {};
  int mode = 0, compute = 0, groups = 1, math = CUDNN_DEFAULT_MATH;
};

struct cudnnActivationStruct {
  bool set = false;
  int mode = 0, nan = 0;
  double coefficient = 0;
};

}  // namespace abi

namespace emulator::dnn {

using Tensor = abi::cudnnTensorStruct;
using Filter = abi::cudnnFilterStruct;

/// Bytes of an element; 0 for a type that is not emulated.
std::size_t type_bytes(int type);
std::string describe(const int* dims, int nd);
/// Strides of dims in one of the two formats.
void pack(int format, int nd, const int* dims, int* strides);
/// Of a filter, as the tensor that it is.
Tensor tensor_of(const Filter& filter);
/// Bytes from the first element to the end of the last.
std::size_t extent(const Tensor& tensor);

enum class Pass { forward, data, filter };

/// y = conv(x, w), or one of its gradients: then y and what is computed stand for those.
struct Convolution {
  Tensor x, y;
  Filter w;
  abi::cudnnConvolutionStruct conv;
};

/// What the documentation's tables say of an algorithm.
struct Algorithm {
  int number;
  bool deterministic;
  bool nhwc, nhwc_5d, nchw_5d;     // the filter's formats; NCHW with 4 dimensions is any one's
  bool dilated, strided, doubles;  // takes them
  int kernel;                      // the only size of filters; 0: any
  bool tensor_cores;
  std::size_t workspace;
};
const std::vector<Algorithm>& algorithms(Pass pass);
/// Null: not emulated, or not implemented by cudnn either.
const Algorithm* find_algorithm(Pass pass, int number);
const char* page_of(Pass pass);

/// Whether the descriptors go together. Returns a status, after refuse().
int check_convolution(const Convolution& c, Pass pass);
/// A call of cudnn: whether it chooses an algorithm or an engine, runs it, runs it with a bias, or makes a plan of it.
enum class Stage { choice, run, fused, plan };

/// Whether the setting `refuse` names it: "forward:1".
bool names_refusal(const std::string& pass, int number);
/// Why an algorithm does not compute it; empty if it does.
std::string unsupported(const Convolution& c, Pass pass, int algorithm, Stage stage);
/// Whether products are rounded to TF32.
bool rounds_to_tf32(const Convolution& c, const Algorithm& algorithm);

/// result = alpha * value + beta * (what was there), where beta is not 0.
struct Blend {
  double alpha = 1, beta = 0;
};
/// Reads the host's two factors, which are doubles for double tensors and floats for others.
Blend read_blend(int type, const void* alpha, const void* beta);

/// y = activation(value + alpha * z + bias), behind a convolution; null: without.
struct Epilogue {
  double alpha = 0;
  const char *z = nullptr, *bias = nullptr;
  bool relu = false, keeps_nan = false;
};

/// A convolution's tensors and how its window moves.
struct Window {
  Tensor x, w, y;
  abi::cudnnConvolutionStruct conv;
};
/// By plain loops. Of the three pointers the pass's own is written.
void compute_convolution(const Window& c, Pass pass, bool tf32, Blend blend, char* x, char* w, char* y,
                         const Epilogue& epilogue = {});
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
