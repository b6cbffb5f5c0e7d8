// Operations on all tensors of a module: parameters and state dicts.
#pragma once
#include <vector>

#include "../autograd/backward.hpp"
#include "members.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// The names in which a module and a state dict differ.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     // the module's tensors that the dict does not have
  std::vector<std::string> unexpected_keys;  // the dict's entries that the module does not have
};

namespace detail {

/// Error if a layer or parameter is a member of the module, or of a module below it, and not listed; or if a listed
/// tensor is a leaf that requires a gradient and no parameter.
TERN_API void check_listed(const AnyModule& module);

TERN_API void list_parameters(const AnyModule& module, std::vector<NamedTensor>& list);

/// Error if there is a float among the parameters of a 16-bit module.
TERN_API void check_not_mixed(const std::vector<NamedTensor>& list);

/// The entry for a tensor of the module, by name. Null if there is none. Error if it does not fit.
TERN_API const AnyTensor* find_fitting(const Member& m, const StateDict& dict, std::vector<char>& used);

/// Error unless load_state_dict() takes the dict.
TERN_API IncompatibleKeys check_fits(const AnyModule& module, const StateDict& dict, bool strict);

}  // namespace detail

/// All tensors by name: parameters, buffers and other tensors that are listed.
TERN_API StateDict state_dict(const AnyModule& module);

/// The tensors that are listed and not learned, with their names, like parameters(). A shared one is listed once.
TERN_API StateDict buffers(const AnyModule& module);

/// Copies the named tensors into the module's, converting between floating-point types. Error, and nothing changed, if
/// a shape differs, or, with strict, if a name is missing or unexpected. Without strict, returns these names.
TERN_API IncompatibleKeys load_state_dict(const AnyModule& module, const StateDict& dict, bool strict = true,
                                          CallSite here = {});

/// Makes all parameters require a gradient; with off, freezes them, so that they get no gradient and no optimiser
/// changes them.
TERN_API void requires_grad_(const AnyModule& module, bool on);

/// Drops the gradients of all parameters, or fills them with zeros.
TERN_API void zero_grad(const AnyModule& module, bool set_to_none = true);

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "state_dict.ipp"
#endif
