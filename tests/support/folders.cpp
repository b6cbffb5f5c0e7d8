#include "support/folders.hpp"

namespace tern_test {

const char* const recorded_folder = TERN_TESTS_SOURCE "/recorded";
const char* const emulator_folder = TERN_TESTS_BUILD "/cuda_emulator";
const char* const cache_folder = TERN_TESTS_BUILD "/cache";

}  // namespace tern_test
