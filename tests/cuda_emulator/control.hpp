// What a test may ask of the emulated machine. Exported by the emulated libcuda.so.1: link to it, or dlsym.
#pragma once
#include <cstdint>

extern "C" {

/// Applies settings, "name=value,name=value" (README.md lists them). Returns 0, or 1 for one that is unknown.
int tern_emulator_set(const char* settings);

/// Makes the nth call from now of `function` (null or "*": of any) fail: with `code`, or with its own failure if 0.
/// nth = 0: none. Sets the counts of calls to 0.
void tern_emulator_fail(const char* function, std::uint64_t nth, int code);

/// Calls of `function` (null: of all) since the last tern_emulator_fail.
std::uint64_t tern_emulator_calls(const char* function);

/// Objects that exist, of one kind or (null) of all: context, memory, pinned, stream, event, module, graph,
/// executable graph, program, cublasLt, matmul desc, matrix layout, preference, cudnn, tensor desc, filter desc,
/// convolution desc, activation desc, nccl communicator, cupti subscriber.
std::int64_t tern_emulator_live(const char* kind);

/// The emulator's text of the last refusal or fault, with the page of NVIDIA's documentation.
const char* tern_emulator_message();

/// Gives the device an error that makes it unusable, as a kernel's crash does.
void tern_emulator_break(int device, int code);

/// The time model's clock of the host, in nanoseconds; and what the host does meanwhile.
std::uint64_t tern_emulator_now();
void tern_emulator_advance(std::uint64_t ns);

/// A new machine, nothing called yet; settings from the environment. Handles of before are gone.
void tern_emulator_reset();

}  // extern "C"
