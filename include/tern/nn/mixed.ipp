// The functions of mixed.hpp that are not templates.
#pragma once
#include "mixed.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD std::vector<std::shared_ptr<Original>> originals(const AnyModule& network) {
  std::vector<std::shared_ptr<Original>> list;
  network.each([&](const Member& m) {
    bool is_new = m.original && *m.original;
    for (const auto& known : list) is_new = is_new && known != *m.original;
    if (is_new) list.push_back(*m.original);
  });
  return list;
}

}}}  // namespace tern::nn::detail
