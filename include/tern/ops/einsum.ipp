// The functions of einsum.hpp that are not templates.
#pragma once
#include <cctype>

#include "einsum.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD EinsumEquation::EinsumEquation(const std::string& equation) {
  for (std::size_t i = 0; i < equation.size(); ++i) {
    std::string& part = has_output ? output : inputs.back();
    const char c = equation[i];
    if (c == ' ') continue;
    if (c == ',' && !has_output) {
      inputs.emplace_back();
    } else if (c == '-' && !has_output && equation.compare(i, 2, "->") == 0) {
      has_output = true;
      ++i;
    } else if (equation.compare(i, 3, "...") == 0 && !has_label(part, '.')) {
      part += '.';
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      part += c;
    } else {
      Error::fail("einsum", {"'", equation.substr(i).c_str(), "' in ", equation.c_str(), " is not a subscript"});
    }
  }
}

TERN_COLD std::string spread_ellipsis(const std::string& subscript, int dims) {
  std::string out;
  const int others = int(subscript.size()) - has_label(subscript, '.'), left = dims - others;
  if (left < 0 || (left > 0 && !has_label(subscript, '.')))
    Error::fail("einsum", {"subscript ", subscript.c_str(), " does not fit ", dims, " dimensions"});
  for (const char c : subscript) {
    if (c != '.') out += c;
    else
      for (int k = left; k > 0; --k) out += char(k);
  }
  return out;
}

TERN_INLINE std::string output_labels(const EinsumEquation& subscripts, const std::string& all,
                                      const std::string& equation) {
  std::string ellipsis, output;
  for (char c = char(max_dims); c > 0; --c)
    if (has_label(all, c)) ellipsis += c;
  if (!subscripts.has_output) {
    output = ellipsis;
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::isalpha(c) && all.find(c) != std::string::npos && all.find(c) == all.rfind(c)) output += c;
    return output;
  }
  for (const char c : subscripts.output)
    if (c == '.') output += ellipsis;
    else output += c;
  for (const char c : output)
    if (!has_label(all, c) || output.find(c) != output.rfind(c))
      Error::fail("einsum", {"the output's subscripts must be distinct and occur in the inputs: ", equation.c_str()});
  return output;
}

}}}  // namespace tern::detail
