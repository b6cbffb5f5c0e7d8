// What the tests of the emulated cudnn share: descriptors with an owner, and tensors as numbers in the order of their
// indices.
#pragma once
#include <cmath>
#include <functional>

#include "device.hpp"

namespace emulator_test {

using Sizes = std::vector<int>;

#define OWNED(Name, Handle, kind)                                   \
  struct Name {                                                     \
    Handle handle = nullptr;                                        \
    Name() { EXPECT(cudnnCreate##kind##Descriptor(&handle) == 0); } \
    ~Name() { cudnnDestroy##kind##Descriptor(handle); }             \
    Name(const Name&) = delete;                                     \
    operator Handle() const { return handle; }                      \
  };
OWNED(OwnedTensor, cudnnTensorDescriptor_t, Tensor)
OWNED(OwnedDropout, cudnnDropoutDescriptor_t, Dropout)
OWNED(OwnedRnn, cudnnRNNDescriptor_t, RNN)
OWNED(OwnedData, cudnnRNNDataDescriptor_t, RNNData)
#undef OWNED

// The order of a tensor of images in memory.
enum class Format { channels_first, channels_last };

// Sizes, and how the window moves: stride, padding, dilation in each dimension.
struct Case {
  Sizes x, w, stride, padding, dilation;
  int groups = 1, mode = CUDNN_CROSS_CORRELATION;
  Sizes y() const {
    Sizes out{x[0], w[0]};
    for (std::size_t i = 0; i < stride.size(); ++i)
      out.push_back((x[i + 2] + 2 * padding[i] - dilation[i] * (w[i + 2] - 1) - 1) / stride[i] + 1);
    return out;
  }
};

struct Library {
  cudnnHandle_t handle = nullptr;
  Library() { EXPECT(cudnnCreate(&handle) == 0); }
  ~Library() { cudnnDestroy(handle); }
  Library(const Library&) = delete;
  operator cudnnHandle_t() const { return handle; }
};

inline void* at(CUdeviceptr p) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(p)); }

inline std::size_t count(const Sizes& dims) {
  std::size_t n = 1;
  for (const int size : dims) n *= static_cast<std::size_t>(size);
  return n;
}

// Numbers in the order of the indices [n, c, d, h, w], whatever the format in memory.
inline std::vector<double> wave(std::size_t n, double step) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(step * static_cast<double>(i + 1));
  return v;
}

// Where the element of that number is in memory.
inline std::size_t place(std::size_t number, const Sizes& dims, Format format) {
  if (format == Format::channels_first) return number;
  const std::size_t inner = count({dims.begin() + 2, dims.end()}), c = static_cast<std::size_t>(dims[1]);
  return (number / (c * inner) * inner + number % inner) * c + number / inner % c;
}

template <class T>
std::vector<T> in_memory(const std::vector<double>& values, const Sizes& dims, Format format) {
  std::vector<T> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[place(i, dims, format)] = static_cast<T>(values[i]);
  return out;
}
template <class T>
double difference(const Array<T>& memory, const std::vector<double>& expected, const Sizes& dims, Format format) {
  const std::vector<T> got = memory.values();
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::fabs(static_cast<double>(got[place(i, dims, format)]) - expected[i]);
    most = off > most || std::isnan(off) ? (std::isnan(off) ? INFINITY : off) : most;
  }
  return most;
}

// Calls f(number of x, number of w, number of y) for each product of the sum that a convolution is.
inline void each_product(const Case& c, const std::function<void(std::size_t, std::size_t, std::size_t)>& f) {
  const Sizes y = c.y();
  const std::size_t nd = c.stride.size(), outs = count({y.begin() + 2, y.end()}),
                    taps = count({c.w.begin() + 2, c.w.end()});
  for (int n = 0; n < y[0]; ++n)
    for (int k = 0; k < y[1]; ++k)
      for (int ch = 0; ch < c.w[1]; ++ch)
        for (std::size_t o = 0; o < outs; ++o)
          for (std::size_t t = 0; t < taps; ++t) {
            std::size_t in = 0, rest_o = o, rest_t = t, scale = 1;
            bool inside = true;
            for (std::size_t i = nd; i-- > 0;) {
              const int oi = static_cast<int>(rest_o) % y[i + 2], ti = static_cast<int>(rest_t) % c.w[i + 2];
              rest_o /= static_cast<std::size_t>(y[i + 2]), rest_t /= static_cast<std::size_t>(c.w[i + 2]);
              const int from = oi * c.stride[i] - c.padding[i] + ti * c.dilation[i];
              inside = inside && from >= 0 && from < c.x[i + 2];
              in += scale * static_cast<std::size_t>(inside ? from : 0);
              scale *= static_cast<std::size_t>(c.x[i + 2]);
            }
            if (!inside) continue;
            const int channel = k / (c.w[0] / c.groups) * c.w[1] + ch;
            const std::size_t tap = c.mode == CUDNN_CONVOLUTION ? taps - 1 - t : t;
            f(static_cast<std::size_t>(n * c.x[1] + channel) * scale + in,
              static_cast<std::size_t>(k * c.w[1] + ch) * taps + tap,
              static_cast<std::size_t>(n * y[1] + k) * outs + o);
          }
}

inline const Case small{{2, 3, 6, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}};

}  // namespace emulator_test
