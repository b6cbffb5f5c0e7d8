// Which type a case runs with.
#include "run.hpp"

namespace opinfo {
namespace {

/// The element type of the first tensor among the arguments.
std::optional<tern::DType> main_type(const Bank& bank, const Json& j) {
  if (j.is_object() && j.contains("tensor")) return bank.tensors.at(j["tensor"]).dtype;
  if (j.is_structured())
    for (const Json& e : j)
      if (const auto type = main_type(bank, e)) return type;
  return {};
}

bool has_many_dims(const Bank& bank, const Json& j) {
  if (j.is_object() && j.contains("tensor")) return bank.tensors.at(j["tensor"]).shape.size() > tern::detail::max_dims;
  bool many = false;
  if (j.is_structured())
    for (const Json& e : j) many = many || has_many_dims(bank, e);
  return many;
}

}  // namespace

Outcome run_case(const Bank& bank, const Case& c, tern::DType type, Layout layout,
                 std::optional<tern::DType> round_to) {
  auto main = main_type(bank, c.args);
  if (!main) main = main_type(bank, c.kwargs);
  if (!c.error && has_many_dims(bank, c.args)) throw Skip{"more than 8 dimensions"};
  try {
    switch (!main || tern::detail::is_floating(*main) ? type : *main) {
      case tern::DType::float32: return run<Device, float>(bank, c, layout, round_to);
      case tern::DType::float64: return run<Device, double>(bank, c, layout, round_to);
      case tern::DType::bfloat16: return run<Device, tern::bfloat16>(bank, c, layout, round_to);
      case tern::DType::float16: return run<Device, tern::half>(bank, c, layout, round_to);
      case tern::DType::int64: return run<Device, std::int64_t>(bank, c, layout, round_to);
      case tern::DType::int32: return run<Device, std::int32_t>(bank, c, layout, round_to);
      case tern::DType::uint8: return run<Device, std::uint8_t>(bank, c, layout, round_to);
      case tern::DType::bool_: return run<Device, bool>(bank, c, layout, round_to);
    }
    throw std::logic_error("an element type without a runner");
  } catch (const Json::exception& error) { throw Skip{std::string("an argument of another kind: ") + error.what()}; }
}

}  // namespace opinfo
