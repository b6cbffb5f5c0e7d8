// A network as text: its modules with the shapes of their tensors, and the number of parameters.
#pragma once
#include "module.hpp"

namespace tern::nn {

namespace detail {

template <class M>
void append_summary(const M& module, const char* name, int depth, std::string& out) {
  out += std::string(std::size_t(2 * depth), ' ') + (name ? std::string("(") + name + "): " : std::string()) + M::type_name();
  module.fields([&]<class X>(const char* field, const X& x) {
    if constexpr (is_tensor<X>) {
      if (!x.defined()) return;
      out += std::string("  ") + field + " " + tern::text({x.shape()});
    }
  });
  out += '\n';
  module.fields([&]<class X>(const char* field, const X& x) {
    if constexpr (IsModule<X>) {
      append_summary(x, field, depth + 1, out);
    } else if constexpr (is_vector<X>) {
      if constexpr (IsModule<typename X::value_type>)
        for (std::size_t i = 0; i < x.size(); ++i)
          append_summary(x[i], join(field, std::to_string(i).c_str()).c_str(), depth + 1, out);
    }
  });
}

}  // namespace detail

/// One line a module: its name, its type, its tensors and their shapes; last the number of parameters.
template <IsModule M>
std::string summary(const M& module) {
  std::string out;
  detail::append_summary(module, nullptr, 0, out);
  Index total = 0;
  for (const NamedTensor& p : parameters(module)) total += p.tensor.numel();
  return out + std::to_string(total) + " parameters\n";
}

}  // namespace tern::nn
