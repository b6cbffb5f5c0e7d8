// The functions of members.hpp that are not templates.
#pragma once
#include "members.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD void check_key(tern::detail::Piece key) {
  const std::string name = tern::detail::text({key});
  if (name.empty() || name.find('.') != std::string::npos)
    Error::fail("Module", {"a map's key must have letters and no dot, because it is part of names: \"", name, "\""});
}

TERN_COLD std::size_t Walk::lengthen(tern::detail::Piece name) {
  const std::size_t outside = path_.size();
  const std::string added = tern::detail::text({name});
  if (!added.empty()) path_ += (outside ? "." : "") + added;
  return outside;
}

TERN_COLD void Walk::shorten(std::size_t length) { path_.erase(length); }

TERN_COLD void Walk::module(const ModuleType& type, const void* object, const ModuleBase* base) {
  visit_(context_, {.path = path_,
                    .depth = depth_++,
                    .type = type.name,
                    .extent = {object, type.bytes},
                    .base = {base, type.base_bytes},
                    .module_type = &type});
}

TERN_COLD void Walk::tensor(const AnyTensor& x, const tern::detail::GradOps* grad_ops,
                            void (*overwrite)(const AnyTensor& to, const AnyTensor& from),
                            const std::shared_ptr<Original>* original) {
  visit_(context_, {.path = path_,
                    .depth = depth_,
                    .tensor = x,
                    .grad_ops = grad_ops,
                    .overwrite = overwrite,
                    .original = original});
}

}}}  // namespace tern::nn::detail

namespace tern { inline namespace TERN_BUILD { namespace nn {

TERN_COLD void AnyModule::run(detail::Walk::Visit visit, const void* context) const {
  detail::Walk walk(visit, context);
  type_->walk(object_, walk);
}

}}}  // namespace tern::nn

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD void name_layer(Error& error, const void* module, const AnyModule& tree) {
  if (!error.layer()) return error.set_layer(module);
  std::string path;
  tree.each([&](const Member& m) {
    if (m.type && path.empty() && m.extent.begin == error.layer()) path = m.path;
  });
  if (!path.empty()) error.set_path(path);
}

}}}  // namespace tern::nn::detail
