// The functions of traversal.hpp that are not templates.
#pragma once
#include "traversal.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD std::vector<NamedModule> modules_to_depth(const AnyModule& network, int first, int last) {
  std::vector<NamedModule> list;
  network.each([&](const Member& m) {
    if (!m.type || m.depth < first || m.depth > last) return;
    const ModuleRef module(m.extent.begin, m.module_type);
    for (const NamedModule& known : list)
      if (known.module == module) return;
    list.push_back({m.path, module});
  });
  return list;
}

TERN_COLD std::vector<ModuleRef> without_names(const std::vector<NamedModule>& named) {
  std::vector<ModuleRef> list;
  for (const NamedModule& entry : named) list.push_back(entry.module);
  return list;
}

TERN_COLD std::vector<ModuleRef> inner_first(const AnyModule& network) {
  std::vector<ModuleRef> list, open;  // open: the modules that the walk is inside, outermost first
  const auto close = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      bool known = false;
      for (const ModuleRef& module : list) known = known || module == open.back();
      if (!known) list.push_back(open.back());
    }
  };
  network.each([&](const Member& m) {
    if (!m.type) return;
    close(std::size_t(m.depth));
    open.emplace_back(m.extent.begin, m.module_type);
  });
  close(0);
  return list;
}

}}}  // namespace tern::nn::detail
