// The emulated cudnn: recurrent layers against their formulas, their gradients against differences, and what they
// refuse.
#include <cmath>

#include "cudnn.hpp"

using namespace emulator_test;

namespace {

using Numbers = std::vector<double>;

// A layer of doubles, over sequences of these lengths.
struct Kind {
  int cell, inputs, hidden, state, directions = 1, bias = CUDNN_RNN_DOUBLE_BIAS;
  Sizes lengths = {3, 2};
  int gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
  std::size_t rows() const {
    std::size_t sum = 0;
    for (const int n : lengths) sum += static_cast<std::size_t>(n);
    return sum;
  }
};

struct Layer {
  Kind kind;
  Library dnn;
  OwnedDropout dropout;
  OwnedRnn rnn;
  OwnedData x, y;
  OwnedTensor h, c;
  std::size_t weights_bytes = 0, workspace_bytes = 0, reserve_bytes = 0;

  explicit Layer(const Kind& k, int type = CUDNN_DATA_DOUBLE, int math = CUDNN_DEFAULT_MATH) : kind(k) {
    const int compute = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
              n = static_cast<int>(k.lengths.size());
    EXPECT(cudnnSetDropoutDescriptor(dropout, dnn, 0, nullptr, 0, 0) == 0);
    EXPECT(cudnnSetRNNDescriptor_v8(rnn, 0, k.cell, k.bias, k.directions - 1, 0, type, compute, math, k.inputs,
                                    k.hidden, k.state, 1, dropout, 0) == 0);
    EXPECT(set_lengths(x, type, k.lengths, k.inputs) == 0 &&
           set_lengths(y, type, k.lengths, k.directions * k.state) == 0);
    EXPECT(set_states(h, type, n, k.state) == 0 && set_states(c, type, n, k.hidden) == 0);
    EXPECT(cudnnGetRNNWeightSpaceSize(dnn, rnn, &weights_bytes) == 0);
    EXPECT(cudnnGetRNNTempSpaceSizes(dnn, rnn, CUDNN_FWD_MODE_TRAINING, x, &workspace_bytes, &reserve_bytes) == 0);
  }

  static int set_lengths(cudnnRNNDataDescriptor_t desc, int type, const Sizes& lengths, int size) {
    return cudnnSetRNNDataDescriptor(desc, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, lengths[0],
                                     static_cast<int>(lengths.size()), size, lengths.data(), nullptr);
  }
  int set_states(cudnnTensorDescriptor_t desc, int type, int n, int size) const {
    const int dims[] = {kind.directions, n, size}, strides[] = {n * size, size, 1};
    return cudnnSetTensorNdDescriptor(desc, type, 3, dims, strides);
  }

  // Where a piece's matrix and bias begin, in elements.
  std::pair<std::size_t, std::size_t> piece(int direction, int number) const {
    const Array<char> block(weights_bytes);
    const OwnedTensor matrix, bias;
    void *matrix_data = nullptr, *bias_data = nullptr;
    EXPECT(cudnnGetRNNWeightParams(dnn, rnn, direction, weights_bytes, at(block), number, matrix, &matrix_data, bias,
                                   &bias_data) == 0);
    const auto element = [&](void* p) {
      return p ? static_cast<std::size_t>(static_cast<char*>(p) - static_cast<char*>(at(block))) / sizeof(double) : 0;
    };
    return {element(matrix_data), element(bias_data)};
  }
};

// Operands and results of a layer, on the host.
struct Values {
  Numbers x, h, c, w;
};
struct Results {
  Numbers y, h, c;
};

Values values_for(const Layer& layer) {
  const Kind& k = layer.kind;
  const std::size_t states = static_cast<std::size_t>(k.directions) * k.lengths.size();
  return {wave(k.rows() * static_cast<std::size_t>(k.inputs), 0.7),
          wave(states * static_cast<std::size_t>(k.state), 0.9), wave(states * static_cast<std::size_t>(k.hidden), 0.4),
          wave(layer.weights_bytes / sizeof(double), 0.3)};
}

Results forward(const Layer& layer, const Values& v, const Array<char>* reserve = nullptr) {
  const Array<double> x(v.x), h(v.h), c(v.c), w(v.w), hy(v.h.size()), cy(v.c.size()),
      y(layer.kind.rows() * static_cast<std::size_t>(layer.kind.directions * layer.kind.state));
  const Array<char> workspace(layer.workspace_bytes);
  EXPECT(cudnnRNNForward(layer.dnn, layer.rnn, reserve ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, nullptr,
                         layer.x, at(x), layer.y, at(y), layer.h, at(h), at(hy), layer.c, at(c), at(cy),
                         layer.weights_bytes, at(w), layer.workspace_bytes, at(workspace),
                         reserve ? layer.reserve_bytes : 0, reserve ? at(*reserve) : nullptr) == 0);
  return {y.values(), hy.values(), layer.kind.cell == CUDNN_LSTM ? cy.values() : Numbers()};
}

double sigma(double v) { return 1 / (1 + std::exp(-v)); }

// The same by the formulas, one sequence after the other.
Results written(const Layer& layer, const Values& v) {
  const Kind& k = layer.kind;
  const int n = static_cast<int>(k.lengths.size()), wide = k.directions * k.state;
  Results r{Numbers(k.rows() * static_cast<std::size_t>(wide)), v.h, k.cell == CUDNN_LSTM ? v.c : Numbers()};
  const auto first_row = [&](int t) {
    int row = 0;
    for (int i = 0; i < t; ++i)
      for (const int length : k.lengths) row += length > i;
    return row;
  };
  for (int d = 0; d < k.directions; ++d)
    for (int s = 0; s < n; ++s)
      for (int i = 0; i < k.lengths[static_cast<std::size_t>(s)]; ++i) {
        const int row = first_row(d ? k.lengths[static_cast<std::size_t>(s)] - 1 - i : i) + s;
        double* const h = r.h.data() + (d * n + s) * k.state;
        const auto sum = [&](int number, int u) {
          const auto [matrix, bias] = layer.piece(d, number);
          const bool own = number >= k.gates();
          const int columns = own ? k.state : k.inputs;
          double total = k.bias == CUDNN_RNN_NO_BIAS ? 0 : v.w[bias + static_cast<std::size_t>(u)];
          for (int j = 0; j < columns; ++j)
            total += v.w[matrix + static_cast<std::size_t>(u * columns + j)] *
                     (own ? h[j] : v.x[static_cast<std::size_t>(row * k.inputs + j)]);
          return total;
        };
        Numbers units;
        for (int u = 0; u < k.hidden; ++u) {
          const auto gate = [&](int g) { return sum(g, u) + sum(k.gates() + g, u); };
          if (k.cell == CUDNN_LSTM) {
            double& c = r.c[static_cast<std::size_t>((d * n + s) * k.hidden + u)];
            c = sigma(gate(1)) * c + sigma(gate(0)) * std::tanh(gate(2));
            units.push_back(sigma(gate(3)) * std::tanh(c));
          } else if (k.cell == CUDNN_GRU) {
            const double z = sigma(gate(1));
            units.push_back((1 - z) * std::tanh(sum(2, u) + sigma(gate(0)) * sum(5, u)) + z * h[u]);
          } else {
            units.push_back(std::tanh(gate(0)));
          }
        }
        const auto reduce = k.state < k.hidden ? layer.piece(d, 2 * k.gates()).first : 0;
        for (int p = 0; p < k.state; ++p) {
          h[p] = k.state < k.hidden ? 0 : units[static_cast<std::size_t>(p)];
          if (k.state < k.hidden)
            for (int u = 0; u < k.hidden; ++u)
              h[p] += v.w[reduce + static_cast<std::size_t>(p * k.hidden + u)] * units[static_cast<std::size_t>(u)];
          r.y[static_cast<std::size_t>(row * wide + d * k.state + p)] = h[p];
        }
      }
  return r;
}

double furthest(const Numbers& a, const Numbers& b) {
  EXPECT(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::isnan(a[i]) ? INFINITY : std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

const Kind kinds[] = {{CUDNN_LSTM, 2, 3, 3, 2},
                      {CUDNN_LSTM, 3, 3, 2, 2},
                      {CUDNN_LSTM, 2, 2, 2, 1, CUDNN_RNN_NO_BIAS},
                      {CUDNN_GRU, 2, 3, 3, 2},
                      {CUDNN_GRU, 3, 2, 2, 1, CUDNN_RNN_NO_BIAS},
                      {CUDNN_RNN_TANH, 2, 3, 3, 2, CUDNN_RNN_DOUBLE_BIAS, {4, 4, 1}}};

}  // namespace

CHILD_CASE("cuda emulator: recurrent layers are their formulas") {
  start();
  for (const Kind& kind : kinds) {
    const Layer layer(kind);
    const Values v = values_for(layer);
    const Array<char> reserve(layer.reserve_bytes);
    const Results expected = written(layer, v);
    for (const Array<char>* kept : {static_cast<const Array<char>*>(nullptr), &reserve}) {
      const Results got = forward(layer, v, kept);
      EXPECT(furthest(got.y, expected.y) < 1e-12 && furthest(got.h, expected.h) < 1e-12 &&
             furthest(got.c, expected.c) < 1e-12);
    }
  }
}

CHILD_CASE("cuda emulator: gradients of recurrent layers are differences, and use up the reserve") {
  start();
  for (const Kind& kind : kinds) {
    const Layer layer(kind);
    const Values v = values_for(layer);
    const Array<char> reserve(layer.reserve_bytes), workspace(layer.workspace_bytes);
    const Results r = forward(layer, v, &reserve);
    const Results g{wave(r.y.size(), 0.8), wave(r.h.size(), 0.6), wave(r.c.size(), 0.5)};
    const auto loss = [&](const Values& moved) {
      const Results y = forward(layer, moved);
      return dot(y.y, g.y) + dot(y.h, g.h) + dot(y.c, g.c);
    };
    const Array<double> x(v.x), h(v.h), c(v.c), w(v.w), y(r.y), dy(g.y), dhy(g.h), dcy(v.c.size()), dx(v.x.size()),
        dh(v.h.size()), dc(v.c.size()), dw(Numbers(v.w.size(), 1));
    if (!g.c.empty()) EXPECT(cuMemcpyHtoD_v2(dcy, g.c.data(), g.c.size() * sizeof(double)) == 0);
    const auto data = [&] {
      return cudnnRNNBackwardData_v8(layer.dnn, layer.rnn, nullptr, layer.y, at(y), at(dy), layer.x, at(dx), layer.h,
                                     at(h), at(dhy), at(dh), layer.c, at(c), at(dcy), at(dc), layer.weights_bytes,
                                     at(w), layer.workspace_bytes, at(workspace), layer.reserve_bytes, at(reserve));
    };
    EXPECT(data() == 0);
    EXPECT(cudnnRNNBackwardWeights_v8(layer.dnn, layer.rnn, CUDNN_WGRAD_MODE_ADD, nullptr, layer.x, at(x), layer.h,
                                      at(h), layer.y, at(y), layer.weights_bytes, at(dw), layer.workspace_bytes,
                                      at(workspace), layer.reserve_bytes, at(reserve)) == 0);
    const auto check = [&](Numbers Values::* what, const Numbers& got, double before) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        Values up = v, down = v;
        (up.*what)[i] += 1e-5, (down.*what)[i] -= 1e-5;
        EXPECT(std::fabs((loss(up) - loss(down)) / 2e-5 + before - got[i]) < 1e-8);
      }
    };
    const Numbers once = dx.values();
    check(&Values::x, once, 0);
    check(&Values::h, dh.values(), 0);
    if (kind.cell == CUDNN_LSTM) check(&Values::c, dc.values(), 0);
    check(&Values::w, dw.values(), 1);  // added
    EXPECT(data() == 0);
    EXPECT(furthest(dx.values(), once) > 1e-6);
  }
}

CHILD_CASE("cuda emulator: recurrent layers of other types, and TF32") {
  start();
  const Kind one{CUDNN_RNN_TANH, 1, 1, 1, 1, CUDNN_RNN_NO_BIAS, {1}};
  const auto run = [&]<class T>(const Layer& layer, T number) {
    const std::size_t elements = layer.weights_bytes / sizeof(T);
    const Array<T> x(std::vector<T>{number}), y(1), w(std::vector<T>(elements, number));
    const Array<char> workspace(layer.workspace_bytes);
    EXPECT(cudnnRNNForward(layer.dnn, layer.rnn, CUDNN_FWD_MODE_INFERENCE, nullptr, layer.x, at(x), layer.y, at(y),
                           layer.h, nullptr, nullptr, nullptr, nullptr, nullptr, layer.weights_bytes, at(w),
                           layer.workspace_bytes, at(workspace), 0, nullptr) == 0);
    return y.values()[0];
  };
  const float fine = 1 + 0x1p-12f;
  EXPECT(run(Layer(one, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH), fine) == std::tanh(fine * fine));
  EXPECT(run(Layer(one, CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH), fine) == std::tanh(1.f));
  EXPECT(run(Layer(one, CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH), std::uint16_t{0x3c00}) == 0x3a18);  // tanh 1 in half
  EXPECT(run(Layer(one, CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_OP_MATH), std::uint16_t{0x3f80}) == 0x3f43);  // in bfloat16
}

CHILD_CASE("cuda emulator: descriptors of recurrent layers that are refused") {
  start();
  const Layer layer({CUDNN_LSTM, 2, 3, 3});
  const OwnedDropout unset;
  const OwnedRnn rnn;
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "dropout", cudnnSetDropoutDescriptor(unset, layer.dnn, 0.5f, nullptr, 0, 0));
  const auto set = [&](int algo, int cell, int direction, int type, int compute, int math, int inputs, int projected,
                       cudnnDropoutDescriptor_t dropout) {
    return cudnnSetRNNDescriptor_v8(rnn, algo, cell, CUDNN_RNN_DOUBLE_BIAS, direction, 0, type, compute, math, inputs,
                                    3, projected, 1, dropout, 0);
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "dropout was not set", set(0, 2, 0, 0, 0, 0, 2, 3, unset));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "standard algorithm", set(1, 2, 0, 0, 0, 0, 2, 3, layer.dropout));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "cell 0", set(0, 0, 0, 0, 0, 0, 2, 3, layer.dropout));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "direction 2", set(0, 2, 2, 0, 0, 0, 2, 3, layer.dropout));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "type 9 is not computed in type 9",
                 set(0, 2, 0, 9, 9, 0, 2, 3, layer.dropout));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "math type 1 for type 1", set(0, 2, 0, 1, 1, 1, 2, 3, layer.dropout));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "0 inputs", set(0, 2, 0, 0, 0, 0, 0, 3, layer.dropout));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "projected to 2", set(0, 3, 0, 0, 0, 0, 2, 2, layer.dropout));

  const OwnedData data;
  const int ordered[] = {3, 2}, others[] = {2, 3};
  const auto describe = [&](int layout, int longest, int size, const int* lengths) {
    return cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, layout, longest, 2, size, lengths, nullptr);
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no lengths", describe(1, 3, 2, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "layout 0", describe(0, 3, 2, ordered));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "at least 1", describe(1, 3, 0, ordered));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "the longest first", describe(1, 3, 2, others));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "[3, 2], not 4", describe(1, 4, 2, ordered));

  std::size_t bytes = 0;
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "never set", cudnnGetRNNWeightSpaceSize(layer.dnn, rnn, &bytes));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "of the layer's inputs",
                 cudnnGetRNNTempSpaceSizes(layer.dnn, layer.rnn, 0, layer.y, &bytes, nullptr));
  const OwnedTensor matrix;
  void* address = nullptr;
  const auto ask = [&](int direction, int piece, void* block) {
    return cudnnGetRNNWeightParams(layer.dnn, layer.rnn, direction, layer.weights_bytes, block, piece, matrix, &address,
                                   matrix, &address);
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "piece 9 of direction 0", ask(0, 9, &bytes));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "of direction 1", ask(1, 0, &bytes));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "address is missing", ask(0, 0, nullptr));
}

CHILD_CASE("cuda emulator: calls of recurrent layers that are refused") {
  start();
  const Layer layer({CUDNN_LSTM, 2, 3, 3});
  const Array<double> memory(1 << 12);
  const Stream stream;
  EXPECT(cudnnSetStream(layer.dnn, stream) == 0);
  const auto run = [&](cudnnRNNDataDescriptor_t x, cudnnTensorDescriptor_t h, std::size_t workspace) {
    return cudnnRNNForward(layer.dnn, layer.rnn, CUDNN_FWD_MODE_TRAINING, nullptr, x, at(memory), layer.y, at(memory),
                           h, nullptr, nullptr, layer.c, nullptr, nullptr, layer.weights_bytes, at(memory), workspace,
                           at(memory), layer.reserve_bytes, at(memory));
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "sizes of the layer", run(layer.y, layer.h, layer.workspace_bytes));
  const OwnedTensor flat;
  const int flat_sizes[] = {1, 1, 2, 3}, flat_strides[] = {6, 6, 3, 1};
  EXPECT(cudnnSetTensorNdDescriptor(flat, CUDNN_DATA_DOUBLE, 4, flat_sizes, flat_strides) == 0);
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "states are packed", run(layer.x, flat, layer.workspace_bytes));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "smaller than needed", run(layer.x, layer.h, 1));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "added to what is there",
                 cudnnRNNBackwardWeights_v8(layer.dnn, layer.rnn, 1, nullptr, layer.x, at(memory), layer.h, nullptr,
                                            layer.y, at(memory), layer.weights_bytes, at(memory), layer.workspace_bytes,
                                            at(memory), layer.reserve_bytes, at(memory)));

  EXPECT(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  EXPECT_REFUSED(CUDNN_STATUS_EXECUTION_FAILED, "different lengths", run(layer.x, layer.h, layer.workspace_bytes));
  CUgraph graph = nullptr;
  EXPECT(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS);

  std::size_t bytes = 0;
  tern_emulator_set("refuse=rnn:0+rnn_forward:0");
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "as the setting says", run(layer.x, layer.h, layer.workspace_bytes));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "as the setting says",
                 cudnnGetRNNTempSpaceSizes(layer.dnn, layer.rnn, 0, layer.x, &bytes, nullptr));
  tern_emulator_set("refuse=,cudnn=8900");
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "before 8.9.1", run(layer.x, layer.h, layer.workspace_bytes));
}
