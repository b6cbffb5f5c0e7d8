// Folders of this clone and of its build. folders.cpp alone is compiled with their names: they differ in each clone,
// and ccache would find none of the other objects again.
#pragma once

namespace tern_test {

extern const char* const recorded_folder;  ///< tests/recorded
extern const char* const emulator_folder;  ///< the emulated libraries of NVIDIA's
extern const char* const cache_folder;     ///< compiled kernels

}  // namespace tern_test
