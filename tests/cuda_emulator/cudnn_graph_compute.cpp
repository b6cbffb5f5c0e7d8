// A graph's operations one after another, each over whole tensors. Virtual tensors are in memory of the host, in the
// type and with the strides that they are declared with; sums are in float, or double where the operands are.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cudnn_elements.hpp"
#include "cudnn_graph.hpp"

using namespace abi;

namespace emulator::dnn {

Sizes broadcast_strides(const GraphTensor& tensor, const Sizes& dims) {
  Sizes strides = tensor.strides;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (tensor.dims[i] == 1) strides[i] = 0;
  return strides;
}

namespace {

// f(offsets, index) for each index, in row-major order; offsets: of n tensors with these strides.
template <std::size_t n, class F>
void walk(const Sizes& dims, const std::array<Sizes, n>& strides, const F& f) {
  std::array<std::ptrdiff_t, n> at{};
  Sizes index(dims.size());
  while (true) {
    f(at, index);
    std::size_t d = dims.size();
    while (d-- > 0) {
      ++index[d];
      for (std::size_t k = 0; k < n; ++k) at[k] += strides[k][d];
      if (index[d] < dims[d]) break;
      for (std::size_t k = 0; k < n; ++k) at[k] -= strides[k][d] * dims[d];
      index[d] = 0;
      if (d == 0) return;
    }
  }
}

class Interpreter {
 public:
  Interpreter(const OperationGraph& graph, const GraphEngine& engine, std::map<std::int64_t, char*> data)
      : engine_(engine), data_(std::move(data)) {
    for (const auto& [uid, t] : graph.tensors)
      if (t.is_virtual) data_[uid] = rooms_.emplace_back(extent(t), static_cast<char>(0xff)).data();
  }

  void run(const Operation& op) {
    switch (op.kind()) {
      case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return pointwise(op);
      case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return matmul(op);
      case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return reduce(op);
      case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR: return generate(op);
      case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: return reshape(op);
      case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR: return norm(op);
      case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR: return norm_backward(op);
      default: return convolution(op);
    }
  }

 private:
  double get(const GraphTensor& t, std::ptrdiff_t offset) const { return read(t.type, data_.at(t.uid), offset); }
  void put(const GraphTensor& t, std::ptrdiff_t offset, double value) const {
    write(t.type, data_.at(t.uid), offset, value);
  }
  double scalar(const Operation& op, int attribute) const { return get(op.at(attribute), 0); }
  // To the type that an operation computes in.
  static double rounded(const Part& rule, int precision, double value) {
    return rule.integer(precision) == CUDNN_DATA_DOUBLE ? value : static_cast<float>(value);
  }

  void pointwise(const Operation& op) const {
    const Part& rule = *op.part->part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const std::int64_t axis = rule.integer(CUDNN_ATTR_POINTWISE_AXIS, -1);
    const GraphTensor& y = op.outputs.begin()->second;
    const GraphTensor* in[4];
    std::array<Sizes, 5> strides{y.strides};
    const int names[] = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                         CUDNN_ATTR_OPERATION_POINTWISE_TDESC, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC};
    for (std::size_t k = 0; k < 4; ++k) {
      in[k] = op.find(names[k]);
      strides[k + 1] = in[k] ? broadcast_strides(*in[k], y.dims) : Sizes(y.dims.size());
    }
    const double alpha = op.part->number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1),
                 beta = op.part->number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    walk(y.dims, strides, [&](const auto& at, const Sizes& index) {
      PointwiseInputs v;
      if (in[0]) v.x = alpha * get(*in[0], at[1]);
      if (in[1]) v.b = beta * get(*in[1], at[2]);
      if (in[2]) v.t = get(*in[2], at[3]);
      if (in[3]) v.dy = get(*in[3], at[4]);
      if (axis >= 0) v.index = index[static_cast<std::size_t>(axis)];
      put(y, at[0], rounded(rule, CUDNN_ATTR_POINTWISE_MATH_PREC, compute_pointwise(rule, v)));
    });
  }

  // One matrix, in rows, rounded as tensor cores take it: to TF32, or to the 16 bits of what it is multiplied with.
  template <class A>
  std::vector<A> matrix(const GraphTensor& t, std::ptrdiff_t first, int other) const {
    const std::size_t nd = t.dims.size();
    const bool rounds = t.type == CUDNN_DATA_FLOAT && engine_.tensor_cores;
    std::vector<A> out;
    out.reserve(static_cast<std::size_t>(t.dims[nd - 2] * t.dims[nd - 1]));
    for (std::int64_t i = 0; i < t.dims[nd - 2]; ++i)
      for (std::int64_t j = 0; j < t.dims[nd - 1]; ++j) {
        const double value = get(t, first + i * t.strides[nd - 2] + j * t.strides[nd - 1]);
        if (!rounds) out.push_back(static_cast<A>(value));
        else if (other == CUDNN_DATA_HALF) out.push_back(half_to_float(float_to_half(static_cast<float>(value))));
        else if (other == CUDNN_DATA_BFLOAT16)
          out.push_back(bfloat16_to_float(float_to_bfloat16(static_cast<float>(value))));
        else out.push_back(round_to_tf32(static_cast<float>(value)));
      }
    return out;
  }

  void matmul(const Operation& op) const {
    if (op.part->part(CUDNN_ATTR_OPERATION_MATMUL_DESC)->integer(CUDNN_ATTR_MATMUL_COMP_TYPE) == CUDNN_DATA_DOUBLE)
      multiply<double>(op);
    else multiply<float>(op);
  }

  template <class A>
  void multiply(const Operation& op) const {
    const GraphTensor &a = op.at(CUDNN_ATTR_OPERATION_MATMUL_ADESC), &b = op.at(CUDNN_ATTR_OPERATION_MATMUL_BDESC),
                      &c = op.at(CUDNN_ATTR_OPERATION_MATMUL_CDESC);
    const std::size_t nd = c.dims.size();
    const auto rows = static_cast<std::size_t>(c.dims[nd - 2]), columns = static_cast<std::size_t>(c.dims[nd - 1]),
               inner = static_cast<std::size_t>(a.dims[nd - 1]);
    Sizes batch(c.dims.begin(), c.dims.end() - 2);
    if (batch.empty()) batch = {1};
    // Which matrix of an operand meets one of the result's: neighbours share one where the operand has fewer.
    const auto place = [&](const GraphTensor& t, const Sizes& index) {
      std::ptrdiff_t offset = 0;
      for (std::size_t i = 0; i + 2 < nd; ++i) offset += index[i] / (c.dims[i] / t.dims[i]) * t.strides[i];
      return offset;
    };
    walk(batch, std::array<Sizes, 1>{Sizes(batch.size())}, [&](const auto&, const Sizes& index) {
      const std::vector<A> va = matrix<A>(a, place(a, index), b.type), vb = matrix<A>(b, place(b, index), a.type);
      const std::ptrdiff_t first = place(c, index);
      std::vector<A> row(columns);
      for (std::size_t i = 0; i < rows; ++i) {
        std::fill(row.begin(), row.end(), A{});
        for (std::size_t k = 0; k < inner; ++k)
          for (std::size_t j = 0; j < columns; ++j) row[j] += va[i * inner + k] * vb[k * columns + j];
        for (std::size_t j = 0; j < columns; ++j)
          put(c,
              first + static_cast<std::ptrdiff_t>(i) * c.strides[nd - 2] +
                  static_cast<std::ptrdiff_t>(j) * c.strides[nd - 1],
              row[j]);
      }
    });
  }

  // Dimensions that are smaller in y: as many neighbours give one as they are smaller by.
  void reduce(const Operation& op) const {
    const Part& rule = *op.part->part(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
    const auto mode = rule.integer(CUDNN_ATTR_REDUCTION_OPERATOR);
    const GraphTensor &x = op.at(CUDNN_ATTR_OPERATION_REDUCTION_XDESC),
                      &y = op.at(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    Sizes group(x.dims.size()), step(x.dims.size());
    std::int64_t size = 1;
    for (std::size_t i = 0; i < x.dims.size(); ++i) {
      group[i] = x.dims[i] / y.dims[i];
      step[i] = group[i] * x.strides[i];
      size *= group[i];
    }
    const bool maximum = mode == CUDNN_REDUCE_TENSOR_MAX, minimum = mode == CUDNN_REDUCE_TENSOR_MIN,
               product = mode == CUDNN_REDUCE_TENSOR_MUL;
    const bool magnitude = mode == CUDNN_REDUCE_TENSOR_AMAX || mode == CUDNN_REDUCE_TENSOR_NORM1;
    walk(y.dims, std::array{y.strides, step}, [&](const auto& at, const Sizes&) {
      double sum = maximum   ? -std::numeric_limits<double>::infinity()
                   : minimum ? std::numeric_limits<double>::infinity()
                             : product;
      walk(group, std::array{x.strides}, [&](const auto& inner, const Sizes&) {
        double v = get(x, at[1] + inner[0]);
        if (magnitude) v = std::fabs(v);
        if (mode == CUDNN_REDUCE_TENSOR_NORM2) v *= v;
        if (maximum || mode == CUDNN_REDUCE_TENSOR_AMAX) sum = v > sum || std::isnan(v) ? v : sum;
        else if (minimum) sum = v < sum || std::isnan(v) ? v : sum;
        else sum = rounded(rule, CUDNN_ATTR_REDUCTION_COMP_TYPE, product ? sum * v : sum + v);
      });
      if (mode == CUDNN_REDUCE_TENSOR_AVG) sum /= static_cast<double>(size);
      if (mode == CUDNN_REDUCE_TENSOR_NORM2) sum = std::sqrt(sum);
      put(y, at[0], rounded(rule, CUDNN_ATTR_REDUCTION_COMP_TYPE, sum));
    });
  }

  // Numbers that depend on seed, offset and position alone: SplitMix64's mixing of the three.
  void generate(const Operation& op) const {
    const Part& rule = *op.part->part(CUDNN_ATTR_OPERATION_RNG_DESC);
    const double probability = rule.number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY);
    const GraphTensor& y = op.at(CUDNN_ATTR_OPERATION_RNG_YDESC);
    const auto integer = [&](const GraphTensor& t) {
      return static_cast<std::uint64_t>(t.type == CUDNN_DATA_INT64 ? element<std::int64_t>(data_.at(t.uid), 0)
                                                                   : static_cast<std::int64_t>(get(t, 0)));
    };
    const GraphTensor* seed = op.find(CUDNN_ATTR_OPERATION_RNG_SEED);
    const auto mix = [](std::uint64_t x) {
      x += 0x9e3779b97f4a7c15u;
      x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
      x = (x ^ x >> 27) * 0x94d049bb133111ebu;
      return x ^ x >> 31;
    };
    const std::uint64_t key =
        mix(mix(seed ? integer(*seed) : static_cast<std::uint64_t>(op.part->integer(CUDNN_ATTR_OPERATION_RNG_SEED))) ^
            integer(op.at(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC)));
    std::uint64_t position = 0;
    walk(y.dims, std::array{y.strides}, [&](const auto& at, const Sizes&) {
      put(y, at[0], static_cast<double>(mix(key ^ position++) >> 11) * 0x1p-53 < probability);
    });
  }

  // The same memory with other sizes and strides.
  void reshape(const Operation& op) const {
    const GraphTensor &x = op.at(CUDNN_ATTR_OPERATION_RESHAPE_XDESC), &y = op.at(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    walk(y.dims, std::array{y.strides}, [&](const auto& at, const Sizes&) { put(y, at[0], get(x, at[0])); });
  }

  void convolution(const Operation& op) const {
    struct Names {
      int kind;
      Pass pass;
      int conv, x, w, y, alpha, beta;
    };
    static constexpr Names all[] = {
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, Pass::forward,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, Pass::data,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, Pass::filter,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
    const Names& n =
        *std::find_if(std::begin(all), std::end(all), [&](const Names& names) { return names.kind == op.kind(); });
    const Part& rule = *op.part->part(n.conv);
    const GraphTensor &x = op.at(n.x), &w = op.at(n.w), &y = op.at(n.y);
    Convolution conv{classic(x), classic(w), classic(y)};
    const auto copy = [&](int attribute, int* target) {
      for (const std::int64_t value : rule.integers(attribute)) *target++ = static_cast<int>(value);
    };
    conv.nd = static_cast<int>(x.dims.size()) - 2;
    copy(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, conv.pads);
    copy(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, conv.strides);
    copy(CUDNN_ATTR_CONVOLUTION_DILATIONS, conv.dilations);
    conv.mode = static_cast<int>(rule.integer(CUDNN_ATTR_CONVOLUTION_CONV_MODE));
    conv.groups = static_cast<int>(x.dims[1] / w.dims[1]);
    const bool tf32 = engine_.tensor_cores && x.type == CUDNN_DATA_FLOAT;
    compute_convolution(conv, n.pass, tf32, {op.part->number(n.alpha), op.part->number(n.beta)}, data_.at(x.uid),
                        data_.at(w.uid), data_.at(y.uid));
  }

  static Tensor classic(const GraphTensor& t) {
    Tensor out{t.type, static_cast<int>(t.dims.size()), {}, {}};
    std::copy(t.dims.begin(), t.dims.end(), out.dims);
    std::copy(t.strides.begin(), t.strides.end(), out.strides);
    return out;
  }

  // f(channel, dims and first offset of one channel of x): for batch norm, whose sums are over all but the channels.
  template <class F>
  static void each_channel(const GraphTensor& x, const F& f) {
    Sizes dims = x.dims;
    dims[1] = 1;
    for (std::int64_t c = 0; c < x.dims[1]; ++c) f(c, dims);
  }

  // The running variance is that of a sample: divided by one less.
  void norm(const Operation& op) const {
    const GraphTensor &x = op.at(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC), &y = op.at(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
    const double epsilon = scalar(op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC);
    each_channel(x, [&](std::int64_t c, const Sizes& dims) {
      const auto channel = [&](int attribute) { return get(op.at(attribute), c * op.at(attribute).strides[1]); };
      const auto give = [&](int attribute, double value) {
        if (const GraphTensor* t = op.find(attribute)) put(*t, c * t->strides[1], value);
      };
      double n = 0, sum = 0, squares = 0;
      walk(dims, std::array{x.strides},
           [&](const auto& at, const Sizes&) { sum += get(x, at[0] + c * x.strides[1]), ++n; });
      const double mean = sum / n;
      walk(dims, std::array{x.strides}, [&](const auto& at, const Sizes&) {
        const double off = get(x, at[0] + c * x.strides[1]) - mean;
        squares += off * off;
      });
      const double inverse = 1 / std::sqrt(squares / n + epsilon);
      give(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, mean);
      give(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, inverse);
      if (op.find(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC)) {
        const double factor = scalar(op, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC);
        const double sample = n > 1 ? squares / (n - 1) : squares / n;
        const double old_mean = channel(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC),
                     old_sample = channel(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC);
        give(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, (1 - factor) * old_mean + factor * mean);
        give(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, (1 - factor) * old_sample + factor * sample);
      }
      const double scale = channel(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC) * inverse,
                   shift = channel(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
      walk(dims, std::array{x.strides, y.strides}, [&](const auto& at, const Sizes&) {
        put(y, at[1] + c * y.strides[1], (get(x, at[0] + c * x.strides[1]) - mean) * scale + shift);
      });
    });
  }

  void norm_backward(const Operation& op) const {
    const GraphTensor &x = op.at(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC),
                      &dy = op.at(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC),
                      &dx = op.at(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC);
    each_channel(x, [&](std::int64_t c, const Sizes& dims) {
      const auto channel = [&](int attribute) { return get(op.at(attribute), c * op.at(attribute).strides[1]); };
      const auto give = [&](int attribute, double value) {
        put(op.at(attribute), c * op.at(attribute).strides[1], value);
      };
      const double mean = channel(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC),
                   inverse = channel(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC),
                   scale = channel(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC);
      double n = 0, dbias = 0, dscale = 0;
      const auto normal = [&](std::ptrdiff_t at) { return (get(x, at + c * x.strides[1]) - mean) * inverse; };
      walk(dims, std::array{x.strides, dy.strides}, [&](const auto& at, const Sizes&) {
        const double g = get(dy, at[1] + c * dy.strides[1]);
        ++n, dbias += g, dscale += g * normal(at[0]);
      });
      give(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, dscale);
      give(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, dbias);
      walk(dims, std::array{x.strides, dy.strides, dx.strides}, [&](const auto& at, const Sizes&) {
        const double g = get(dy, at[1] + c * dy.strides[1]);
        put(dx, at[2] + c * dx.strides[1], scale * inverse * (g - (dbias + normal(at[0]) * dscale) / n));
      });
    });
  }

  const GraphEngine& engine_;
  std::map<std::int64_t, char*> data_;
  std::vector<std::vector<char>> rooms_;
};

}  // namespace

void compute_graph(const OperationGraph& graph, const GraphEngine& engine, const std::map<std::int64_t, char*>& data) {
  Interpreter interpreter(graph, engine, data);
  for (const Operation& op : graph.operations) interpreter.run(op);
}

}  // namespace emulator::dnn
