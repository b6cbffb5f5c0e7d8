// The emulated cudnn's graphs: convolutions with what is fused behind them, and batch norm.
#include <cmath>

#include "cudnn_graph.hpp"

using namespace emulator_test;

namespace {

Longs longs(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

void add_forward(Graph& g, const Case& c, const GraphTensor& x, const GraphTensor& w, const GraphTensor& y) {
  const Descriptor rule = convolution_rule(c);
  Descriptor op = operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                            {{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, &rule},
                             {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, &x},
                             {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, &w},
                             {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, &y}});
  op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0).set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0);
  g.add(std::move(op));
}

Longs strides_of(const Longs& dims, int format) {
  return format == CUDNN_TENSOR_NHWC ? channels_last(dims) : row_major(dims);
}

}  // namespace

CHILD_CASE("cuda emulator: a convolution with bias and relu as a graph of cudnn") {
  tern_emulator_set("capability=75");  // float32, as there is no TF32
  start();
  Library dnn;
  const Case& c = small;
  const Longs y_dims = longs(c.y()), b_dims{1, y_dims[1], 1, 1};
  const auto vx = wave(count(c.x), 0.7), vw = wave(count(c.w), 0.3), vb = wave(count({c.w[0]}), 1.1);
  std::vector<double> expected(count(c.y()));
  each_product(c, [&](std::size_t ix, std::size_t iw, std::size_t iy) { expected[iy] += vx[ix] * vw[iw]; });
  const std::size_t area = static_cast<std::size_t>(y_dims[2] * y_dims[3]);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = std::max(0.0, expected[i] + vb[i / area % vb.size()]);
  for (const int format : {CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW}) {
    Graph g(dnn);
    const GraphTensor &x = g.tensor(CUDNN_DATA_FLOAT, longs(c.x), strides_of(longs(c.x), format)),
                      &w = g.tensor(CUDNN_DATA_FLOAT, longs(c.w), strides_of(longs(c.w), format)),
                      &b = g.tensor(CUDNN_DATA_FLOAT, b_dims, strides_of(b_dims, format)),
                      &y = g.tensor(CUDNN_DATA_FLOAT, y_dims, strides_of(y_dims, format)), &product = g.between(y_dims),
                      &sum = g.between(y_dims);
    add_forward(g, c, x, w, product);
    g.pointwise(CUDNN_POINTWISE_ADD, product, &b, sum);
    g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, y);
    const Array<float> dx(in_memory<float>(vx, c.x, format)), dw(in_memory<float>(vw, c.w, format)),
        db(in_memory<float>(vb, {1, c.w[0], 1, 1}, format)), dy(expected.size());
    g.run({{&x, dx}, {&w, dw}, {&b, db}, {&y, dy}});
    EXPECT(difference(dy, expected, c.y(), format) < 2e-6);
  }
}
