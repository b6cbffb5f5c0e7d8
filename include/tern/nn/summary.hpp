// A network as text: its modules with the shapes of their tensors, and the number of parameters.
#pragma once
#include <iosfwd>

#include "state_dict.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// One line for each module: its name, its type, its tensors and their shapes. Element types other than float are
/// named, and those of tensors that differ from their module's. The last line has the number of parameters.
TERN_API std::string summary(const AnyModule& module);

/// The tree of modules in PyTorch's layout, with the shapes of their tensors in place of the arguments that made them:
///
///   Net(
///     (fc): Linear(weight=[3, 4], bias=[3])
///   )
TERN_API std::ostream& operator<<(std::ostream& out, const AnyModule& module);

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "summary.ipp"
#endif
