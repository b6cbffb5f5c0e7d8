// libcudnn: recurrent layers as work on a stream.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "cudnn_rnn.hpp"
#include "exports.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace emulator::dnn;
using namespace abi;

namespace {

constexpr std::size_t workspace_needed = 1 << 10;

bool is_refused(const Rnn& rnn, const char* stage) {
  const std::string& refuse = settings().refuse;
  if (refuse.rfind("random:", 0) != 0) return names_refusal(stage, CUDNN_RNN_ALGO_STANDARD);
  // Half of the layers, each in one of its stages.
  const std::string stages[] = {"rnn", "rnn_forward", "rnn_data", "rnn_weights"};
  const unsigned kind =
      static_cast<unsigned>(rnn.cell + 3 * rnn.directions + 5 * rnn.hidden + 7 * rnn.inputs + 11 * rnn.type);
  const unsigned at = (kind + static_cast<unsigned>(std::atoi(refuse.c_str() + 7))) * 2654435761u >> 29;
  return at < 4 && stages[at] == stage;
}

int check_rnn(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, const char* page) {
  if (const int status = check_handle(handle)) return status;
  if (is_live(desc) && desc->layers) return CUDNN_STATUS_SUCCESS;
  return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor of a recurrent network, or it was never set", page);
}

// A call of the three that compute.
struct RnnCall {
  cudnnHandle_t handle;
  cudnnRNNDescriptor_t desc;
  const std::int32_t* device_lengths;
  cudnnRNNDataDescriptor_t x, y;
  cudnnTensorDescriptor_t h, c;
  std::size_t weights_bytes, workspace_bytes, reserve_bytes;
  bool training;
  const char *stage, *page;
};

std::size_t rows_of(const RnnData& data) {
  return static_cast<std::size_t>(std::accumulate(data.lengths.begin(), data.lengths.end(), 0));
}
std::size_t weight_bytes(const Rnn& rnn) { return weight_elements(rnn) * type_bytes(rnn.type); }
// For all steps of the longest sequence, as the lengths may change.
std::size_t reserve_bytes(const Rnn& rnn, const RnnData& data) {
  return static_cast<std::size_t>(rnn.directions) * data.lengths.size() *
         static_cast<std::size_t>(data.lengths.front()) * reserved_numbers(rnn) * accumulator_bytes(rnn);
}
std::size_t state_bytes(const Rnn& rnn, const RnnData& data, int size) {
  return static_cast<std::size_t>(rnn.directions) * data.lengths.size() * static_cast<std::size_t>(size) *
         type_bytes(rnn.type);
}

bool is_state(cudnnTensorDescriptor_t desc, const Rnn& rnn, const RnnData& data, int size) {
  const int dims[] = {rnn.directions, static_cast<int>(data.lengths.size()), size},
            strides[] = {dims[1] * size, size, 1};
  return is_live(desc) && desc->type == rnn.type && desc->nd == 3 && std::equal(dims, dims + 3, desc->dims) &&
         std::equal(strides, strides + 3, desc->strides);
}

int check_call(const RnnCall& call) {
  if (const int status = check_rnn(call.handle, call.desc, call.page)) return status;
  const Rnn& rnn = *call.desc;
  if (settings().cudnn < 8901 && !call.device_lengths)
    return refuse(CUDNN_STATUS_BAD_PARAM, "before 8.9.1 it needs the lengths in device memory as well", call.page);
  if (!is_live(call.x) || !is_live(call.y) || call.x->lengths.empty() || call.y->lengths != call.x->lengths ||
      call.x->type != rnn.type || call.y->type != rnn.type || call.x->vector != rnn.inputs ||
      call.y->vector != rnn.directions * rnn.state)
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "x and y have not the type and the sizes of the layer, or not the same lengths", call.page);
  if (!is_state(call.h, rnn, *call.x, rnn.state) ||
      (rnn.cell == CUDNN_LSTM && call.c && !is_state(call.c, rnn, *call.x, rnn.hidden)))
    return refuse(CUDNN_STATUS_BAD_PARAM, "states are packed [directions, sequences, size]", call.page);
  if (call.weights_bytes < weight_bytes(rnn) || call.workspace_bytes < workspace_needed ||
      (call.training && call.reserve_bytes < reserve_bytes(rnn, *call.x)))
    return refuse(CUDNN_STATUS_BAD_PARAM, "the weights, the workspace or the reserve are smaller than needed",
                  call.page);
  if (is_refused(rnn, call.stage))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "the layer is refused, as the setting says", call.page);
  int status = CUDA_SUCCESS;
  const Stream* const stream = stream_of(call.handle->stream, status);
  if (stream && stream->capture && call.x->lengths.front() != call.x->lengths.back())
    return refuse(CUDNN_STATUS_EXECUTION_FAILED,
                  "it copies different lengths from the host, and the stream is being captured", page::capture);
  return CUDNN_STATUS_SUCCESS;
}

std::uint64_t duration(const Rnn& rnn, const RnnData& x, const std::vector<Memory>& memory) {
  const Settings& s = settings();
  const double products =
      2.0 * static_cast<double>(rows_of(x)) * rnn.directions * gates_of(rnn) * rnn.hidden * (rnn.inputs + rnn.state);
  return time_of(products,
                 rnn.type == CUDNN_DATA_DOUBLE  ? s.float64
                 : rounds_to_tf32(rnn)          ? s.tf32
                 : rnn.type == CUDNN_DATA_FLOAT ? s.float32
                                                : s.float16,
                 memory);
}

// Queues a pass. members: what of RnnMemory each part of the memory is; the workspace is the last part.
int queue_pass(const RnnCall& call, RnnPass pass, const std::vector<Memory>& memory,
               const std::vector<char * RnnMemory::*>& members) {
  return queue(call.handle, memory, duration(*call.desc, *call.x, memory), call.page,
               [=, rnn = *call.desc, lengths = call.x->lengths, bytes = memory.back().bytes](char* const* at) {
                 RnnMemory m;
                 for (std::size_t i = 0; i < members.size(); ++i) m.*members[i] = at[i];
                 std::memset(at[members.size()], 0xa5, bytes);  // it is cudnn's to overwrite
                 compute_rnn(rnn, lengths, pass, m);
               });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int mode,
                                        cudnnRNNDataDescriptor_t x, std::size_t* workspace, std::size_t* reserve) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_rnn(handle, desc, page::rnn_spaces)) return status;
  if (!is_live(x) || x->lengths.empty() || x->type != desc->type || x->vector != desc->inputs || !workspace)
    return refuse(CUDNN_STATUS_BAD_PARAM, "x has not the type and the size of the layer's inputs", page::rnn_spaces);
  if (is_refused(*desc, "rnn"))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "the layer is refused, as the setting says", page::rnn_spaces);
  // cuDNN 9.19 on an H100 takes 128 units of float, and not 200 or 650.
  if (desc->small && (desc->hidden != 128 || desc->state != 128 || desc->type != CUDNN_DATA_FLOAT))
    return CUDNN_STATUS_NOT_SUPPORTED;
  *workspace = workspace_needed;
  if (reserve) *reserve = mode == CUDNN_FWD_MODE_TRAINING ? reserve_bytes(*desc, *x) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, std::size_t* bytes) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_rnn(handle, desc, page::rnn_weights)) return status;
  *bytes = weight_bytes(*desc);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, std::int32_t pseudo_layer,
                                      std::size_t bytes, const void* weights, std::int32_t piece,
                                      cudnnTensorDescriptor_t matrix_desc, void** matrix,
                                      cudnnTensorDescriptor_t bias_desc, void** bias) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (const int status = check_rnn(handle, desc, page::rnn_weights)) return status;
  const Rnn& rnn = *desc;
  if (pseudo_layer < 0 || pseudo_layer >= rnn.directions || piece < 0 || piece > 2 * gates_of(rnn) ||
      (piece == 2 * gates_of(rnn) && rnn.cell != CUDNN_LSTM) || bytes < weight_bytes(rnn))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "there is no piece " + std::to_string(piece) + " of direction " + std::to_string(pseudo_layer) +
                      " in " + std::to_string(bytes) + " bytes",
                  page::rnn_weights);
  if (!is_live(matrix_desc) || !is_live(bias_desc) || !matrix || !bias || !weights)
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor or an address is missing", page::rnn_weights);
  const Piece p = find_piece(rnn, pseudo_layer, piece);
  const auto address = [&](std::size_t element) {
    return const_cast<char*>(static_cast<const char*>(weights)) + element * type_bytes(rnn.type);
  };
  const auto describe_piece = [&](cudnnTensorDescriptor_t to, bool exists, int columns) {
    *to = exists ? Tensor{rnn.type, 3, {1, p.rows, columns}, {p.rows * columns, columns, 1}} : Tensor{};
  };
  describe_piece(matrix_desc, p.rows, p.columns);
  describe_piece(bias_desc, p.has_bias, 1);
  *matrix = p.rows ? address(p.matrix) : nullptr;
  *bias = p.has_bias ? address(p.bias) : nullptr;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int mode, const std::int32_t* lengths,
                              cudnnRNNDataDescriptor_t x_desc, const void* x, cudnnRNNDataDescriptor_t y_desc, void* y,
                              cudnnTensorDescriptor_t h_desc, const void* hx, void* hy, cudnnTensorDescriptor_t c_desc,
                              const void* cx, void* cy, std::size_t weights_bytes, const void* weights,
                              std::size_t workspace_bytes, void* workspace, std::size_t reserve_size, void* reserve) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  const bool training = mode == CUDNN_FWD_MODE_TRAINING;
  const RnnCall rnn_call{handle,   desc,          lengths,          x_desc,          y_desc,
                         h_desc,   c_desc,        weights_bytes,    workspace_bytes, reserve_size,
                         training, "rnn_forward", page::rnn_forward};
  if (const int status = check_call(rnn_call)) return status;
  const std::size_t h = state_bytes(*desc, *x_desc, desc->state), c = state_bytes(*desc, *x_desc, desc->hidden),
                    row = rows_of(*x_desc) * type_bytes(desc->type);
  return queue_pass(rnn_call, RnnPass::forward,
                    {{"x", x, row * static_cast<std::size_t>(x_desc->vector)},
                     {"y", y, row * static_cast<std::size_t>(y_desc->vector)},
                     {"hx", hx, h, true},
                     {"cx", desc->cell == CUDNN_LSTM ? cx : nullptr, c, true},
                     {"hy", hy, h, true},
                     {"cy", desc->cell == CUDNN_LSTM ? cy : nullptr, c, true},
                     {"weights", weights, weights_bytes},
                     {"reserve", training ? reserve : nullptr, reserve_size, !training},
                     {"workspace", workspace, workspace_bytes}},
                    {&RnnMemory::x, &RnnMemory::y, &RnnMemory::hx, &RnnMemory::cx, &RnnMemory::hy, &RnnMemory::cy,
                     &RnnMemory::weights, &RnnMemory::reserve});
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, const std::int32_t* lengths,
                                      cudnnRNNDataDescriptor_t y_desc, const void* y, const void* dy,
                                      cudnnRNNDataDescriptor_t x_desc, void* dx, cudnnTensorDescriptor_t h_desc,
                                      const void* hx, const void* dhy, void* dhx, cudnnTensorDescriptor_t c_desc,
                                      const void* cx, const void* dcy, void* dcx, std::size_t weights_bytes,
                                      const void* weights, std::size_t workspace_bytes, void* workspace,
                                      std::size_t reserve_size, void* reserve) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  const RnnCall rnn_call{handle,
                         desc,
                         lengths,
                         x_desc,
                         y_desc,
                         h_desc,
                         c_desc,
                         weights_bytes,
                         workspace_bytes,
                         reserve_size,
                         true,
                         "rnn_data",
                         page::rnn_backward_data};
  if (const int status = check_call(rnn_call)) return status;
  const std::size_t h = state_bytes(*desc, *x_desc, desc->state), c = state_bytes(*desc, *x_desc, desc->hidden),
                    row = rows_of(*x_desc) * type_bytes(desc->type);
  const auto cell = [&](const void* p) { return desc->cell == CUDNN_LSTM ? p : nullptr; };
  return queue_pass(rnn_call, RnnPass::data,
                    {{"y", y, row * static_cast<std::size_t>(y_desc->vector)},
                     {"dy", dy, row * static_cast<std::size_t>(y_desc->vector)},
                     {"dx", dx, row * static_cast<std::size_t>(x_desc->vector)},
                     {"hx", hx, h, true},
                     {"dhy", dhy, h, true},
                     {"dhx", dhx, h, true},
                     {"cx", cell(cx), c, true},
                     {"dcy", cell(dcy), c, true},
                     {"dcx", cell(dcx), c, true},
                     {"weights", weights, weights_bytes},
                     {"reserve", reserve, reserve_size},
                     {"workspace", workspace, workspace_bytes}},
                    {&RnnMemory::y, &RnnMemory::dy, &RnnMemory::dx, &RnnMemory::hx, &RnnMemory::dhy, &RnnMemory::dhx,
                     &RnnMemory::cx, &RnnMemory::dcy, &RnnMemory::dcx, &RnnMemory::weights, &RnnMemory::reserve});
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int mode,
                                         const std::int32_t* lengths, cudnnRNNDataDescriptor_t x_desc, const void* x,
                                         cudnnTensorDescriptor_t h_desc, const void* hx,
                                         cudnnRNNDataDescriptor_t y_desc, const void* y, std::size_t weights_bytes,
                                         void* dweights, std::size_t workspace_bytes, void* workspace,
                                         std::size_t reserve_size, void* reserve) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  if (mode != CUDNN_WGRAD_MODE_ADD)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "gradients of weights are added to what is there",
                  page::rnn_backward_weights);
  const RnnCall rnn_call{handle,
                         desc,
                         lengths,
                         x_desc,
                         y_desc,
                         h_desc,
                         nullptr,
                         weights_bytes,
                         workspace_bytes,
                         reserve_size,
                         true,
                         "rnn_weights",
                         page::rnn_backward_weights};
  if (const int status = check_call(rnn_call)) return status;
  const std::size_t row = rows_of(*x_desc) * type_bytes(desc->type);
  return queue_pass(rnn_call, RnnPass::weights,
                    {{"x", x, row * static_cast<std::size_t>(x_desc->vector)},
                     {"y", y, row * static_cast<std::size_t>(y_desc->vector)},
                     {"hx", hx, state_bytes(*desc, *x_desc, desc->state), true},
                     {"dweights", dweights, weights_bytes},
                     {"reserve", reserve, reserve_size},
                     {"workspace", workspace, workspace_bytes}},
                    {&RnnMemory::x, &RnnMemory::y, &RnnMemory::hx, &RnnMemory::weights, &RnnMemory::reserve});
}

}  // extern "C"
