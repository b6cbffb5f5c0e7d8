#include <cstring>
#include <memory>

#include "support/tensors.hpp"

#include "tern/backend/convolution.hpp"

namespace backend_convolution {
using namespace tern;
using namespace tern_test;
using detail::backend::Convolution;
using detail::backend::ConvParams;

namespace {

/// A layer: channels, size of a square image, output channels, kernel, stride, padding, groups.
struct Layer {
  const char* network;
  Index in, size, out, kernel, stride, padding, groups = 1;
};

const Layer layers[] = {
    {"LeNet", 1, 28, 6, 5, 1, 2},
    {"LeNet", 6, 14, 16, 5, 1, 0},
    {"mnist_cnn", 1, 28, 32, 3, 1, 0},
    {"mnist_cnn", 32, 26, 64, 3, 1, 0},
    {"mnist_pytorch", 10, 12, 20, 5, 1, 0},
    {"ResNet-20", 3, 32, 16, 3, 1, 1},
    {"ResNet-20", 16, 32, 16, 3, 1, 1},
    {"ResNet-20", 16, 32, 32, 3, 2, 1},
    {"ResNet-20", 16, 32, 32, 1, 2, 0},
    {"ResNet-20", 32, 16, 64, 3, 2, 1},
    {"ResNet-20", 64, 8, 64, 3, 1, 1},
    {"ResNet-50", 3, 224, 64, 7, 2, 3},
    {"ResNet-50", 64, 56, 256, 1, 1, 0},
    {"ResNet-50", 128, 56, 128, 3, 2, 1},
    {"ResNet-50", 256, 56, 512, 1, 2, 0},
    {"ResNet-50", 512, 7, 512, 3, 1, 1},
    {"ResNet-50", 2048, 7, 512, 1, 1, 0},
    {"VGG", 3, 224, 64, 3, 1, 1},
    {"VGG", 256, 56, 256, 3, 1, 1},
    {"VGG", 512, 14, 512, 3, 1, 1},
    {"cifar_vgg", 512, 4, 512, 3, 1, 1},
    {"GoogLeNet", 192, 28, 16, 1, 1, 0},
    {"GoogLeNet", 16, 28, 32, 5, 1, 2},
    {"GoogLeNet", 24, 14, 64, 5, 1, 2},
    {"GoogLeNet", 832, 7, 48, 1, 1, 0},
    {"AlexNet", 3, 224, 64, 11, 4, 2},
    {"AlexNet", 64, 27, 192, 5, 1, 2},
    {"MobileNet", 32, 112, 32, 3, 1, 1, 32},
    {"MobileNet", 144, 56, 144, 3, 2, 1, 144},
    {"ResNeXt", 128, 56, 128, 3, 1, 1, 32},
    {"ShuffleNet", 240, 28, 60, 1, 1, 0, 3},
    {"ViT", 3, 224, 192, 16, 16, 0},
    {"ConvNeXt", 96, 56, 96, 7, 1, 3, 96},
};

/// An array's sizes, without memory: enough to make a primitive.
detail::Array sizes(DType type, const detail::Shape& shape) {
  detail::Array a{};
  a.dtype = type, a.ndim = std::uint8_t(shape.n), a.numel = shape.numel();
  for (int i = 0; i < shape.n; ++i) a.dims[i] = shape[i];
  detail::set_channels_last_strides(a);
  return a;
}

}  // namespace

TEST_CASE("oneDNN has fast kernels for the layers of known networks, forward and backward", "[backend]") {
  const bool has_bfloat16 = [] {
    const detail::Array x = sizes(DType::bfloat16, {1, 16, 8, 8}), w = sizes(DType::bfloat16, {16, 16, 1, 1});
    const ConvParams c;
    const Convolution call{detail::ConvolutionPass::forward, c, x, w, x};
    const std::unique_ptr<detail::onednn::Primitive> made(
        detail::backend::cpu_kernels::make_convolution(detail::backend::cpu_kernels::convolution_key(call, 1), call));
    return made->usable();
  }();
  for (const Layer& l : layers)
    for (const DType type : {DType::float32, DType::bfloat16}) {
      if (type == DType::bfloat16 && !has_bfloat16) continue;
      const Index out = (l.size + 2 * l.padding - l.kernel) / l.stride + 1;
      const detail::Array x = sizes(type, {2, l.in, l.size, l.size}), y = sizes(type, {2, l.out, out, out}),
                          w = sizes(type, {l.out, l.in / l.groups, l.kernel, l.kernel});
      const ConvParams c{.stride = {l.stride, l.stride}, .padding = {l.padding, l.padding}, .groups = l.groups};
      for (const detail::ConvolutionPass pass :
           {detail::ConvolutionPass::forward, detail::ConvolutionPass::data_gradient,
            detail::ConvolutionPass::weight_gradient}) {
        INFO(l.network << " " << l.in << " x " << l.size << " -> " << l.out << ", " << detail::name_of(type)
                       << ", pass " << int(pass));
        const Convolution call{pass, c, x, w, y};
        const std::unique_ptr<detail::onednn::Primitive> made(detail::backend::cpu_kernels::make_convolution(
            detail::backend::cpu_kernels::convolution_key(call, 1), call));
        CHECK(made->usable());  // one called "ref" is not
      }
    }
}

TEST_CASE("Winograd's way is taken where it was measured to be the faster one", "[backend]") {
  const auto is_winograd = [](Index n, Index in, Index size, Index out, Index stride = 1, Index groups = 1,
                              DType type = DType::float32) {
    const Index to = (size - 1) / stride + 1;
    const detail::Array x = sizes(type, {n, in, size, size}), y = sizes(type, {n, out, to, to}),
                        w = sizes(type, {out, in / groups, 3, 3});
    const ConvParams c{.stride = {stride, stride}, .padding = {1, 1}, .groups = groups};
    return detail::backend::cpu_kernels::is_for_winograd({detail::ConvolutionPass::forward, c, x, w, y});
  };
  if (!detail::backend::cpu_kernels::winograd::fast) SKIP_TEST("compiled for a processor without fused multiply-adds");
  CHECK(is_winograd(8, 64, 56, 64));
  CHECK(is_winograd(32, 128, 16, 128));
  CHECK(is_winograd(32, 512, 4, 512));
  CHECK(is_winograd(32, 16, 32, 16));
  CHECK(is_winograd(1, 256, 14, 256));
  CHECK_FALSE(is_winograd(2, 16, 9, 16));
  CHECK_FALSE(is_winograd(64, 512, 2, 512));
  CHECK_FALSE(is_winograd(1, 512, 7, 512));
  CHECK_FALSE(is_winograd(8, 3, 56, 64));
  CHECK_FALSE(is_winograd(8, 64, 56, 65));
  CHECK_FALSE(is_winograd(8, 64, 56, 64, 2));
  CHECK_FALSE(is_winograd(8, 64, 56, 64, 1, 2));
  CHECK_FALSE(is_winograd(8, 64, 56, 64, 1, 1, DType::float64));
  CHECK_FALSE(is_winograd(16, 512, 7, 512, 1, 1, DType::bfloat16));
  CHECK_FALSE(is_winograd(32, 16, 32, 16, 1, 1, DType::bfloat16));
  CHECK(is_winograd(8, 64, 56, 64, 1, 1, DType::bfloat16) == !detail::onednn::has_amx());
}

TEST_CASE("oneDNN's older kernels are taken where they were measured to be faster", "[backend]") {
  const auto is_jit = [](detail::ConvolutionPass pass, Index n, Index in, Index size, Index out, Index kernel,
                         Index stride = 1) {
    const Index to = (size + 2 * (kernel / 2) - kernel) / stride + 1;
    const detail::Array x = sizes(DType::float32, {n, in, size, size}), y = sizes(DType::float32, {n, out, to, to}),
                        w = sizes(DType::float32, {out, in, kernel, kernel});
    const ConvParams c{.stride = {stride, stride}, .padding = {kernel / 2, kernel / 2}};
    const Convolution call{pass, c, x, w, y};
    const bool jit = detail::backend::cpu_kernels::is_for_jit(call);
    const std::unique_ptr<detail::onednn::Primitive> made(
        detail::backend::cpu_kernels::make_convolution(detail::backend::cpu_kernels::convolution_key(call, 1), call));
    CHECK(made->usable());
    return jit;
  };
  CHECK(is_jit(detail::ConvolutionPass::forward, 64, 1, 28, 10, 5));
  CHECK(is_jit(detail::ConvolutionPass::forward, 128, 3, 32, 64, 3));
  CHECK_FALSE(is_jit(detail::ConvolutionPass::data_gradient, 128, 3, 32, 64, 3));
  CHECK_FALSE(is_jit(detail::ConvolutionPass::forward, 128, 16, 32, 16, 3));
  CHECK_FALSE(is_jit(detail::ConvolutionPass::forward, 8, 3, 224, 64, 7, 2));
  CHECK_FALSE(is_jit(detail::ConvolutionPass::forward, 8, 3, 224, 64, 3));
}

TEST_CASE("convolutions are matrix products where that was measured to be faster", "[backend]") {
  const auto is_product = [](detail::ConvolutionPass pass, Index n, Index in, Index size, Index out, Index stride = 1,
                             Index kernel = 1) {
    const Index to = (size - 1) / stride + 1;
    const detail::Array x = sizes(DType::float32, {n, in, size, size}), y = sizes(DType::float32, {n, out, to, to}),
                        w = sizes(DType::float32, {out, in, kernel, kernel});
    const ConvParams c{.stride = {stride, stride}, .padding = {kernel / 2, kernel / 2}};
    return detail::backend::cpu_kernels::is_for_loops({pass, c, x, w, y});
  };
  const bool avx512 = detail::onednn::uses(dnnl_cpu_isa_avx512_core);  // with AVX2 other shapes were faster
  CHECK(is_product(detail::ConvolutionPass::forward, 8, 2048, 7, 512) == avx512);
  CHECK_FALSE(is_product(detail::ConvolutionPass::forward, 8, 1024, 14, 256));
  CHECK(is_product(detail::ConvolutionPass::forward, 8, 32, 112, 192) == avx512);
  CHECK(is_product(detail::ConvolutionPass::data_gradient, 8, 64, 56, 256) == avx512);
  CHECK(is_product(detail::ConvolutionPass::weight_gradient, 8, 64, 56, 256) == avx512);
  CHECK(is_product(detail::ConvolutionPass::weight_gradient, 8, 512, 7, 2048));
  CHECK_FALSE(is_product(detail::ConvolutionPass::weight_gradient, 128, 16, 32, 32));
  CHECK_FALSE(is_product(detail::ConvolutionPass::data_gradient, 8, 256, 56, 512, 2));
  CHECK(is_product(detail::ConvolutionPass::weight_gradient, 8, 128, 56, 128, 2, 3));
  CHECK_FALSE(is_product(detail::ConvolutionPass::weight_gradient, 8, 3, 224, 64, 2, 7));
  CHECK_FALSE(is_product(detail::ConvolutionPass::weight_gradient, 8, 512, 14, 512, 1, 3));
  CHECK(is_product(detail::ConvolutionPass::forward, 8, 1024, 14, 2048, 2));
  CHECK(is_product(detail::ConvolutionPass::forward, 8, 256, 56, 512, 2) != avx512);
}

TEST_CASE("as many images are computed at once as lie in the cache", "[backend]") {
  const auto at_once = [](Index images, Index size, bool ends) {
    const detail::Array a = sizes(DType::float32, {images, 64, size, size}), w = sizes(DType::float32, {64, 64, 3, 3});
    const ConvParams c{.padding = {1, 1}};
    Convolution call{detail::ConvolutionPass::forward, c, a, w, a};
    call.relu = ends;
    return detail::backend::cpu_kernels::images_at_once(call, images);
  };
  CHECK(at_once(16, 56, false) == 16);
  CHECK(at_once(16, 56, true) == 4);
  CHECK(at_once(15, 56, true) == 5);
  CHECK(at_once(17, 56, true) == 1);
  CHECK(at_once(16, 224, true) == 1);
  CHECK(at_once(16, 14, true) == 16);
}

TEST_CASE("a convolution's passes do not depend on the number of threads", "[backend]") {
  const int before = get_num_threads();
  for (const Index kernel : {1, 3, 5})
    for (const Index stride : {1, 2}) {
      std::vector<float> one[3];
      for (const int threads : {1, 2, 4}) {
        set_num_threads(threads);
        manual_seed(3);
        const auto x = randn<Cpu>({16, 32, 31, 31}).requires_grad_(),
                   w = randn<Cpu>({64, 32, kernel, kernel}).requires_grad_();
        const auto y = conv2d(x, w, {}, {.stride = {stride, stride}, .padding = {kernel / 2, kernel / 2}});
        y.square().sum().backward();
        const std::vector<float> values[] = {y.to_vector(), x.grad().to_vector(), w.grad().to_vector()};
        for (int i = 0; i < 3; ++i) {
          if (threads == 1) one[i] = values[i];
          INFO("kernel " << kernel << ", stride " << stride << ", " << threads << " threads, pass " << i);
          CHECK(std::memcmp(one[i].data(), values[i].data(), one[i].size() * sizeof(float)) == 0);
        }
      }
    }
  set_num_threads(before);
}

TEST_CASE("oneDNN takes activations as they are", "[backend]") {
  const auto x = ones<Cpu>({2, 16, 6, 6}).contiguous(channels_last),
             w = ones<Cpu>({16, 16, 3, 3}).contiguous(channels_last);
  const ConvParams c{.padding = {1, 1}};
  const Convolution call{detail::ConvolutionPass::forward, c, *x.impl(), *w.impl(), *x.impl()};
  const auto key = detail::backend::cpu_kernels::convolution_key(call, 1);
  const std::unique_ptr<detail::onednn::Primitive> made(detail::backend::cpu_kernels::make_convolution(key, call));
  const auto outside = detail::backend::cpu_kernels::convolution_operand(*x.impl(), 1, false);
  CHECK(detail::onednn::same(made->desc(DNNL_ARG_SRC), outside.get()));
  CHECK(detail::onednn::same(made->desc(DNNL_ARG_DST), outside.get()));
}

}  // namespace backend_convolution
