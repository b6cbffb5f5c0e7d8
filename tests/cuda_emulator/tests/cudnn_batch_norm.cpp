// The emulated cudnn: batch normalisation against its formulas, and what it refuses.
#include <cmath>

#include "cudnn.hpp"

using namespace emulator_test;

CHILD_CASE("cuda emulator: batch normalisation, its inference and its gradient") {
  start();
  Library dnn;
  const Sizes dims{3, 4, 2, 5}, channels{1, 4, 1, 1};
  const std::size_t rows = 30;
  const double eps = 1e-3;
  const auto v = wave(count(dims), 0.7), g = wave(count(dims), 0.31), scale = wave(4, 0.5), bias = wave(4, 0.9);
  const auto channel = [](std::size_t i) { return i / 10 % 4; };
  std::vector<double> mean(4), variance(4);
  for (std::size_t i = 0; i < v.size(); ++i) mean[channel(i)] += v[i] / static_cast<double>(rows);
  for (std::size_t i = 0; i < v.size(); ++i)
    variance[channel(i)] += std::pow(v[i] - mean[channel(i)], 2) / static_cast<double>(rows);
  const auto floats = [](const std::vector<double>& from) { return std::vector<float>(from.begin(), from.end()); };
  for (const int format : {CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW}) {
    const Tensor t(dims, format), p(channels, format);
    const Array<float> x(in_memory<float>(v, dims, format)), y(count(dims)), dscale(floats(scale)), dbias(floats(bias)),
        running_mean(std::vector<float>(4, 2)), running_variance(std::vector<float>(4, 3)), saved_mean(4),
        saved_inverse(4);
    EXPECT(cudnnBatchNormalizationForwardTraining(dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, t, at(x), t, at(y), p,
                                                  at(dscale), at(dbias), 0.25, at(running_mean), at(running_variance),
                                                  eps, at(saved_mean), at(saved_inverse)) == 0);
    std::vector<double> expected(count(dims)), average(4), spread(4), inverse(4);
    for (std::size_t c = 0; c < 4; ++c) {
      average[c] = 0.75 * 2 + 0.25 * mean[c];
      spread[c] = 0.75 * 3 + 0.25 * variance[c] * 30 / 29;
      inverse[c] = 1 / std::sqrt(variance[c] + eps);
    }
    for (std::size_t i = 0; i < v.size(); ++i)
      expected[i] = (v[i] - mean[channel(i)]) * inverse[channel(i)] * scale[channel(i)] + bias[channel(i)];
    EXPECT(difference(y, expected, dims, format) < 1e-5);
    EXPECT(difference(running_mean, average, channels, format) < 1e-6 &&
           difference(running_variance, spread, channels, format) < 1e-6);
    EXPECT(difference(saved_mean, mean, channels, format) < 1e-6 &&
           difference(saved_inverse, inverse, channels, format) < 1e-5);
    EXPECT(cudnnBatchNormalizationForwardInference(dnn, CUDNN_BATCHNORM_SPATIAL, &one, &zero, t, at(x), t, at(y), p,
                                                   at(dscale), at(dbias), at(running_mean), at(running_variance),
                                                   eps) == 0);
    for (std::size_t i = 0; i < v.size(); ++i)
      expected[i] =
          (v[i] - average[channel(i)]) / std::sqrt(spread[channel(i)] + eps) * scale[channel(i)] + bias[channel(i)];
    EXPECT(difference(y, expected, dims, format) < 1e-5);

    // sum over g y, of whose gradients by x the finite difference is taken
    const auto loss = [&](const std::vector<double>& at_x, std::size_t c, double s) {
      double m = 0, var = 0, sum = 0;
      for (std::size_t i = 0; i < v.size(); ++i) m += channel(i) == c ? at_x[i] / static_cast<double>(rows) : 0;
      for (std::size_t i = 0; i < v.size(); ++i)
        var += channel(i) == c ? std::pow(at_x[i] - m, 2) / static_cast<double>(rows) : 0;
      for (std::size_t i = 0; i < v.size(); ++i)
        sum += channel(i) == c ? g[i] * (at_x[i] - m) / std::sqrt(var + eps) * s : 0;
      return sum;
    };
    const double step = 1e-5;
    std::vector<double> by_x(v.size()), by_scale(4), by_bias(4);
    for (std::size_t i = 0; i < v.size(); ++i) {
      std::vector<double> up = v, down = v;
      up[i] += step, down[i] -= step;
      const std::size_t c = channel(i);
      by_x[i] = (loss(up, c, scale[c]) - loss(down, c, scale[c])) / (2 * step);
      by_scale[c] = loss(v, c, 1);
      by_bias[c] += g[i];
    }
    const Array<float> dy(in_memory<float>(g, dims, format)), dx(count(dims)), result_scale(4), result_bias(4);
    for (const bool saved : {true, false}) {
      EXPECT(cudnnBatchNormalizationBackward(dnn, CUDNN_BATCHNORM_SPATIAL_PERSISTENT, &one, &zero, &one, &zero, t,
                                             at(x), t, at(dy), t, at(dx), p, at(dscale), at(result_scale),
                                             at(result_bias), eps, saved ? at(saved_mean) : nullptr,
                                             saved ? at(saved_inverse) : nullptr) == 0);
      EXPECT(difference(dx, by_x, dims, format) < 1e-5);
      EXPECT(difference(result_scale, by_scale, channels, format) < 1e-5 &&
             difference(result_bias, by_bias, channels, format) < 1e-5);
    }
  }
}

CHILD_CASE("cuda emulator: batch normalisations that cudnn does not do") {
  start();
  Library dnn;
  const Tensor t({3, 4, 2, 5}), other({3, 4, 5, 2}), planes({3, 4, 2, 5}, CUDNN_TENSOR_NCHW), p({1, 4, 1, 1}),
      wide({1, 4, 1, 1}, 1, CUDNN_DATA_DOUBLE);
  const Array<float> m(120);
  const auto forward = [&](int mode, cudnnTensorDescriptor_t y, cudnnTensorDescriptor_t parameters, double eps,
                           const float* alpha, void* running, void* saved) {
    return cudnnBatchNormalizationForwardTraining(dnn, mode, alpha, &zero, t, at(m), y, at(m), parameters, at(m), at(m),
                                                  1, running, at(m), eps, saved, at(m));
  };
  const int mode = CUDNN_BATCHNORM_SPATIAL;
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "spatial modes",
                 forward(CUDNN_BATCHNORM_PER_ACTIVATION, t, p, 1, &one, at(m), at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "is missing", forward(mode, t, p, 1, nullptr, at(m), at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "x and y are alike", forward(mode, other, p, 1, &one, at(m), at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "parameters are [1, 4, 1, 1]", forward(mode, t, wide, 1, &one, at(m), at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "MIN_EPSILON", forward(mode, t, p, -1, &one, at(m), at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "running", forward(mode, t, p, 1, &one, nullptr, at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "saved", forward(mode, t, p, 1, &one, at(m), nullptr));
  const auto backward = [&](cudnnTensorDescriptor_t dy, void* saved) {
    return cudnnBatchNormalizationBackward(dnn, mode, &one, &zero, &one, &zero, t, at(m), dy, at(m), t, at(m), p, at(m),
                                           at(m), at(m), 1, saved, at(m));
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "dy is not as x", backward(planes, at(m)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "saved", backward(t, nullptr));
}
