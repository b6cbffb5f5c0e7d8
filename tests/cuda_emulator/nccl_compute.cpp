// What nccl's ranks get, by plain loops over copies of what they give, so that results may be in place.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "nccl.hpp"
#include "small_floats.hpp"

namespace emulator::nccl {

namespace {

using namespace abi;

using Bytes = std::vector<char>;

struct Half {
  std::uint16_t bits;
  operator float() const { return half_to_float(bits); }
  static Half of(float x) { return {float_to_half(x)}; }
};
struct Bfloat16 {
  std::uint16_t bits;
  operator float() const { return bfloat16_to_float(bits); }
  static Bfloat16 of(float x) { return {float_to_bfloat16(x)}; }
};

// The type that T is computed in, and back: 16-bit results are rounded each time.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
template <class T>
T narrow(Wide<T> x) {
  if constexpr (sizeof(T) == 2) return T::of(x);
  else return x;
}

// Sums of integers wrap.
template <class W>
W sum(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else return a + b;
}
template <class W>
W product(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else return a * b;
}

// into = into op x. An average of integers is divided at the end; floating elements are multiplied by 1/ranks before
// they are added.
template <class T>
void reduce(char* into, const char* from, std::size_t count, int op, Wide<T> scale) {
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    const Wide<T> x = a, y = b;
    const T result = op == ncclMax    ? (x < y ? b : a)
                     : op == ncclMin  ? (y < x ? b : a)
                     : op == ncclProd ? narrow<T>(product(x, y))
                                      : narrow<T>(sum(x, product(y, scale)));
    std::memcpy(into + i * sizeof(T), &result, sizeof(T));
  }
}

template <class T>
void scale_all(char* data, std::size_t count, Wide<T> factor, Wide<T> divisor) {
  for (std::size_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, data + i * sizeof(T), sizeof(T));
    x = narrow<T>(static_cast<Wide<T>>(product<Wide<T>>(x, factor) / divisor));
    std::memcpy(data + i * sizeof(T), &x, sizeof(T));
  }
}

template <class T>
Bytes joined(const std::vector<Bytes>& sent, int op) {
  const auto ranks = static_cast<Wide<T>>(sent.size());
  const bool averages = op == ncclAvg;
  const bool integral = std::is_integral_v<Wide<T>>;
  const Wide<T> scale = averages && !integral ? static_cast<Wide<T>>(1) / ranks : static_cast<Wide<T>>(1);
  Bytes sum = sent[0];
  const std::size_t count = sum.size() / sizeof(T);
  if (averages && !integral) scale_all<T>(sum.data(), count, scale, 1);
  for (std::size_t rank = 1; rank < sent.size(); ++rank) reduce<T>(sum.data(), sent[rank].data(), count, op, scale);
  if (averages && integral) scale_all<T>(sum.data(), count, 1, ranks);
  return sum;
}

Bytes joined(const std::vector<Bytes>& sent, int type, int op) {
  switch (type) {
    case ncclInt8: return joined<std::int8_t>(sent, op);
    case ncclUint8: return joined<std::uint8_t>(sent, op);
    case ncclInt32: return joined<std::int32_t>(sent, op);
    case ncclUint32: return joined<std::uint32_t>(sent, op);
    case ncclInt64: return joined<std::int64_t>(sent, op);
    case ncclUint64: return joined<std::uint64_t>(sent, op);
    case ncclFloat16: return joined<Half>(sent, op);
    case ncclFloat32: return joined<float>(sent, op);
    case ncclFloat64: return joined<double>(sent, op);
    default: return joined<Bfloat16>(sent, op);
  }
}

}  // namespace

std::size_t element_bytes(int type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 0;
  }
}

std::size_t Request::send_bytes() const {
  const std::size_t bytes = count * element_bytes(type);
  switch (kind) {
    case Kind::receive: return 0;
    case Kind::broadcast: return rank == peer ? bytes : 0;
    case Kind::reduce_scatter: return bytes * static_cast<std::size_t>(ranks);
    default: return bytes;
  }
}

std::size_t Request::receive_bytes() const {
  const std::size_t bytes = count * element_bytes(type);
  switch (kind) {
    case Kind::send: return 0;
    case Kind::all_gather: return bytes * static_cast<std::size_t>(ranks);
    default: return bytes;
  }
}

void carry_out(const std::vector<Operand>& operands) {
  std::vector<Bytes> sent;  // by rank
  for (const Operand& operand : operands) sent.emplace_back(operand.send, operand.send + operand.request.send_bytes());
  const Request& first = operands[0].request;
  const bool reduces = first.kind == Kind::all_reduce || first.kind == Kind::reduce_scatter;
  Bytes all;
  if (reduces) all = joined(sent, first.type, first.op);
  else
    for (const Bytes& bytes : sent)
      all.insert(all.end(), bytes.begin(), bytes.end());  // of one rank, but for all_gather
  for (const auto& [request, send, receive] : operands) {
    const std::size_t bytes = request.receive_bytes();
    const std::size_t begin = request.kind == Kind::reduce_scatter ? static_cast<std::size_t>(request.rank) * bytes : 0;
    if (bytes) std::memcpy(receive, all.data() + begin, bytes);
  }
}

}  // namespace emulator::nccl
