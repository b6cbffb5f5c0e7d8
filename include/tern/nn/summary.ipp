// The functions of summary.hpp that are not templates.
#pragma once
#include <ostream>

#include "summary.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {
/// A member's name in the module whose path has that length.
TERN_COLD std::string name_inside(std::size_t outer, const Member& m) {
  return m.path.substr(outer && m.path.size() > outer ? outer + 1 : outer);
}
/// (name): Type; of the network itself, the type.
TERN_COLD std::string module_text(const std::string& name, const Member& m) {
  return name.empty() ? m.type : tern::detail::text({"(", name, "): ", m.type});
}
}  // namespace detail

TERN_COLD std::string summary(const AnyModule& module) {
  struct Line {
    std::size_t path, end;  // the length of the module's path, and the end of its line in the text
    DType type;
  };
  std::string out;
  std::vector<Line> lines;  // one for each module that the walk is inside
  module.each([&](const detail::Member& m) {
    const std::size_t depth = std::size_t(m.depth), outer = depth ? lines[depth - 1].path : 0;
    const std::string name = detail::name_inside(outer, m);
    if (m.type) {
      const DType type = m.module_type->dtype;
      lines.resize(depth);
      out += std::string(2 * depth, ' ') + detail::module_text(name, m);
      if (type != DType::float32) out += tern::detail::text({"<", tern::detail::name_of(type), ">"});
      lines.push_back({m.path.size(), out.size(), type});
      out += '\n';
    } else {
      // A tensor is written on its module's line, even if other modules were listed in between.
      std::string tensor = tern::detail::text({"  ", name, " ", m.tensor.shape()});
      if (const DType type = m.tensor.dtype(); tern::detail::is_floating(type) && type != lines[depth - 1].type)
        tensor += tern::detail::text({" ", tern::detail::name_of(type)});
      out.insert(lines[depth - 1].end, tensor);
      lines[depth - 1].end += tensor.size();
    }
  });
  StateDict parameters;
  detail::list_parameters(module, parameters);
  Index total = 0;
  for (const NamedTensor& p : parameters) total += p.tensor.numel();
  return out + tern::detail::text({total, " parameters\n"});
}

TERN_COLD std::ostream& operator<<(std::ostream& out, const AnyModule& module) {
  struct Line {
    int depth;
    std::size_t path;  // the length of the module's path
    std::string head, tensors;
  };
  std::vector<Line> lines;        // one for each module
  std::vector<std::size_t> open;  // the lines of the modules that the walk is inside
  module.each([&](const detail::Member& m) {
    open.resize(std::size_t(m.depth));
    const std::string name = detail::name_inside(open.empty() ? 0 : lines[open.back()].path, m);
    if (m.type) {
      open.push_back(lines.size());
      lines.push_back({m.depth, m.path.size(), detail::module_text(name, m), {}});
    } else {
      std::string& tensors = lines[open.back()].tensors;
      tensors += tern::detail::text({tensors.empty() ? "" : ", ", name, "=", m.tensor.shape()});
    }
  });
  const auto indent = [](int depth) { return std::string(2 * std::size_t(depth), ' '); };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const int next = i + 1 < lines.size() ? lines[i + 1].depth : 0;
    out << (i ? "\n" : "") << indent(line.depth) << line.head << '(';
    if (next <= line.depth) out << line.tensors << ')';
    else if (!line.tensors.empty()) out << '\n' << indent(next) << line.tensors;
    for (int depth = line.depth; depth-- > next;) out << '\n' << indent(depth) << ')';
  }
  return out;
}

}}}  // namespace tern::nn
