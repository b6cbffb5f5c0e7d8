// accesses=checked: accesses of threads that nothing orders are found, in whatever order the threads run, and ordered
// ones are not.
#include "device.hpp"

using namespace emulator_test;

namespace {

constexpr const char* source = R"(
extern "C" __global__ void both_write(int* y) { __shared__ int s[2]; s[0] = 1; __syncthreads(); y[threadIdx.x] = s[0]; }
extern "C" __global__ void one_writes(int* y) {
  __shared__ int s[2]; if (!threadIdx.x) s[0] = 1; __syncthreads(); y[threadIdx.x] = s[0];
}
extern "C" __global__ void no_barrier(int* y) {
  __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads();
  int next = s[threadIdx.x ^ 1]; s[threadIdx.x] = 2; y[threadIdx.x] = next;
}
extern "C" __global__ void with_barrier(int* y) {
  __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads();
  int next = s[threadIdx.x ^ 1]; __syncthreads(); s[threadIdx.x] = 2; y[threadIdx.x] = next;
}
extern "C" __global__ void many_read(int* y) {
  __shared__ int s[1]; if (!threadIdx.x) s[0] = 1; __syncthreads();
  y[threadIdx.x] = s[0]; if (!threadIdx.x) s[0] = 2;
}
extern "C" __global__ void dynamic_race(int* y) {
  extern __shared__ int s[]; s[threadIdx.x] = 1; y[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void lanes_meet(int* y) {
  __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncwarp();
  int next = s[threadIdx.x ^ 1]; __syncwarp(); s[threadIdx.x] = next; y[threadIdx.x] = next;
}
extern "C" __global__ void lanes_shuffle(int* y) {
  __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __shfl_sync(0xffffffffu, 1, 0); y[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void warps_do_not_meet(int* y) {
  __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncwarp(); y[threadIdx.x] = s[threadIdx.x ^ 32];
}
extern "C" __global__ void bytes(unsigned char* y) { y[threadIdx.x + 64 * blockIdx.x] = 1; }
extern "C" __global__ void bytes_and_words(unsigned char* y) {
  y[threadIdx.x] = 1; if (threadIdx.x == 32) *(int*)(y + 32) = 2;
}
extern "C" __global__ void bytes_then_words(unsigned char* y) {
  y[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x % 4 == 0) *(int*)(y + threadIdx.x) = 2;
  __syncthreads(); y[threadIdx.x ^ 1] = 3;
}
extern "C" __global__ void words_then_bytes(int* y) {
  y[threadIdx.x] = 1; if (threadIdx.x == 7) ((unsigned char*)y)[4 * 9 + 3] = 2;
}
extern "C" __global__ void halves(unsigned short* y) { y[threadIdx.x] = 1; ((unsigned char*)y)[2 * threadIdx.x + 1] = 2; }
extern "C" __global__ void unaligned(unsigned char* y) {
  short s = 1; memcpy(y + 2 * threadIdx.x + 1, &s, 2); if (threadIdx.x == 5) y[2 * 6 + 2] = 1;
}
extern "C" __global__ void blocks_write(int* y) { if (!threadIdx.x) y[0] = 1; }
extern "C" __global__ void blocks_read_and_write(int* y) { if (!threadIdx.x) y[1 + blockIdx.x] = y[2 - blockIdx.x]; }
extern "C" __global__ void reads_of_another_block(int* y) {
  if (threadIdx.x) return;
  int sum = y[0]; y[1 + blockIdx.x] = sum; __syncthreads(); if (blockIdx.x) y[0] = sum;
}
extern "C" __global__ void blocks_add(int* y) { atomicAdd(y, 1); atomicMax(y + 1, int(threadIdx.x)); atomicCAS(y + 2, 0, 1); }
extern "C" __global__ void adds_and_writes(int* y) { if (threadIdx.x) atomicAdd(y, 1); else y[0] = 1; }
extern "C" __global__ void one_block_reads(int* y) { if (!blockIdx.x) y[1 + threadIdx.x] = y[0]; }
)";

// Runs the kernel with blocks of 64 threads. Returns the emulator's message, empty if nothing was found.
std::string race_in(const char* kernel, const char* order, Shape shape = {1, 64}) {
  tern_emulator_set("accesses=checked");
  tern_emulator_set(order);
  start();
  Kernels k(source);
  Array<int> y(std::vector<int>(512, 0));
  EXPECT(launch(k[kernel], shape, nullptr, y.pointer) == CUDA_SUCCESS);
  const int status = cuCtxSynchronize();
  if (!status) return "";
  EXPECT(status == CUDA_ERROR_LAUNCH_FAILED);
  return tern_emulator_message();
}

// What a case in a child says goes through an exception.
std::string message_of(const char* kernel, const char* order, Shape shape = {1, 64}) {
  return in_child([=] { throw std::runtime_error(race_in(kernel, order, shape)); });
}

void races(const char* kernel, const char* text, Shape shape = {1, 64}) {
  for (const char* order : {"threads=forward", "threads=reverse"}) {
    const std::string message = message_of(kernel, order, shape);
    INFO(kernel << ", " << order << ": " << message);
    CHECK(message.find("a race: ") != std::string::npos);
    CHECK(message.find(text) != std::string::npos);
    CHECK(message.find(kernel) != std::string::npos);
  }
}

void is_clean(const char* kernel, Shape shape = {1, 64}) {
  for (const char* order : {"threads=forward", "threads=reverse"}) {
    INFO(kernel << ", " << order);
    CHECK(message_of(kernel, order, shape) == "");
  }
}

}  // namespace

TEST_CASE("cuda emulator: two threads of a block write one place") {
  races("both_write", "in shared memory that thread");
  is_clean("one_writes");
}

TEST_CASE("cuda emulator: a thread of a block writes what another reads") {
  races("no_barrier", "in shared memory that thread");
  races("many_read", "in shared memory that thread");
  races("dynamic_race", "in shared memory that thread", {1, 64, 256});
  is_clean("with_barrier");
}

TEST_CASE("cuda emulator: __syncwarp orders a warp's lanes, a shuffle does not, and neither orders warps") {
  is_clean("lanes_meet");
  races("lanes_shuffle", "in shared memory that thread");
  races("warps_do_not_meet", "in shared memory that thread");
}

TEST_CASE("cuda emulator: races are told by the byte, whatever the width of the accesses") {
  races("bytes_and_words", "in device memory that thread");
  races("words_then_bytes", "in device memory that thread");
  races("unaligned", "in device memory that thread");
  is_clean("bytes_then_words");
  is_clean("halves");
}

TEST_CASE("cuda emulator: two blocks use one place of device memory") {
  races("blocks_write", "a write of 4 bytes in device memory that thread 0 of another block writes", {2, 64});
  races("blocks_read_and_write", "of another block", {2, 64});
  races("reads_of_another_block", "in device memory that thread 0 of another block", {2, 64});
  is_clean("bytes", {2, 64});
  is_clean("one_block_reads", {2, 64});
}

TEST_CASE("cuda emulator: atomic operations do not race with each other, but with other accesses") {
  is_clean("blocks_add", {2, 64});
  races("adds_and_writes", "in device memory that thread");
}
