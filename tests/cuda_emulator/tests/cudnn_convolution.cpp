// The emulated cudnn: convolutions against plain loops over mathematical indices.
#include <cmath>

#include "cudnn.hpp"

using namespace emulator_test;

namespace {

template <class T>
void check_passes(Library& dnn, const Case& c, int format, int type, double tolerance) {
  const Sizes y = c.y();
  const auto vx = wave(count(c.x), 0.7), vw = wave(count(c.w), 0.3), vdy = wave(count(y), 0.9);
  const Array<T> dx(in_memory<T>(vx, c.x, format)), dw(in_memory<T>(vw, c.w, format)),
      ddy(in_memory<T>(vdy, y, format));
  const Tensor tx(c.x, format, type), ty(y, format, type);
  const Filter tw(c.w, format, type);
  const bool wide = type == CUDNN_DATA_DOUBLE;
  const Convolution conv(c, CUDNN_FMA_MATH, type);
  const double alpha_wide = 1.5, beta_wide = 0.5;
  const float alpha_narrow = 1.5f;
  const void* alpha = wide ? static_cast<const void*>(&alpha_wide) : &alpha_narrow;
  const void* beta = wide ? static_cast<const void*>(&beta_wide) : &half;
  std::vector<double> ey(vdy.size()), ex(vx.size()), ew(vw.size());
  for (std::size_t i = 0; i < ey.size(); ++i) ey[i] = 0.5 * vdy[i];
  for (std::size_t i = 0; i < ex.size(); ++i) ex[i] = 0.5 * vx[i];
  for (std::size_t i = 0; i < ew.size(); ++i) ew[i] = 0.5 * vw[i];
  each_product(c, [&](std::size_t ix, std::size_t iw, std::size_t iy) {
    ey[iy] += 1.5 * vx[ix] * vw[iw];
    ex[ix] += 1.5 * vdy[iy] * vw[iw];
    ew[iw] += 1.5 * vdy[iy] * vx[ix];
  });
  const auto chosen = [&](const auto& get) {
    cudnnConvolutionAlgoPerf_t results[8];
    int found = 0;
    EXPECT(get(8, &found, results) == 0);
    for (int i = 0; i < found; ++i)
      if (!results[i].status && results[i].determinism == CUDNN_DETERMINISTIC) return results[i];
    throw std::runtime_error("no algorithm");
  };
  {
    const auto r =
        chosen([&](auto... out) { return cudnnGetConvolutionForwardAlgorithm_v7(dnn, tx, tw, conv, ty, out...); });
    const Array<T> result(in_memory<T>(vdy, y, format));
    const Array<char> room(std::max<std::size_t>(r.memory, 1));
    EXPECT(cudnnConvolutionForward(dnn, alpha, tx, at(dx), tw, at(dw), conv, r.algo, at(room), r.memory, beta, ty,
                                   at(result)) == 0);
    EXPECT(difference(result, ey, y, format) < tolerance);
  }
  {
    const auto r =
        chosen([&](auto... out) { return cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, tw, ty, conv, tx, out...); });
    const Array<T> result(in_memory<T>(vx, c.x, format));
    const Array<char> room(std::max<std::size_t>(r.memory, 1));
    EXPECT(cudnnConvolutionBackwardData(dnn, alpha, tw, at(dw), ty, at(ddy), conv, r.algo, at(room), r.memory, beta, tx,
                                        at(result)) == 0);
    EXPECT(difference(result, ex, c.x, format) < tolerance);
  }
  {
    const auto r = chosen(
        [&](auto... out) { return cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, tx, ty, conv, tw, out...); });
    const Array<T> result(in_memory<T>(vw, c.w, format));
    const Array<char> room(std::max<std::size_t>(r.memory, 1));
    EXPECT(cudnnConvolutionBackwardFilter(dnn, alpha, tx, at(dx), ty, at(ddy), conv, r.algo, at(room), r.memory, beta,
                                          tw, at(result)) == 0);
    EXPECT(difference(result, ew, c.w, format) < tolerance);
  }
}

}  // namespace

CHILD_CASE("cuda emulator: convolutions and their gradients, of every stride, padding, dilation, grouping and format") {
  start();
  Library dnn;
  const Case cases[] = {small,
                        {{2, 4, 7, 6}, {6, 2, 3, 2}, {2, 1}, {1, 0}, {1, 2}, 2},
                        {{1, 6, 1, 9}, {6, 1, 1, 4}, {1, 3}, {0, 2}, {1, 1}, 6},
                        {{3, 2, 4, 4}, {5, 2, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1, CUDNN_CONVOLUTION},
                        {{2, 3, 5, 4}, {2, 3, 3, 2}, {1, 2}, {2, 1}, {1, 1}, 1, CUDNN_CONVOLUTION},
                        {{2, 4, 4, 5, 3}, {4, 2, 2, 3, 2}, {2, 1, 1}, {1, 1, 0}, {1, 2, 1}, 2}};
  for (const Case& c : cases)
    for (const int format : {CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW}) {
      check_passes<float>(dnn, c, format, CUDNN_DATA_FLOAT, 2e-5);
      if (format == CUDNN_TENSOR_NCHW) check_passes<double>(dnn, c, format, CUDNN_DATA_DOUBLE, 1e-12);
    }
}

CHILD_CASE("cuda emulator: a convolution of tensors with gaps") {
  start();
  Library dnn;
  const Case c{{2, 2, 3, 3}, {1, 2, 2, 2}, {1, 1}, {0, 0}, {1, 1}};
  OwnedTensor x;
  const int strides[] = {100, 40, 7, 2};
  EXPECT(cudnnSetTensorNdDescriptor(x, CUDNN_DATA_FLOAT, 4, c.x.data(), strides) == 0);
  const Tensor y(c.y(), CUDNN_TENSOR_NCHW);
  const Filter w(c.w, CUDNN_TENSOR_NCHW);
  const Convolution conv(c);
  const std::vector<double> vx = wave(count(c.x), 0.7), vw = wave(count(c.w), 0.3);
  std::vector<float> spread(200, NAN);
  for (std::size_t i = 0; i < vx.size(); ++i)
    spread[i / 18 * 100 + i / 9 % 2 * 40 + i / 3 % 3 * 7 + i % 3 * 2] = static_cast<float>(vx[i]);
  const Array<float> dx(spread), dw(in_memory<float>(vw, c.w, CUDNN_TENSOR_NCHW)), dy(count(c.y()));
  EXPECT(cudnnConvolutionForward(dnn, &one, x, at(dx), w, at(dw), conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                                 nullptr, 0, &zero, y, at(dy)) == 0);
  std::vector<double> expected(count(c.y()));
  each_product(c, [&](std::size_t ix, std::size_t iw, std::size_t iy) { expected[iy] += vx[ix] * vw[iw]; });
  EXPECT(difference(dy, expected, c.y(), CUDNN_TENSOR_NCHW) < 1e-6);
}

CHILD_CASE("cuda emulator: convolutions of 16-bit numbers, and of TF32") {
  start();
  Library dnn;
  const Case c{{1, 1, 1, 2}, {1, 1, 1, 2}, {1, 1}, {0, 0}, {1, 1}};
  const auto run = [&](int type, int math, const auto& values, const auto& weights) {
    using T = std::decay_t<decltype(values[0])>;
    const Array<T> x(values), w(weights), y(1);
    const Array<char> room(4096);
    const Tensor tx(c.x, CUDNN_TENSOR_NHWC, type), ty(c.y(), CUDNN_TENSOR_NHWC, type);
    const Filter tw(c.w, CUDNN_TENSOR_NHWC, type);
    EXPECT(cudnnConvolutionForward(dnn, &one, tx, at(x), tw, at(w), Convolution(c, math),
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, at(room), 4096, &zero, ty,
                                   at(y)) == 0);
    return y.values()[0];
  };
  using Bits = std::vector<std::uint16_t>;
  EXPECT(run(CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_OP_MATH, Bits{0x3f80, 0x4000}, Bits{0x4040, 0x4080}) ==
         0x4130);  // 3 + 8
  EXPECT(run(CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH, Bits{0x3c00, 0x4000}, Bits{0x4200, 0x4400}) == 0x4980);
  const std::vector<float> fine{1 + 0x1p-12f, 0}, unit{1, 0};
  EXPECT(run(CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, fine, unit) == fine[0]);
  EXPECT(run(CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, fine, unit) == 1.0f);
  tern_emulator_set("capability=75");
  EXPECT(run(CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, fine, unit) == fine[0]);
}

CHILD_CASE("cuda emulator: a convolution with bias, addend and activation") {
  start();
  Library dnn;
  const Case& c = small;
  const Sizes y = c.y();
  const auto vx = wave(count(c.x), 0.7), vw = wave(count(c.w), 0.3), vz = wave(count(y), 0.9), vb = wave(4, 0.5);
  const int format = CUDNN_TENSOR_NHWC;
  const Array<float> dx(in_memory<float>(vx, c.x, format)), dw(in_memory<float>(vw, c.w, format)),
      dz(in_memory<float>(vz, y, format)), db(std::vector<float>(vb.begin(), vb.end())), dy(count(y));
  const Array<char> room(4096);
  const Tensor tx(c.x), ty(y), tb({1, 4, 1, 1}), short_bias({1, 3, 1, 1});
  const Filter tw(c.w);
  const Convolution conv(c);
  OwnedActivation activation, unset;
  const auto run = [&](int mode, int nan, int algorithm, const float* alpha2, cudnnTensorDescriptor_t z,
                       cudnnTensorDescriptor_t b, std::size_t bytes = 4096) {
    EXPECT(cudnnSetActivationDescriptor(activation, mode, nan, 0) == 0);
    return cudnnConvolutionBiasActivationForward(dnn, &one, tx, at(dx), tw, at(dw), conv, algorithm, at(room), bytes,
                                                 alpha2, z, at(dz), b, at(db), activation, ty, at(dy));
  };
  std::vector<double> sum(count(y));
  each_product(c, [&](std::size_t ix, std::size_t iw, std::size_t iy) { sum[iy] += vx[ix] * vw[iw]; });
  for (const bool relu : {false, true})
    for (const float alpha2 : {0.0f, 1.0f}) {
      const int mode = relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY;
      EXPECT(run(mode, CUDNN_PROPAGATE_NAN, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &alpha2, ty, tb) == 0);
      std::vector<double> expected(count(y));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = sum[i] + static_cast<double>(alpha2) * vz[i] + vb[i / 30 % 4];
        if (relu) expected[i] = std::max(expected[i], 0.0);
      }
      EXPECT(difference(dy, expected, y, format) < 1e-5);
    }
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "IMPLICIT_PRECOMP_GEMM",
                 run(CUDNN_ACTIVATION_IDENTITY, 0, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, &one, ty, tb));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "z is not as y", run(CUDNN_ACTIVATION_RELU, 0, 1, &one, tx, tb));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "the bias", run(CUDNN_ACTIVATION_RELU, 0, 1, &one, ty, short_bias));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "is missing", run(CUDNN_ACTIVATION_RELU, 0, 1, nullptr, ty, tb));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "workspace of 4096", run(CUDNN_ACTIVATION_RELU, 0, 1, &one, ty, tb, 4095));
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "algorithm 3", run(CUDNN_ACTIVATION_RELU, 0, 3, &one, ty, tb));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "is missing",
                 cudnnConvolutionBiasActivationForward(dnn, &one, tx, at(dx), tw, at(dw), conv, 1, at(room), 4096, &one,
                                                       ty, at(dz), tb, at(db), unset, ty, at(dy)));
  // relu of NaN is NaN or 0, as the descriptor says
  const Array<float> none(std::vector<float>(count(c.x), NAN));
  for (const int nan : {CUDNN_PROPAGATE_NAN, CUDNN_NOT_PROPAGATE_NAN}) {
    EXPECT(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU, nan, 0) == 0);
    EXPECT(cudnnConvolutionBiasActivationForward(dnn, &one, tx, at(none), tw, at(dw), conv, 1, at(room), 4096, &zero,
                                                 ty, at(dz), tb, at(db), activation, ty, at(dy)) == 0);
    EXPECT(std::isnan(dy.values()[0]) == (nan == CUDNN_PROPAGATE_NAN));
  }
}

CHILD_CASE("cuda emulator: a convolution is work of its handle's stream") {
  start();
  Library dnn;
  Stream s;
  const Case c{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {0, 0}, {1, 1}};
  const Tensor x(c.x);
  const Filter w(c.w);
  const Convolution conv(c);
  CUdeviceptr p = 0;
  EXPECT(cuMemAllocAsync(&p, 4, s) == CUDA_SUCCESS);
  const auto run = [&] {
    return cudnnConvolutionForward(dnn, &one, x, at(p), w, at(p), conv, 0, nullptr, 0, &zero, x, at(p));
  };
  EXPECT(cudnnSetStream(dnn, s) == 0);
  EXPECT(run() == 0);
  EXPECT(cuStreamSynchronize(s) == CUDA_SUCCESS);
  CUdeviceptr later = 0;
  EXPECT(cuMemAllocAsync(&later, 4, s) == CUDA_SUCCESS);
  p = later;
  EXPECT(cudnnSetStream(dnn, nullptr) == 0);
  EXPECT(run() == 0);  // the null stream does not wait for s
  EXPECT(cuStreamSynchronize(nullptr) == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(std::string(tern_emulator_message()).find("cudnn's x") != std::string::npos);
  EXPECT(run() == CUDNN_STATUS_EXECUTION_FAILED);
}
