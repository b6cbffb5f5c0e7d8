// What cudnn's recurrent functions share: one layer, in one direction or both, by the standard algorithm.
#pragma once
#include "cudnn.hpp"

namespace abi {

struct cudnnDropoutStruct {
  bool set = false;
};

// layers = 0: not set yet.
struct cudnnRNNStruct {
  int cell = 0, bias = 0, directions = 1, type = 0, math = 0, inputs = 0, hidden = 0, state = 0, layers = 0;
  bool small = false;  // by the algorithm for small layers
};

// No lengths: not set yet.
struct cudnnRNNDataStruct {
  int type = 0, vector = 0;
  std::vector<int> lengths;  // of the sequences, the longest first
};

}  // namespace abi

namespace emulator::dnn {

using Rnn = abi::cudnnRNNStruct;
using RnnData = abi::cudnnRNNDataStruct;

int gates_of(const Rnn& rnn);
bool reduces(const Rnn& rnn);
bool rounds_to_tf32(const Rnn& rnn);

/// A matrix and a bias in the block of weights, by their first elements. rows = 0: there is none.
struct Piece {
  std::size_t matrix = 0, bias = 0;
  int rows = 0, columns = 0;
  bool has_bias = false;
};
/// Piece `number` of a direction: the gates of the inputs, then those of the states, then the product that reduces
/// states.
Piece find_piece(const Rnn& rnn, int direction, int number);
std::size_t weight_elements(const Rnn& rnn);

/// What the backward pass needs of a row, in numbers of the accumulator's type: the forward pass leaves gates, cells
/// and units; the gradient of the data, in place of the gates, what the gradient of the weights needs.
std::size_t reserved_numbers(const Rnn& rnn);
/// Bytes of the accumulator's type.
std::size_t accumulator_bytes(const Rnn& rnn);

/// Views of a call's memory; null where there is none.
struct RnnMemory {
  char *x = nullptr, *y = nullptr, *hx = nullptr, *cx = nullptr, *hy = nullptr, *cy = nullptr, *weights = nullptr,
       *reserve = nullptr;
  char *dx = nullptr, *dy = nullptr, *dhx = nullptr, *dcx = nullptr, *dhy = nullptr, *dcy = nullptr;
};
enum class RnnPass { forward, data, weights };
/// By plain loops. lengths: of the sequences.
void compute_rnn(const Rnn& rnn, const std::vector<int>& lengths, RnnPass pass, const RnnMemory& memory);

}  // namespace emulator::dnn
