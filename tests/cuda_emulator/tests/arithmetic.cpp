// arithmetic=device: kernels round as NVRTC's do, and functions are off by up to two units in the last place.
#include <cmath>

#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* source = R"(
extern "C" __global__ void contract(const float* x, float* y) {
  y[0] = x[0] * x[0] - x[1];
  y[1] = __fadd_rn(__fmul_rn(x[0], x[0]), -x[1]);
}
extern "C" __global__ void exponentials(const float* x, float* y, double* z) {
  y[threadIdx.x] = expf(x[threadIdx.x]);
  z[threadIdx.x] = ::exp(double(x[threadIdx.x]));
}
extern "C" __global__ void exact(float* y) {
  const float log = y[0];
  y[1] = expf(log); y[2] = ::log(y[1]); y[3] = tanhf(log + 50.0f); y[4] = expf(-1.0f / log); y[5] = sqrtf(2.0f);
  y[6] = logf(log - 1.0f);
}
)";

// x * x rounded, and what a contracted difference from it keeps.
constexpr float x = 1.0f + 0x1p-12f, rest = 0x1p-24f;

std::vector<float> contracted() {
  Kernels k(source);
  Array<float> in(std::vector<float>{x, x * x}), out(2);
  EXPECT(launch(k["contract"], {}, nullptr, in.pointer, out.pointer) == CUDA_SUCCESS);
  return out.values();
}

// By how many units in the last place each value is off.
template <class T>
std::vector<double> units_off(const std::vector<T>& values, const std::vector<float>& arguments) {
  std::vector<double> off;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T right = std::exp(T(arguments[i]));
    off.push_back(double((values[i] - right) / (std::nextafter(right, T(1e30f)) - right)));
  }
  return off;
}

}  // namespace

CHILD_CASE("cuda emulator: products and sums are contracted as on a device, and not by default") {
  start();
  EXPECT(contracted() == (std::vector<float>{0, 0}));
  tern_emulator_set("arithmetic=device");
  EXPECT(contracted() == (std::vector<float>{rest, 0}));
}

CHILD_CASE("cuda emulator: functions are up to two units off as on a device") {
  tern_emulator_set("arithmetic=device");
  start();
  std::vector<float> arguments(256);
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = 0.01f * static_cast<float>(i + 1);
  Kernels k(source);
  Array<float> in(arguments), y(256);
  Array<double> z(256);
  EXPECT(launch(k["exponentials"], {1, 256}, nullptr, in.pointer, y.pointer, z.pointer) == CUDA_SUCCESS);
  for (const std::vector<double>& off : {units_off(y.values(), arguments), units_off(z.values(), arguments)}) {
    int different = 0, far = 0;
    for (const double units : off) different += units != 0, far += std::fabs(units) > 2;
    EXPECT(different > 150);
    EXPECT(far == 0);
  }
}

CHILD_CASE("cuda emulator: what a device has exactly stays exact") {
  tern_emulator_set("arithmetic=device");
  start();
  Kernels k(source);
  Array<float> y(std::vector<float>(7, 0.0f));
  EXPECT(launch(k["exact"], {}, nullptr, y.pointer) == CUDA_SUCCESS);
  const std::vector<float> out = y.values();
  EXPECT(out[1] == 1 && out[2] == 0 && out[3] == 1 && out[4] == 0 && out[5] == std::sqrt(2.0f) && std::isnan(out[6]));
}
