// Runs every case of a folder: each in float with three memory layouts, in double, and in bfloat16 and half against
// double.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <tern/core/float16.hpp>

#include "case.hpp"
#include "support/emulator.hpp"

using namespace opinfo;

namespace {

struct Tolerance {
  double absolute, relative;
};

[[noreturn]] void mismatch(const std::string& what) { throw std::runtime_error(what); }

std::string text_of(const std::vector<tern::Index>& shape) {
  return tern::detail::text({tern::detail::ShapeRef{shape.data(), int(shape.size())}});
}

void compare(const std::string& what, const Recorded& got, const Recorded& want, Tolerance tolerance) {
  if (got.shape != want.shape) mismatch(what + ": shape " + text_of(got.shape) + ", expected " + text_of(want.shape));
  for (std::size_t i = 0; i < want.values.size(); ++i) {
    const double a = got.values[i], b = want.values[i];
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    if (!(std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b)))
      mismatch(what + ": element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
               std::to_string(b));
  }
}

/// Compares an outcome with the recorded results and gradients.
void check_recorded(const Bank& bank, const Case& c, const std::string& what, const Outcome& got, Tolerance results,
                    Tolerance gradients) {
  if (got.outputs.size() != c.outputs.size()) mismatch(what + ": another number of outputs");
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    const Recorded& want = bank.tensors.at(c.outputs[i]);
    if (!tern::detail::is_floating(want.dtype) && got.outputs[i].dtype != want.dtype)
      mismatch(what + ": output type " + tern::detail::name_of(got.outputs[i].dtype) + ", expected " +
               tern::detail::name_of(want.dtype));
    compare(what + ", output " + std::to_string(i), got.outputs[i], want, results);
  }
  std::size_t i = 0;
  for (const auto& [input, gradient] : c.grads) {
    const auto& g = got.grads[i++];
    if (!gradient) {
      if (g) mismatch(what + ": a gradient for " + input + ", which has no path");
    } else if (!g) {
      mismatch(what + ": no gradient for " + input);
    } else {
      compare(what + ", gradient of " + input, *g, bank.tensors.at(*gradient), gradients);
    }
  }
}

/// Rounded to a type, beyond whose range lies infinity.
Recorded rounded(Recorded r, tern::DType type) {
  for (double& value : r.values)
    value = type == tern::DType::float16 ? double(tern::half(float(value))) : double(tern::bfloat16(float(value)));
  return r;
}

/// Compares an outcome in a 16-bit type with one in double.
void check_16_bit(tern::DType type, const Outcome& got, const Outcome& want, Tolerance tolerance) {
  const std::string what = tern::detail::name_of(type);
  const auto expected = [&](const Recorded& r) { return tern::detail::is_floating(r.dtype) ? rounded(r, type) : r; };
  for (std::size_t i = 0; i < want.outputs.size(); ++i)
    compare(what + ", output " + std::to_string(i), got.outputs[i], expected(want.outputs[i]), tolerance);
  for (std::size_t i = 0; i < want.grads.size(); ++i)
    if (want.grads[i])
      compare(what + ", gradient " + std::to_string(i), *got.grads[i], expected(*want.grads[i]), tolerance);
}

bool has_floats(const Bank& bank, const Json& j) {
  if (j.is_object() && j.contains("tensor")) return bank.tensors.at(j["tensor"]).dtype == tern::DType::float32;
  if (j.is_structured())
    for (const Json& e : j)
      if (has_floats(bank, e)) return true;
  return false;
}

void check_case(const Bank& bank, const Case& c) {
  const auto f32 = tern::DType::float32, f64 = tern::DType::float64;
  if (c.error) {
    try {
      run_case(bank, c, f32, Layout::contiguous);
    } catch (const tern::Error&) { return; }
    mismatch("the call was not refused");
  }
  constexpr Tolerance result{1e-5, 1e-4}, gradient{1e-4, 1e-3};
  check_recorded(bank, c, "float", run_case(bank, c, f32, Layout::contiguous), result, gradient);
  for (const auto& [layout, name] : {std::pair{Layout::transposed, "transposed"}, {Layout::strided, "strided"}}) {
    try {
      check_recorded(bank, c, name, run_case(bank, c, f32, layout), result, gradient);
    } catch (const tern::Error&) {
      if (c.op != "view") throw;  // a view may refuse memory that it would have to copy
    }
  }
  if (!has_floats(bank, c.args) && !has_floats(bank, c.kwargs)) return;
  // The recorded values were computed in double and rounded to float.
  constexpr Tolerance in_double{1e-12, 1e-6};
  check_recorded(bank, c, "double", run_case(bank, c, f64, Layout::contiguous), in_double, in_double);
  for (const auto& [type, t] :
       {std::pair{tern::DType::bfloat16, Tolerance{2e-2, 2e-2}}, {tern::DType::float16, {2e-3, 2e-3}}}) {
    const Outcome want = run_case(bank, c, f64, Layout::contiguous, type);
    check_16_bit(type, run_case(bank, c, type, Layout::contiguous), want, t);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tern_test::use_emulated_cuda();
  std::string folder, only;
  bool list_skipped = false;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--cases") && i + 1 < argc) folder = argv[++i];
    else if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
    else if (!std::strcmp(argv[i], "--list-skipped")) list_skipped = true;
    else folder.clear();
  }
  if (folder.empty()) {
    std::fprintf(stderr, "usage: opinfo --cases DIR [--only OPERATOR] [--list-skipped]\n");
    return 2;
  }
  const Bank bank = read_bank(folder);
  int passed = 0, failed = 0, skipped = 0;
  std::map<std::string, int> reasons;
  for (const Case& c : bank.cases) {
    if (!only.empty() && c.op != only) continue;
    try {
      check_case(bank, c);
      ++passed;
    } catch (const Skip& skip) {
      ++skipped;
      ++reasons[skip.reason];
      if (list_skipped) std::printf("skipped %s: %s\n", c.id.c_str(), skip.reason.c_str());
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s: %s\n", c.id.c_str(), error.what());
    }
  }
  for (const auto& [reason, count] : reasons) std::printf("%5d skipped: %s\n", count, reason.c_str());
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed > 0;
}
