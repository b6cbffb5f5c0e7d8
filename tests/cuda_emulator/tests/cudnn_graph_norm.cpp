// The emulated cudnn's graphs: batch norm in training and its gradient, with what is fused, against loops in double.
#include <cmath>

#include "cudnn_graph.hpp"

using namespace emulator_test;

namespace {

const Longs x_dims{3, 2, 2, 4}, channel_dims{1, 2, 1, 1};
constexpr std::size_t channels = 2, area = 8, images = 3, per_channel = images * area;
constexpr double epsilon = 1e-3, factor = 0.25;
const Sizes sizes{3, 2, 2, 4}, channel_sizes{1, 2, 1, 1};

std::size_t channel_of(std::size_t i) { return i / area % channels; }

struct Forward : Graph {
  explicit Forward(cudnnHandle_t handle, const Longs& strides = channels_last(x_dims))
      : Graph(handle), strides_(strides) {
    Descriptor op = operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
                              {{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, &x},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, &scale},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, &bias},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, &number(static_cast<float>(epsilon))},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, &number(static_cast<float>(factor))},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, &old_mean},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, &old_variance},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, &new_mean},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, &new_variance},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, &mean},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, &inverse},
                               {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, &normal}});
    op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_BATCH_NORM)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
    add(std::move(op));
    pointwise(CUDNN_POINTWISE_ADD, normal, &residual, sum);
    pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, y);
  }
  const GraphTensor& full(GraphTensor::Place place = GraphTensor::in_memory) {
    return tensor(CUDNN_DATA_FLOAT, x_dims, strides_, place);
  }
  const GraphTensor& each() { return tensor(CUDNN_DATA_FLOAT, channel_dims, {2, 1, 2, 2}); }
  Longs strides_;
  const GraphTensor &x = full(), &residual = full(), &y = full(), &normal = full(GraphTensor::between),
                    &sum = full(GraphTensor::between), &scale = each(), &bias = each(), &old_mean = each(),
                    &old_variance = each(), &new_mean = each(), &new_variance = each(), &mean = each(),
                    &inverse = each();
};

Array<float> each_of(double first, double second) {
  return Array<float>(std::vector<float>{static_cast<float>(first), static_cast<float>(second)});
}

}  // namespace

CHILD_CASE("cuda emulator: batch norm in training with residual and relu as a graph of cudnn") {
  start();
  Library dnn;
  const auto vx = wave(channels * per_channel, 0.7), vz = wave(vx.size(), 0.4);
  for (const Format format : {Format::channels_last, Format::channels_first}) {
    Forward g(dnn, format == Format::channels_last ? channels_last(x_dims) : row_major(x_dims));
    const Array<float> x(in_memory<float>(vx, sizes, format)), z(in_memory<float>(vz, sizes, format)), y(vx.size()),
        scale = each_of(1.5, -0.5), bias = each_of(0.25, 0.5), old_mean = each_of(1, 2), old_variance = each_of(3, 4),
        new_mean(2), new_variance(2), mean(2), inverse(2);
    g.run({{&g.x, x},
           {&g.residual, z},
           {&g.y, y},
           {&g.scale, scale},
           {&g.bias, bias},
           {&g.old_mean, old_mean},
           {&g.old_variance, old_variance},
           {&g.new_mean, new_mean},
           {&g.new_variance, new_variance},
           {&g.mean, mean},
           {&g.inverse, inverse}});
    std::vector<double> expected(vx.size()), m(channels), variance(channels);
    for (std::size_t i = 0; i < vx.size(); ++i) m[channel_of(i)] += vx[i] / per_channel;
    for (std::size_t i = 0; i < vx.size(); ++i)
      variance[channel_of(i)] += std::pow(vx[i] - m[channel_of(i)], 2) / per_channel;
    const double scales[] = {1.5, -0.5}, biases[] = {0.25, 0.5};
    for (std::size_t i = 0; i < vx.size(); ++i) {
      const std::size_t c = channel_of(i);
      expected[i] = std::max(0.0, (vx[i] - m[c]) / std::sqrt(variance[c] + epsilon) * scales[c] + biases[c] + vz[i]);
    }
    EXPECT(difference(y, expected, sizes, format) < 1e-5);
    const double unbiased = static_cast<double>(per_channel) / (per_channel - 1);
    const auto close = [&](const Array<float>& got, double first, double second) {
      return difference(got, {first, second}, channel_sizes, format) < 1e-5;
    };
    EXPECT(close(mean, m[0], m[1]));
    EXPECT(close(inverse, 1 / std::sqrt(variance[0] + epsilon), 1 / std::sqrt(variance[1] + epsilon)));
    EXPECT(close(new_mean, 0.75 * 1 + 0.25 * m[0], 0.75 * 2 + 0.25 * m[1]));
    EXPECT(close(new_variance, 0.75 * 3 + 0.25 * variance[0] * unbiased, 0.75 * 4 + 0.25 * variance[1] * unbiased));
  }
}

CHILD_CASE("cuda emulator: the gradient of batch norm as a graph of cudnn") {
  start();
  Library dnn;
  Graph g(dnn);
  const auto full = [&]() -> const GraphTensor& { return g.tensor(CUDNN_DATA_FLOAT, x_dims, channels_last(x_dims)); };
  const auto each = [&]() -> const GraphTensor& { return g.tensor(CUDNN_DATA_FLOAT, channel_dims, {2, 1, 2, 2}); };
  const GraphTensor &tx = full(), &tdy = full(), &tdx = full(), &tscale = each(), &tmean = each(), &tinverse = each(),
                    &tdscale = each(), &tdbias = each();
  Descriptor op = operation(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
                            {{CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, &tx},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, &tdy},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, &tscale},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, &tmean},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, &tinverse},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, &tdx},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, &tdscale},
                             {CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, &tdbias}});
  op.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_BATCH_NORM);
  g.add(std::move(op));
  const auto vx = wave(channels * per_channel, 0.7), vg = wave(vx.size(), 0.4);
  const double scales[] = {1.5, -0.5};
  // y of the whole batch, to be differentiated by differences.
  const auto loss = [&](const std::vector<double>& at) {
    double sum[channels] = {}, squares[channels] = {}, total = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum[channel_of(i)] += at[i] / per_channel;
    for (std::size_t i = 0; i < at.size(); ++i)
      squares[channel_of(i)] += std::pow(at[i] - sum[channel_of(i)], 2) / per_channel;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::size_t c = channel_of(i);
      total += vg[i] * (at[i] - sum[c]) / std::sqrt(squares[c] + epsilon) * scales[c];
    }
    return total;
  };
  double m[channels] = {}, variance[channels] = {}, dbias[channels] = {}, dscale[channels] = {};
  for (std::size_t i = 0; i < vx.size(); ++i) m[channel_of(i)] += vx[i] / per_channel;
  for (std::size_t i = 0; i < vx.size(); ++i)
    variance[channel_of(i)] += std::pow(vx[i] - m[channel_of(i)], 2) / per_channel;
  for (std::size_t i = 0; i < vx.size(); ++i) {
    const std::size_t c = channel_of(i);
    dbias[c] += vg[i], dscale[c] += vg[i] * (vx[i] - m[c]) / std::sqrt(variance[c] + epsilon);
  }
  std::vector<double> expected(vx.size());
  for (std::size_t i = 0; i < vx.size(); ++i) {
    auto more = vx, less = vx;
    more[i] += 1e-5, less[i] -= 1e-5;
    expected[i] = (loss(more) - loss(less)) / 2e-5;
  }
  const Array<float> x(in_memory<float>(vx, sizes, Format::channels_last)),
      dy(in_memory<float>(vg, sizes, Format::channels_last)), dx(vx.size()),
      scale = each_of(1.5, -0.5), mean = each_of(m[0], m[1]),
      inverse = each_of(1 / std::sqrt(variance[0] + epsilon), 1 / std::sqrt(variance[1] + epsilon)), ds(2), db(2);
  g.run({{&tx, x},
         {&tdy, dy},
         {&tdx, dx},
         {&tscale, scale},
         {&tmean, mean},
         {&tinverse, inverse},
         {&tdscale, ds},
         {&tdbias, db}});
  EXPECT(difference(dx, expected, sizes, Format::channels_last) < 1e-5);
  EXPECT(difference(ds, {dscale[0], dscale[1]}, channel_sizes, Format::channels_last) < 1e-5);
  EXPECT(difference(db, {dbias[0], dbias[1]}, channel_sizes, Format::channels_last) < 1e-5);
}

CHILD_CASE("cuda emulator: batch norms that cudnn does not compute") {
  start();
  Library dnn;
  std::vector<Descriptor> configs;
  Forward reduced(dnn);
  reduced.reduce(CUDNN_REDUCE_TENSOR_ADD, reduced.y, reduced.each());
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "only pointwise",
                 reduced.choose(CUDNN_HEUR_MODE_A, configs));
  const auto norm = [](int mode, int phase, const Longs& y_dims, bool by_value, bool running,
                       const Longs& dims = x_dims) {
    const GraphTensor x(1, CUDNN_DATA_FLOAT, dims, row_major(dims)), y(2, CUDNN_DATA_FLOAT, y_dims, row_major(y_dims)),
        each(3, CUDNN_DATA_FLOAT, channel_dims, row_major(channel_dims)),
        number(4, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1},
               by_value ? GraphTensor::by_value : GraphTensor::in_memory);
    Operands operands{{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, &x},
                      {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, &each},
                      {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, &each},
                      {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, &number},
                      {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, &y}};
    if (running) operands.emplace_back(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, &number);
    const Descriptor op = operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, operands);
    op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, mode)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, phase);
    return op.finalize();
  };
  constexpr int batch = CUDNN_BATCH_NORM, training = CUDNN_NORM_FWD_TRAINING;
  EXPECT(norm(batch, training, x_dims, true, false) == 0);
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "only batch norm", norm(CUDNN_LAYER_NORM, training, x_dims, true, false));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "in training", norm(batch, CUDNN_NORM_FWD_INFERENCE, x_dims, true, false));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "batch norm of [3, 2]",
                 norm(batch, training, {3, 2}, true, false, {3, 2}));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "[3, 2, 2, 5]", norm(batch, training, {3, 2, 2, 5}, true, false));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "by value", norm(batch, training, x_dims, false, false));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "running statistics", norm(batch, training, x_dims, true, true));
}
