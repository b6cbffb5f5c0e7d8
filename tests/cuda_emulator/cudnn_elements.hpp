// Elements of cudnn's tensors as numbers.
#pragma once
#include <cstring>

#include "abi.hpp"
#include "small_floats.hpp"

namespace emulator::dnn {

template <class T>
T element(const char* data, std::ptrdiff_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<std::ptrdiff_t>(sizeof value), sizeof value);
  return value;
}
template <class T>
void put(char* data, std::ptrdiff_t i, T value) {
  std::memcpy(data + i * static_cast<std::ptrdiff_t>(sizeof value), &value, sizeof value);
}

inline double read(int type, const char* data, std::ptrdiff_t i) {
  switch (type) {
    case abi::CUDNN_DATA_DOUBLE: return element<double>(data, i);
    case abi::CUDNN_DATA_FLOAT: return element<float>(data, i);
    case abi::CUDNN_DATA_INT32: return element<std::int32_t>(data, i);
    case abi::CUDNN_DATA_INT64: return static_cast<double>(element<std::int64_t>(data, i));
    case abi::CUDNN_DATA_BOOLEAN: return data[i];
    case abi::CUDNN_DATA_HALF: return half_to_float(element<std::uint16_t>(data, i));
    default: return bfloat16_to_float(element<std::uint16_t>(data, i));
  }
}
inline void write(int type, char* data, std::ptrdiff_t i, double value) {
  switch (type) {
    case abi::CUDNN_DATA_DOUBLE: return put(data, i, value);
    case abi::CUDNN_DATA_FLOAT: return put(data, i, static_cast<float>(value));
    case abi::CUDNN_DATA_INT32: return put(data, i, static_cast<std::int32_t>(value));
    case abi::CUDNN_DATA_INT64: return put(data, i, static_cast<std::int64_t>(value));
    case abi::CUDNN_DATA_BOOLEAN: data[i] = value != 0; return;
    case abi::CUDNN_DATA_HALF: return put(data, i, float_to_half(static_cast<float>(value)));
    default: return put(data, i, float_to_bfloat16(static_cast<float>(value)));
  }
}

}  // namespace emulator::dnn
