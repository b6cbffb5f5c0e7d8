// The functions of summary.hpp that are not templates.
#pragma once
#include "summary.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

TERN_COLD std::string summary(const AnyModule& module) {
  struct Line {
    std::size_t path, end;  // the length of the module's path, and the end of its line in the text
    DType type;
  };
  std::string out;
  std::vector<Line> lines;  // one for each module that the walk is inside
  module.each([&](const detail::Member& m) {
    const std::size_t depth = std::size_t(m.depth), outer = depth ? lines[depth - 1].path : 0;
    const std::string name = m.path.substr(outer && m.path.size() > outer ? outer + 1 : outer);
    if (m.type) {
      const DType type = m.module_type->dtype;
      lines.resize(depth);
      out += std::string(2 * depth, ' ') + (name.empty() ? m.type : tern::detail::text({"(", name, "): ", m.type}));
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

}}}  // namespace tern::nn
