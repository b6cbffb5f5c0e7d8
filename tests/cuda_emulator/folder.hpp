// Where the emulator's files lie.
#pragma once
#include <string>

namespace emulator {

/// The folder of the emulated libraries, which also holds the executor and the shim.
std::string library_folder();

}  // namespace emulator
