// The functions of kernel_parameters.hpp that are not templates.
#pragma once
#include "kernel_parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE void KernelParameters::add_numbers(std::initializer_list<const detail::expr::Program*> programs) {
  begin_array("uint64 numbers");
  for (const detail::expr::Program* program : programs)
    for (int i = 0; i < program->number_count(); ++i) add_word(program->numbers()[i]);
}

TERN_COLD std::string KernelParameters::declaration() const {
  std::string out = "struct Parameters {\n";
  for (int i = 0; i < field_count_; ++i) {
    const int count = (i + 1 < field_count_ ? fields_[i + 1].first : size_) - fields_[i].first;
    if (!fields_[i].is_array) out += detail::text({"  ", fields_[i].declaration, ";\n"});
    else if (count) out += detail::text({"  ", fields_[i].declaration, "[", count, "];\n"});
  }
  return out + "};\n";
}

}}}  // namespace tern::detail::backend::cuda_kernels
