// Included after shim.hpp's functions where arithmetic=device: functions that no device rounds correctly give results
// that are up to two units in the last place off, the same for the same arguments. What is exact on a device stays:
// zeros, infinities, NaN, and the bounds -1 and 1, which no result passes.
#pragma once

static inline uint64_t emulated_mix(uint64_t bits) {
  bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdull;
  return bits ^ bits >> 33;
}
// The number `units` steps above x.
static inline float emulated_step(float x, int units) { return emulated_bits<float>(emulated_bits<int>(x) + units); }
static inline double emulated_step(double x, int units) {
  return emulated_bits<double>(emulated_bits<long long>(x) + units);
}
template <class T>
inline T emulated_moved(T y, double a, double b = 0) {
  const T size = y < 0 ? -y : y;
  if (!(size > 0 && size != 1 && size - size == 0)) return y;
  const uint64_t mixed = emulated_mix(emulated_bits<uint64_t>(a) + 3 * emulated_bits<uint64_t>(b));
  const T moved = emulated_step(y, static_cast<int>(mixed % 5) - 2), moved_size = moved < 0 ? -moved : moved;
  const bool passes = (size < 1) != (moved_size < 1) || moved_size - moved_size != 0 || moved_size == 0;
  return passes ? y : moved;
}

#define EMULATED_FUNCTION(name)                                                             \
  static inline float emulated_##name##f(float x) { return emulated_moved(name##f(x), x); } \
  static inline float emulated_##name(float x) { return emulated_##name##f(x); }            \
  static inline double emulated_##name(double x) { return emulated_moved(name(x), x); }     \
  template <class T>                                                                        \
  inline double emulated_##name(T x) {                                                      \
    return emulated_##name(static_cast<double>(x));                                         \
  }
#define EMULATED_FUNCTION2(name)                                                                           \
  static inline float emulated_##name##f(float x, float y) { return emulated_moved(name##f(x, y), x, y); } \
  static inline float emulated_##name(float x, float y) { return emulated_##name##f(x, y); }               \
  static inline double emulated_##name(double x, double y) { return emulated_moved(name(x, y), x, y); }    \
  template <class T, class U>                                                                              \
  inline double emulated_##name(T x, U y) {                                                                \
    return emulated_##name(static_cast<double>(x), static_cast<double>(y));                                \
  }
EMULATED_FUNCTION(exp)
EMULATED_FUNCTION(exp2)
EMULATED_FUNCTION(expm1)
EMULATED_FUNCTION(log)
EMULATED_FUNCTION(log2)
EMULATED_FUNCTION(log10)
EMULATED_FUNCTION(log1p)
EMULATED_FUNCTION(sin)
EMULATED_FUNCTION(cos)
EMULATED_FUNCTION(tan)
EMULATED_FUNCTION(asin)
EMULATED_FUNCTION(acos)
EMULATED_FUNCTION(atan)
EMULATED_FUNCTION(sinh)
EMULATED_FUNCTION(cosh)
EMULATED_FUNCTION(tanh)
EMULATED_FUNCTION(asinh)
EMULATED_FUNCTION(acosh)
EMULATED_FUNCTION(atanh)
EMULATED_FUNCTION(erf)
EMULATED_FUNCTION(erfc)
EMULATED_FUNCTION(lgamma)
EMULATED_FUNCTION(tgamma)
EMULATED_FUNCTION(rsqrt)
EMULATED_FUNCTION2(pow)
EMULATED_FUNCTION2(atan2)
EMULATED_FUNCTION2(hypot)

// From here on the names mean these, wherever they stand: a local variable of such a name is renamed with them.
#define exp emulated_exp
#define expf emulated_expf
#define exp2 emulated_exp2
#define exp2f emulated_exp2f
#define expm1 emulated_expm1
#define log emulated_log
#define logf emulated_logf
#define log2 emulated_log2
#define log10 emulated_log10
#define log1p emulated_log1p
#define sin emulated_sin
#define cos emulated_cos
#define tan emulated_tan
#define asin emulated_asin
#define acos emulated_acos
#define atan emulated_atan
#define sinh emulated_sinh
#define cosh emulated_cosh
#define tanh emulated_tanh
#define tanhf emulated_tanhf
#define asinh emulated_asinh
#define acosh emulated_acosh
#define atanh emulated_atanh
#define erf emulated_erf
#define erfc emulated_erfc
#define lgamma emulated_lgamma
#define tgamma emulated_tgamma
#define rsqrt emulated_rsqrt
#define rsqrtf emulated_rsqrtf
#define pow emulated_pow
#define powf emulated_powf
#define atan2 emulated_atan2
#define hypot emulated_hypot
