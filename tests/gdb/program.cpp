// What tests/gdb/run looks at, where shown() is called.
#include <tern/tern.hpp>

using namespace tern;

struct Things {
  Tensor<Cpu> undefined, scalar = scalar_tensor<Cpu>(0.5), matrix = arange<Cpu>(6.).reshape({2, 3});
  Tensor<Cpu> transposed = matrix.t(), column = matrix.select(1, 2), expanded = matrix.select(0, 1).expand({2, 3});
  Tensor<Cpu> empty = zeros<Cpu>({0, 3}), learned = full<Cpu>({2}, 3), long_one = arange<Cpu>(1000.);
  Tensor<Cpu, double> doubles = tensor<Cpu, double>({0.25, -2});
  Tensor<Cpu, bfloat16> bfloats = tensor<Cpu>({1.5, -0.0078125}).to(bf16);
  Tensor<Cpu, half> halves = tensor<Cpu>({1.5, -0.0078125}).to(f16);
  Tensor<Cpu, Index> indices = tensor<Cpu, Index>({-1, Index(1) << 40});
  Tensor<Cpu, int> ints = tensor<Cpu, int>({-7, 7});
  Tensor<Cpu, std::uint8_t> bytes = tensor<Cpu, std::uint8_t>({0, 65, 255});
  Tensor<Cpu, bool> mask = matrix > 2;
  Tensor<Cuda> on_gpu;
  nn::Linear<Cpu> layer{3, 2};
  nn::Buffer<Cpu, half> buffer = full<Cpu>({1}, 4);
  AnyTensor any = indices, no_tensor;
  detail::Shape shape = {4, 5};
  std::vector<Tensor<Cpu>> list = {scalar, column};
};

// No optimiser removes what it refers to.
[[gnu::noinline]] void shown(const Things& things) { asm volatile("" : : "r"(&things) : "memory"); }

// A tensor of Cuda, on device 1, as far as a debugger that cannot read its elements sees it.
static detail::TensorImpl on_device{};

int main() {
  Things things;
  things.learned.requires_grad_();
  fill_(things.layer.bias.detach(), 2);
  on_device.refs.increase();
  on_device.ndim = 2, on_device.dims[0] = 8, on_device.dims[1] = 16, on_device.ordinal = 1, on_device.contiguous = true;
  on_device.owner = &on_device;
  things.on_gpu = Tensor<Cuda>(&on_device);
  shown(things);
  things.matrix.relu_();
  std::move(things.on_gpu).release();
}
