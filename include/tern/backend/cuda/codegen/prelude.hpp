// What every kernel's source begins with: the element types, and the functions that a traced lambda is made of, with
// the meaning that expr/ gives them. Self-contained: NVRTC finds no header, not even cuda_fp16.h.
#pragma once
#include "../../../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

inline constexpr const char* prelude = R"CUDA(
typedef long long int64;
typedef int int32;
typedef unsigned char uint8;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef long long Index;

namespace tern {

struct bfloat16 { unsigned short bits; };
struct half { unsigned short bits; };
template <class T, int n> struct alignas(n * sizeof(T)) Pack { T at[n]; };   // elements read and written at once

inline __device__ float float_of(uint32 bits) { return __uint_as_float(bits); }
inline __device__ uint32 bits_of(float x) { return __float_as_uint(x); }

// 16 bits are converted by the processor's instructions where NVIDIA's compiler makes code for one that has them. The formulas give
// the same results, but for the bits of a NaN.

// From an element to what is calculated with.
inline __device__ float promote(bfloat16 x) { return float_of(uint32(x.bits) << 16); }
inline __device__ float promote(half x) {
#ifdef __CUDACC_VER_MAJOR__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#else
  const uint32 magnitude = x.bits & 0x7fffu;
  const uint32 finite = bits_of(float_of(magnitude << 13) * 5.192296858534828e33f);   // 2^112; subnormal numbers too
  return float_of((magnitude >= 0x7c00u ? magnitude << 13 | 0x7f800000u : finite) | (x.bits & 0x8000u) << 16);
#endif
}
template <class T> inline __device__ T promote(T x) { return x; }

// And back, rounded to nearest even.
inline __device__ bfloat16 bfloat16_of(float x) {
#if defined(__CUDACC_VER_MAJOR__) && __CUDA_ARCH__ >= 800
  bfloat16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
#else
  const uint32 u = bits_of(x);
  const uint32 rounded = x == x ? (u + 0x7fffu + (u >> 16 & 1u)) >> 16 : u >> 16 | 0x40u;
  return bfloat16{(unsigned short)rounded};
#endif
}
inline __device__ half half_of(float x) {
#ifdef __CUDACC_VER_MAJOR__
  half y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
#else
  const uint32 u = bits_of(x), magnitude = u & 0x7fffffffu;
  uint32 bits = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  if (magnitude < 0x38800000u) bits = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  if (magnitude >= 0x477ff000u) bits = 0x7c00u;
  if (magnitude > 0x7f800000u) bits = 0x7e00u;
  return half{(unsigned short)(bits | (u >> 16 & 0x8000u))};
#endif
}
template <class U> struct Element {
  template <class T> static __device__ U of(T x) { return U(x); }
};
template <> struct Element<uint8> {
  static __device__ uint8 of(float x) { return uint8(int32(x)); }
  static __device__ uint8 of(double x) { return uint8(int32(x)); }
  template <class T> static __device__ uint8 of(T x) { return uint8(x); }
};
template <> struct Element<bool> {
  template <class T> static __device__ bool of(T x) { return x != T(0); }
};
template <> struct Element<bfloat16> {
  template <class T> static __device__ bfloat16 of(T x) { return bfloat16_of(float(x)); }
};
template <> struct Element<half> {
  template <class T> static __device__ half of(T x) { return half_of(float(x)); }
};

// What is calculated with for a type of element.
template <class T> struct Compute { typedef T type; };
template <> struct Compute<bfloat16> { typedef float type; };
template <> struct Compute<half> { typedef float type; };

// The number in a word of the parameters.
template <class T> inline __device__ T number(uint64 word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}

// ---- arithmetic: integers wrap around ----

template <class T> struct Wrapping { typedef T type; };
template <> struct Wrapping<int64> { typedef uint64 type; };
template <> struct Wrapping<int32> { typedef uint32 type; };
template <class T> inline __device__ T add(T a, T b) { typedef typename Wrapping<T>::type W; return T(W(a) + W(b)); }
template <class T> inline __device__ T subtract(T a, T b) { typedef typename Wrapping<T>::type W; return T(W(a) - W(b)); }
template <class T> inline __device__ T multiply(T a, T b) { typedef typename Wrapping<T>::type W; return T(W(a) * W(b)); }
template <class T> inline __device__ T multiply_add(T a, T b, T c) { return add(multiply(a, b), c); }
inline __device__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
inline __device__ double multiply_add(double a, double b, double c) { return ::fma(a, b, c); }
template <class T> inline __device__ T negative(T a) { return subtract(T(0), a); }
inline __device__ float negative(float a) { return -a; }
inline __device__ double negative(double a) { return -a; }
template <class T> inline __device__ bool minus_one(T) { return false; }
inline __device__ bool minus_one(int32 b) { return b == -1; }
inline __device__ bool minus_one(int64 b) { return b == -1; }
template <class T> inline __device__ T divide(T a, T b) {
  return b == T(0) ? T(0) : minus_one(b) ? negative(a) : T(a / b);
}
inline __device__ float divide(float a, float b) { return a / b; }
inline __device__ double divide(double a, double b) { return a / b; }
template <class T> inline __device__ T remainder(T a, T b) { return b == T(0) || minus_one(b) ? T(0) : T(a % b); }
template <class T> inline __device__ T bit_and(T a, T b) { return T(a & b); }
template <class T> inline __device__ T bit_or(T a, T b) { return T(a | b); }
template <class T> inline __device__ T bit_xor(T a, T b) { return T(a ^ b); }
template <class T> inline __device__ T bit_not(T a) { return T(~a); }
inline __device__ bool bit_not(bool a) { return !a; }
template <class T> inline __device__ bool in_word(T b) { return b >= T(0) && uint64(b) < 8 * sizeof(T); }
template <class T> inline __device__ T shift_left(T a, T b) {
  typedef typename Wrapping<T>::type W;
  return in_word(b) ? T(W(a) << b) : T(0);
}
template <class T> inline __device__ T shift_right(T a, T b) { return T(a >> (in_word(b) ? int(b) : int(8 * sizeof(T)) - 1)); }

// ---- comparisons ----

template <class T> inline __device__ bool less(T a, T b) { return a < b; }
template <class T> inline __device__ bool greater(T a, T b) { return a > b; }
template <class T> inline __device__ bool at_most(T a, T b) { return a <= b; }
template <class T> inline __device__ bool at_least(T a, T b) { return a >= b; }
template <class T> inline __device__ bool equal(T a, T b) { return a == b; }
template <class T> inline __device__ bool unequal(T a, T b) { return a != b; }
inline __device__ bool both(bool a, bool b) { return a && b; }
inline __device__ bool either(bool a, bool b) { return a || b; }
inline __device__ bool one_of(bool a, bool b) { return a != b; }
inline __device__ bool negation(bool a) { return !a; }
template <class T> inline __device__ T where(bool m, T a, T b) { return m ? a : b; }
// NaN if either is.
template <class T> inline __device__ T smaller(T a, T b) { return a < b || a != a ? a : b; }
template <class T> inline __device__ T larger(T a, T b) { return a > b || a != a ? a : b; }

// ---- functions ----

#define FUNCTION(f) template <class T> inline __device__ T f(T x) { return ::f(x); }
#define LONG_FUNCTION(f) template <class T> __noinline__ __device__ T f(T x) { return ::f(x); }   // compiled once, not for each use
#define FUNCTION2(f) template <class T> inline __device__ T f(T x, T y) { return ::f(x, y); }
FUNCTION(exp) FUNCTION(exp2) FUNCTION(expm1) FUNCTION(log) FUNCTION(log2) FUNCTION(log10) FUNCTION(log1p) FUNCTION(sqrt)
LONG_FUNCTION(sin) LONG_FUNCTION(cos) LONG_FUNCTION(tan) FUNCTION(asin) FUNCTION(acos) FUNCTION(atan)
FUNCTION(sinh) FUNCTION(cosh) FUNCTION(tanh) FUNCTION(asinh) FUNCTION(acosh) FUNCTION(atanh)
FUNCTION(erf) FUNCTION(erfc) LONG_FUNCTION(lgamma) FUNCTION(floor) FUNCTION(ceil) FUNCTION(trunc) FUNCTION(logb)
FUNCTION2(copysign) FUNCTION2(fmod) FUNCTION2(atan2) FUNCTION2(hypot) FUNCTION2(nextafter)
#undef FUNCTION
#undef LONG_FUNCTION
#undef FUNCTION2
template <class T> inline __device__ T round(T x) { return ::rint(x); }
template <class T> inline __device__ T ldexp(T x, T n) { return ::ldexp(x, int(n)); }
template <class T> inline __device__ T rsqrt(T x) { return T(1) / ::sqrt(x); }
template <class T> inline __device__ T reciprocal(T x) { return T(1) / x; }
template <class T> inline __device__ T square(T x) { return multiply(x, x); }
template <class T> inline __device__ T sigmoid(T x) { return T(1) / (T(1) + ::exp(-x)); }
template <class T> inline __device__ T frac(T x) { return x - ::trunc(x); }
template <class T> inline __device__ T sign(T x) { return x > T(0) ? T(1) : x < T(0) ? negative(T(1)) : T(0); }
template <class T> inline __device__ T abs(T x) { return x < T(0) ? negative(x) : x; }
inline __device__ float abs(float x) { return ::fabsf(x); }
inline __device__ double abs(double x) { return ::fabs(x); }
// x^n of integers: rounded towards zero for a negative n.
template <class T> inline __device__ T pow(T x, T n) {
  if (n < T(0)) return x == T(1) ? T(1) : minus_one(x) ? T(n % T(2) == T(0) ? T(1) : x) : T(0);
  uint64 power = 1, factor = uint64(x);
  for (uint64 rest = uint64(n); rest; rest >>= 1, factor *= factor)
    if (rest & 1) power *= factor;
  return T(power);
}
inline __device__ float pow(float x, float y) { return ::powf(x, y); }
inline __device__ double pow(double x, double y) { return ::pow(x, y); }

// ---- special functions, in double ----

inline __device__ double not_a_number() { return 0.0 * (1e300 * 1e300); }
inline __device__ double zeta_sum(int s, double x) {
  const double bernoulli[] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000};
  double sum = 0;
  #pragma unroll 1
  for (; x < 16; x += 1) sum += ::pow(x, double(-s));
  double power = ::pow(x, double(-s)), factor = s;
  sum += power * x / (s - 1) + power / 2;
  #pragma unroll 1
  for (int k = 0; k < 6; ++k) {
    power /= k ? x * x : x;
    sum += bernoulli[k] * factor * power;
    factor *= (s + 2. * k + 1) * (s + 2. * k + 2);
  }
  return sum;
}
inline __device__ double digamma_of(double x) {
  const double pi = 3.14159265358979323846;
  const double series[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12};
  if (x == 0) return -1 / x;
  double sum = 0, tail = 0;
  if (x < 0) {
    if (x == ::floor(x)) return not_a_number();
    sum = -pi / ::tan(pi * (x - ::floor(x)));
    x = 1 - x;
  }
  #pragma unroll 1
  for (; x < 10; x += 1) sum -= 1 / x;
  #pragma unroll 1
  for (int k = 7; k-- > 0;) tail = (tail + series[k]) / (x * x);
  return sum + ::log(x) - 0.5 / x - tail;
}
inline __device__ double polygamma_of(int n, double x) {
  const double floor = ::floor(x);
  double sum;
  if (x > 0) sum = zeta_sum(n + 1, x);
  else if (x == floor) sum = 1e300 * 1e300;
  else {
    const double f = x - floor, below = zeta_sum(n + 1, 1 - f) - zeta_sum(n + 1, 1 - x);
    sum = zeta_sum(n + 1, f) + (n % 2 ? below : -below);
  }
  return (n % 2 ? 1 : -1) * ::tgamma(n + 1.) * sum;
}
inline __device__ double erfinv_of(double x) {
  const double a = ::fabs(x);
  if (!(a < 1)) return a == 1 ? ::copysign(1e300 * 1e300, x) : not_a_number();
  const double log = ::log1p(-a * a), h = 2 / (3.14159265358979323846 * 0.147) + log / 2;
  double y = ::sqrt(::sqrt(h * h - log / 0.147) - h);
  #pragma unroll 1
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? ::erf(y) - a : (1 - a) - ::erfc(y);
    const double step = error * ::exp(y * y) * 0.88622692545275801365;
    y -= step / (1 + y * step);
  }
  return ::copysign(y, x);
}
template <class T> __noinline__ __device__ T digamma(T x) { return T(digamma_of(x)); }
template <class T> __noinline__ __device__ T polygamma(T n, T x) { return T(polygamma_of(int(n), x)); }
template <class T> __noinline__ __device__ T erfinv(T x) { return T(erfinv_of(x)); }

// ---- parameters ----

// What the host throws when it next waits for the device; the first failure stays.
struct Failure { uint64 written, claimed, op[2], what; Index number, size, position; };

// The fields that a struct of parameters may have beside Index.
enum { max_dims = 8 };
template <class T> using Pointer = T*;
template <class T> struct KernelNumber {
  uint64 bits;
  __device__ operator T() const { return number<T>(bits); }
};
struct ElementReport {
  Failure* failure;
  uint64 op[2], what;
  __device__ void note(Index number, Index size, Index position = 0) const {
    if (atomicCAS(&failure->claimed, uint64(0), uint64(1)) != 0) return;
    failure->op[0] = op[0];
    failure->op[1] = op[1];
    failure->what = what;
    failure->number = number;
    failure->size = size;
    failure->position = position;
    __threadfence_system();  // the host reads the fields once it sees this one
    *(volatile uint64*)&failure->written = 1;
  }
};

// ---- positions: those of 32 bits are below 2^31 ----

// position / size without a division where it has 32 bits. The host's reciprocal() has the factor and the shift.
inline __device__ uint32 quotient(uint32 position, Index, uint64 reciprocal) {
  return (__umulhi(position, uint32(reciprocal)) + position) >> uint32(reciprocal >> 32);
}
inline __device__ uint64 quotient(uint64 position, Index size, uint64) { return position / uint64(size); }
// The innermost dimension's index of a position, which becomes the position in the dimensions outside of it.
template <class P> inline __device__ P take_index(P& position, Index size, uint64 reciprocal) {
  const P outer = quotient(position, size, reciprocal), index = position - outer * P(size);
  position = outer;
  return index;
}

inline __device__ Index first_thread() { return blockIdx.x * Index(blockDim.x) + threadIdx.x; }
inline __device__ Index all_threads() { return gridDim.x * Index(blockDim.x); }

}  // namespace tern
)CUDA";

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
