// What every public function of ops/ must have, as a row of ops/public_ops.cpp: a gradient that is checked, an oracle
// from outside, and a call that is refused with an Error in its name and with the caller's line; so is the row's own
// call where a tensor is undefined. tests/public_ops compares the rows with the functions that the headers declare.
#pragma once
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"

namespace tern_test {

using X = Tensor<Cpu, double>;

/// Who says what the right result is.
struct Oracle {
  double (*of_elements)(double a, double b) = nullptr;  // the row itself: each element from those of x and y
};
/// PyTorch's operator samples (tests/opinfo), under this name or another.
inline constexpr Oracle opinfo;
constexpr Oracle opinfo_as(const char*) { return {}; }
/// Test cases of a file beside ops/public_ops.cpp whose name begins so.
constexpr Oracle tested_in(const char*, const char*) { return {}; }

/// A result off the tape, and whether it really is.
struct Flat {
  std::vector<double> values;
  bool on_tape;

  template <class T>
  Flat(const Tensor<Cpu, T>& y) : values(values_of(y)), on_tape(y.requires_grad()) {}
};

/// One public function: a call of it for its gradients (or, if it has none, its values), its oracle, and a call that it
/// refuses.
struct PublicOp {
  const char* name;
  X (*call)(const X& x, const X& y, const X& z);
  Flat (*flat)(const X& x, const X& y, const X& z);
  X (*expected)(const X& x, const X& y, const X& z);  // of a form in place: by the one out of place
  Oracle oracle;
  void (*refused)(const X& x, const X& y, const X& z);
};

#define TERN_TEST_CALL(Result, ...) \
  []([[maybe_unused]] const X& x, [[maybe_unused]] const X& y, [[maybe_unused]] const X& z) -> Result { __VA_ARGS__; }
/// A row: the function, a call of it with x and y of shape [2, 3] and z of shape [3], its oracle, and a call that
/// it refuses.
#define OP(name, call, oracle, refused) \
  {#name, TERN_TEST_CALL(X, return call), nullptr, nullptr, oracle, TERN_TEST_CALL(void, refused)}
/// The same for one whose result is off the tape: truth values, numbers of elements, random numbers.
#define FLAT(name, call, oracle, refused) \
  {#name, nullptr, TERN_TEST_CALL(Flat, return call), nullptr, oracle, TERN_TEST_CALL(void, refused)}
/// name_(at, ...), which must be name(at, ...), and refuses a leaf.
#define IN_PLACE(name, at, ...)                                                                                 \
  {                                                                                                             \
    #name "_", TERN_TEST_CALL(X, const X v = clone(at); return name##_(v __VA_OPT__(, ) __VA_ARGS__)), nullptr, \
        TERN_TEST_CALL(X, return name(at __VA_OPT__(, ) __VA_ARGS__)), opinfo,                                  \
        TERN_TEST_CALL(void, name##_(x __VA_OPT__(, ) __VA_ARGS__))                                             \
  }
/// The same of x, for one whose result is off the tape.
#define FLAT_IN_PLACE(name, ...)                                           \
  {#name "_",                                                              \
   nullptr,                                                                \
   TERN_TEST_CALL(Flat, return name##_(x * 1 __VA_OPT__(, ) __VA_ARGS__)), \
   TERN_TEST_CALL(X, return name(x __VA_OPT__(, ) __VA_ARGS__).to(f64)),   \
   opinfo,                                                                 \
   TERN_TEST_CALL(void, name##_(x __VA_OPT__(, ) __VA_ARGS__))}
/// name(at) and name_(at).
#define UNARY(name, at, oracle) OP(name, name(at), oracle, name(X())), IN_PLACE(name, at)

/// A function of a namespace goes by its own name; to_type and to_device by the one that users write, x.to(...).
inline std::string name_in_errors(const std::string& name) {
  if (name == "to_type" || name == "to_device") return "to";
  return name.substr(name.rfind(':') + 1);
}

/// Checks that an Error, if there is one, ends with a line of the rows.
inline void check_row_line(const std::string& error) {
  INFO(error);
  CHECK((error.empty() || line_of(error).starts_with(" (public_ops.cpp:")));
}

/// Runs a row.
inline void check_public_op(const PublicOp& op) {
  // No element is where one of the ops has a kink or a jump; some of x are below those of y, some above.
  const X x = tensor_of<Cpu>({0.21, 0.87, 0.42, 0.33, 0.74, 0.63}, {2, 3}).requires_grad_();
  const X y = tensor_of<Cpu>({0.82, 0.36, 0.57, 0.46, 0.27, 0.78}, {2, 3}).requires_grad_();
  const X z = tensor_of<Cpu>({0.31, 0.69, 0.53}).requires_grad_();
  std::vector<double> values;
  if (op.call) {
    const auto f = [&op](const X& a, const X& b, const X& c) { return op.call(a, b, c); };
    const X result = f(x, y, z);
    CHECK(result.requires_grad());
    CHECK(gradcheck(f, std::tuple{x, y, z}));
    CHECK(gradgradcheck(f, std::tuple{x, y, z}));
    values = values_of(result);
  } else {
    const Flat result = op.flat(x, y, z);
    CHECK(!result.on_tape);
    values = result.values;
  }
  if (op.expected) check_close(values, values_of(op.expected(x, y, z)));
  if (op.oracle.of_elements) {
    REQUIRE(!values.empty());
    const std::vector<double> a = values_of(x), b = values_of(y);
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(close(values[i], op.oracle.of_elements(a[i], b[i]), 1e-12, 1e-12));
  }
  const std::string error = whole_error_of([&] { op.refused(x, y, z); });
  INFO(error);
  CHECK(error.find(name_in_errors(op.name) + ": ") == 0);
  check_row_line(error);
  for (const X* const undefined : {&x, &y, &z}) {
    const auto given = [&](const X& tensor) { return &tensor == undefined ? X() : tensor; };
    const auto call = [&] {
      if (op.call) op.call(given(x), given(y), given(z));
      else op.flat(given(x), given(y), given(z));
    };
    check_row_line(whole_error_of(call));
  }
}

}  // namespace tern_test
