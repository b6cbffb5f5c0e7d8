// Compiles kernels with the host's compiler, once: results are kept in a folder, by what they depend on.
#pragma once
#include <string>
#include <vector>

namespace emulator {

/// The shared library for this source (of host_source) and these further flags. Empty if it does not compile; `log` is
/// what the compiler said.
std::string compile_kernels(const std::string& source, const std::vector<std::string>& flags, std::string& log);

}  // namespace emulator
