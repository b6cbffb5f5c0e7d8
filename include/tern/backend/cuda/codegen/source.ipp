// The functions of source.hpp that are not templates.
#pragma once
#include "source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_COLD std::string steps_text(const detail::expr::Program& program, const char* type, int first_number,
                                 std::vector<int>& same) {
  std::string out;
  const auto argument = [&](const detail::expr::Program::Step& step, int k) {
    return step.arguments[k] < 0 ? -1 : same[std::size_t(step.arguments[k])];
  };
  for (int i = 0; i < program.size(); ++i) {
    const detail::expr::Program::Step& step = program[i];
    same.push_back(i);
    if (!step.function) {
      if (step.arguments[0] == detail::expr::Program::is_number)
        out += detail::text({"  const ", type, " v", i, " = number<", type, ">(p.numbers[", first_number++, "]);\n"});
      continue;
    }
    for (int j = 0; j < i; ++j) {
      const detail::expr::Program::Step& earlier = program[j];
      if (earlier.function == step.function && argument(earlier, 0) == argument(step, 0) &&
          argument(earlier, 1) == argument(step, 1) && argument(earlier, 2) == argument(step, 2)) {
        same.back() = same[std::size_t(j)];
        break;
      }
    }
    if (same.back() != i) continue;
    out += detail::text({"  const ", step.is_mask ? "bool" : type, " v", i, " = ", step.function, "("});
    for (int k = 0; k < 3 && argument(step, k) >= 0; ++k) out += detail::text({k ? ", v" : "v", argument(step, k)});
    out += ");\n";
  }
  return out;
}

TERN_COLD std::string kernel_name(const char* kind, std::initializer_list<const detail::expr::Program*> programs) {
  std::string name = kind;
  int left = 5;
  for (const detail::expr::Program* const program : programs)
    for (int i = 0; i < program->size() && left; ++i)
      if (const char* const function = (*program)[i].function) name += detail::text({"_", function}), --left;
  return name;
}

TERN_COLD std::string function_text(const Traced& f, const char* name, int first_number) {
  const char* const type = type_name(f.type);
  std::string out = detail::text({"inline __device__ ", f.is_mask ? "bool" : type, " ", name, "(const Parameters& p"});
  for (int k = 0; k < f.inputs; ++k) out += detail::text({", ", type, " v", k});
  std::vector<int> same;
  out += ") {\n" + steps_text(f.program, type, first_number, same);
  return out + detail::text({"  return v", same[std::size_t(f.result)], ";\n}\n"});
}

TERN_INLINE int common_ordinal(const Array& out, const Array* const* in, int n) {
  for (int k = 0; k < n; ++k)
    if (in[k]->ordinal != out.ordinal) [[unlikely]]
      Error::fail("cuda", {"operands on cuda:", int(in[k]->ordinal), " and cuda:", int(out.ordinal),
                           ": move one with .to(Cuda{ordinal})"});
  return out.ordinal;
}

}}}  // namespace tern::detail::backend::cuda_kernels
