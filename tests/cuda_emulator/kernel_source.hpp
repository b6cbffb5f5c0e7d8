// CUDA source made ready for the host's compiler.
#pragma once
#include <string>
#include <vector>

namespace emulator {

/// The text to compile with shim.hpp before it: unsized dynamic shared arrays become pointers, and a table of the
/// kernels follows: the extern "C" ones, and those named by `expressions`. `name` is what messages call the source.
std::string host_source(const std::string& source, const std::string& name,
                        const std::vector<std::string>& expressions);

}  // namespace emulator
