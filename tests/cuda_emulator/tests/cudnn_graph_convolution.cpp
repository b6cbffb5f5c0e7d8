// The emulated cudnn's graphs: convolutions with what is fused behind them, and batch norm.
#include <cmath>

#include "cudnn_graph.hpp"

using namespace emulator_test;

namespace {

Longs longs(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }
Longs strides_of(const Longs& dims, Format format) {
  return format == Format::channels_last ? channels_last(dims) : row_major(dims);
}

// The attributes of one of the three operations.
struct Names {
  int kind, rule, x, w, y, alpha, beta;
};
constexpr Names forward{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    data{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    filter{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

Descriptor convolution(const Names& n, const Case& c, const GraphTensor& x, const GraphTensor& w, const GraphTensor& y,
                       double alpha = 1, double beta = 0) {
  const Descriptor rule = convolution_rule(c);
  Descriptor op = operation(n.kind, {{n.rule, &rule}, {n.x, &x}, {n.w, &w}, {n.y, &y}});
  op.set(n.alpha, alpha).set(n.beta, beta);
  return op;
}

// A graph of a convolution alone.
struct Pass : Graph {
  Pass(cudnnHandle_t handle, const Names& n, const Case& c, Format format, int type = CUDNN_DATA_FLOAT,
       double alpha = 1, double beta = 0)
      : Graph(handle), x(tensor(type, longs(c.x), strides_of(longs(c.x), format))),
        w(tensor(type, longs(c.w), strides_of(longs(c.w), format))),
        y(tensor(type, longs(c.y()), strides_of(longs(c.y()), format))) {
    add(convolution(n, c, x, w, y, alpha, beta));
  }
  const GraphTensor &x, &w, &y;
};

std::int64_t index_of(const Descriptor& config) {
  const std::vector<Descriptor> engine = config.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  return engine[0].get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX)[0];
}
Longs notes_of(const Descriptor& config) {
  const std::vector<Descriptor> engine = config.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  return engine[0].get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
}
// Of both of the heuristics' modes.
std::vector<Descriptor> all_of(const Graph& g) {
  std::vector<Descriptor> all = g.chosen();
  for (Descriptor& config : g.chosen(CUDNN_HEUR_MODE_FALLBACK)) all.push_back(std::move(config));
  return all;
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
  for (const Format format : {Format::channels_last, Format::channels_first}) {
    Graph g(dnn);
    const GraphTensor &x = g.tensor(CUDNN_DATA_FLOAT, longs(c.x), strides_of(longs(c.x), format)),
                      &w = g.tensor(CUDNN_DATA_FLOAT, longs(c.w), strides_of(longs(c.w), format)),
                      &b = g.tensor(CUDNN_DATA_FLOAT, b_dims, strides_of(b_dims, format)),
                      &y = g.tensor(CUDNN_DATA_FLOAT, y_dims, strides_of(y_dims, format)), &product = g.between(y_dims),
                      &sum = g.between(y_dims);
    g.add(convolution(forward, c, x, w, product));
    g.pointwise(CUDNN_POINTWISE_ADD, product, &b, sum);
    g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, y);
    const Array<float> dx(in_memory<float>(vx, c.x, format)), dw(in_memory<float>(vw, c.w, format)),
        db(in_memory<float>(vb, {1, c.w[0], 1, 1}, format)), dy(expected.size());
    g.run({{&x, dx}, {&w, dw}, {&b, db}, {&y, dy}});
    EXPECT(difference(dy, expected, c.y(), format) < 2e-6);
  }
}

CHILD_CASE("cuda emulator: convolutions and their gradients by every engine of cudnn's graphs") {
  tern_emulator_set("capability=75");
  start();
  Library dnn;
  const Case cases[] = {small,
                        {{2, 4, 7, 6}, {6, 2, 3, 2}, {2, 1}, {1, 0}, {1, 2}, 2},
                        {{2, 4, 4, 5, 3}, {4, 2, 2, 3, 2}, {2, 1, 1}, {1, 1, 0}, {1, 2, 1}, 2, CUDNN_CONVOLUTION}};
  for (const Case& c : cases)
    for (const Format format : {Format::channels_last, Format::channels_first}) {
      const auto vx = wave(count(c.x), 0.7), vw = wave(count(c.w), 0.3), vy = wave(count(c.y()), 0.9);
      std::vector<double> ex = vx, ew = vw, ey = vy;
      for (auto* e : {&ex, &ew, &ey})
        for (double& v : *e) v *= 0.5;
      each_product(c, [&](std::size_t ix, std::size_t iw, std::size_t iy) {
        ey[iy] += 1.5 * vx[ix] * vw[iw];
        ex[ix] += 1.5 * vy[iy] * vw[iw];
        ew[iw] += 1.5 * vy[iy] * vx[ix];
      });
      for (const Names* n : {&forward, &data, &filter}) {
        const Pass g(dnn, *n, c, format, CUDNN_DATA_FLOAT, 1.5, 0.5);
        const std::vector<Descriptor> engines = all_of(g);
        EXPECT(engines.size() >= 3);
        for (const Descriptor& config : engines) {
          const Array<float> x(in_memory<float>(vx, c.x, format)), w(in_memory<float>(vw, c.w, format)),
              y(in_memory<float>(vy, c.y(), format));
          g.run(config, {{&g.x, x}, {&g.w, w}, {&g.y, y}});
          EXPECT(difference(n == &data     ? x
                            : n == &filter ? w
                                           : y,
                            n == &data     ? ex
                            : n == &filter ? ew
                                           : ey,
                            n == &data     ? c.x
                            : n == &filter ? c.w
                                           : c.y(),
                            format) < 2e-5);
        }
      }
    }
}

CHILD_CASE("cuda emulator: engines of cudnn's graphs and what they round") {
  start();
  Library dnn;
  const Case c{{1, 1, 1, 2}, {1, 1, 1, 2}, {1, 1}, {0, 0}, {1, 1}};
  const float fine = 1 + 0x1p-11f + 0x1p-13f;
  const auto product = [&](const Descriptor& config, const Pass& g) {
    const Array<float> x(std::vector<float>(2, fine)), w(std::vector<float>(2, 1)), y(1);
    g.run(config, {{&g.x, x}, {&g.w, w}, {&g.y, y}});
    return y.values()[0];
  };
  const Pass g(dnn, forward, c, Format::channels_last);
  const std::vector<Descriptor> chosen = g.chosen(), fallback = g.chosen(CUDNN_HEUR_MODE_FALLBACK);
  EXPECT(index_of(chosen[0]) == 67 && notes_of(chosen[0]) == Longs{CUDNN_NUMERICAL_NOTE_TENSOR_CORE});
  EXPECT(index_of(chosen[1]) == 28 && notes_of(chosen[1]).empty());
  EXPECT(notes_of(fallback[0]) == Longs{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP});
  EXPECT(product(chosen[0], g) == 2 * (1 + 0x1p-10f));  // TF32
  EXPECT(product(chosen[1], g) == 2 * fine);
  EXPECT(product(fallback[0], g) == 2 * fine);
  const auto engine = fallback[1].parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  EXPECT(engine[0].get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE) ==
         Longs{CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION});
  EXPECT(notes_of(Pass(dnn, forward, c, Format::channels_first, CUDNN_DATA_DOUBLE).chosen()[0]).empty());
  const Longs of_atomic_sums{CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
  EXPECT(notes_of(Pass(dnn, filter, c, Format::channels_last).chosen()[1]) == of_atomic_sums);
  // A tensor that is not channels last is transposed in the workspace.
  const Pass rows(dnn, forward, small, Format::channels_first), last(dnn, forward, small, Format::channels_last);
  const auto workspace = [](const Pass& p) { return p.chosen()[0].get(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE)[0]; };
  EXPECT(workspace(last) == 131 && workspace(rows) > 131 + (180 + 108 + 240) * 4);
  const Array<float> memory(240);
  const Descriptor plan = last.plan(last.chosen()[0]),
                   pack = last.pack({{&last.x, memory}, {&last.w, memory}, {&last.y, memory}}, nullptr);
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "workspace is null", cudnnBackendExecute(dnn, plan, pack));

  tern_emulator_set("capability=75");
  EXPECT(notes_of(Pass(dnn, forward, c, Format::channels_last).chosen()[0]).empty());
  EXPECT(notes_of(Pass(dnn, forward, c, Format::channels_last, CUDNN_DATA_HALF).chosen()[0]) ==
         Longs{CUDNN_NUMERICAL_NOTE_TENSOR_CORE});
  tern_emulator_set("capability=90,refuse=forward:67+data:71");
  EXPECT(index_of(g.chosen()[0]) == 28);
  Descriptor refused(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  refused.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, static_cast<cudnnHandle_t>(dnn))
      .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, chosen[0]);
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "as the setting says", refused.finalize());
  EXPECT_REFUSED(
      CUDNN_STATUS_NOT_SUPPORTED, "refused when it runs",
      cudnnBackendExecute(dnn, plan, last.pack({{&last.x, memory}, {&last.w, memory}, {&last.y, memory}}, at(memory))));
  for (int seed = 1; seed < 20; ++seed) {
    tern_emulator_set(("refuse=random:" + std::to_string(seed)).c_str());
    EXPECT(index_of(g.chosen(CUDNN_HEUR_MODE_FALLBACK)[0]) == 0);
  }
}

CHILD_CASE("cuda emulator: what cudnn fuses with a convolution") {
  start();
  Library dnn;
  const Case& c = small;
  const Longs y_dims = longs(c.y());
  // conv + residual, then relu
  const auto residual = [&](Format format, int mode) {
    auto g = std::make_unique<Graph>(static_cast<cudnnHandle_t>(dnn));
    const GraphTensor &x = g->tensor(CUDNN_DATA_FLOAT, longs(c.x), strides_of(longs(c.x), format)),
                      &w = g->tensor(CUDNN_DATA_FLOAT, longs(c.w), strides_of(longs(c.w), format)),
                      &z = g->tensor(CUDNN_DATA_FLOAT, y_dims, strides_of(y_dims, format)),
                      &y = g->tensor(CUDNN_DATA_FLOAT, y_dims, strides_of(y_dims, format)),
                      &product = g->tensor(CUDNN_DATA_FLOAT, y_dims, strides_of(y_dims, format), GraphTensor::between);
    g->add(convolution(forward, c, x, w, product));
    g->pointwise(mode, product, &z, y);
    return g;
  };
  std::vector<Descriptor> configs;
  const auto status = [&](const Graph& g) { return g.choose(CUDNN_HEUR_MODE_A, configs); };
  EXPECT(status(*residual(Format::channels_last, CUDNN_POINTWISE_ADD)) == 0 && index_of(configs[0]) == 51);
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "channels last",
                 status(*residual(Format::channels_first, CUDNN_POINTWISE_ADD)));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "channels last",
                 status(*residual(Format::channels_first, CUDNN_POINTWISE_MUL)));
  {  // two convolutions, a reduction behind one, and a gradient with an activation
    const auto strides = [](const Sizes& sizes) { return channels_last(longs(sizes)); };
    Graph two(dnn), sum(dnn), gradient(dnn);
    for (Graph* g : {&two, &sum, &gradient}) {
      const GraphTensor &x = g->tensor(CUDNN_DATA_FLOAT, longs(c.x), strides(c.x)),
                        &w = g->tensor(CUDNN_DATA_FLOAT, longs(c.w), strides(c.w)),
                        &y = g->tensor(CUDNN_DATA_FLOAT, y_dims, channels_last(y_dims)),
                        &z = g->tensor(CUDNN_DATA_FLOAT, y_dims, channels_last(y_dims)),
                        &one_each = g->tensor(CUDNN_DATA_FLOAT, {1, y_dims[1], 1, 1}, {y_dims[1], 1, 1, 1});
      g->add(convolution(g == &gradient ? data : forward, c, x, w, y));
      if (g == &two) g->add(convolution(forward, c, x, w, z));
      if (g == &sum) g->reduce(CUDNN_REDUCE_TENSOR_ADD, y, one_each);
      if (g == &gradient)
        g->pointwise(CUDNN_POINTWISE_EXP, x, nullptr, g->tensor(CUDNN_DATA_FLOAT, longs(c.x), strides(c.x)));
    }
    EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "together", status(two));
    EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "only pointwise", status(sum));
    EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "gradients are not fused", status(gradient));
  }
}

CHILD_CASE("cuda emulator: convolutions of cudnn's graphs whose sizes do not fit") {
  start();
  constexpr int bad = CUDNN_STATUS_BAD_PARAM;
  const auto tensor = [](std::int64_t uid, const Longs& dims) {
    return GraphTensor(uid, CUDNN_DATA_FLOAT, dims, row_major(dims));
  };
  const GraphTensor x = tensor(1, longs(small.x)), w = tensor(2, longs(small.w)), y = tensor(3, longs(small.y())),
                    wide = tensor(4, {2, 4, 6, 6}), three = tensor(5, {2, 3, 6});
  EXPECT(convolution(forward, small, x, w, y).finalize() == 0);
  EXPECT_REFUSED(bad, "is not [2, 4, 6, 6]", convolution(forward, small, x, w, wide).finalize());
  EXPECT_REFUSED(bad, "[2, 3, 6]", convolution(data, small, three, w, y).finalize());
  EXPECT_REFUSED(bad, "is not [2, 3, 6, 5]", convolution(filter, small, x, w, x).finalize());
  Descriptor rule(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  rule.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_HALF)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, Longs{2})
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, Longs{1, 1})
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Longs{1, 1})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Longs{0})
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, Longs{0, 0});
  EXPECT_REFUSED(bad, "attribute 105 is [0]", rule.finalize());
  rule.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Longs{0, 0}).set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Longs{1, 0});
  EXPECT_REFUSED(bad, "attribute 103 is [1, 0]", rule.finalize());
  rule.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Longs{1, 1});
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "in type 2", rule.finalize());
}
