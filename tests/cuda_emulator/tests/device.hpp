// What the emulator's tests share: a forked child for each case, since an error of a device stays, and short names.
#pragma once
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "control.hpp"
#include "exports.hpp"
#include "support/catch.hpp"

namespace emulator_test {

using namespace abi;

/// Runs the case in a child process, in which the emulated machine is new. Returns what it threw; empty if nothing.
/// A child that a signal ends gives "signal N", one that a sanitizer ends "exit status N".
std::string in_child(const std::function<void()>& test_case);

/// For use inside the case: throws, naming the line.
void expect(bool condition, const char* text, int line);

/// cuInit, and device 0's context made current.
CUcontext start();

struct Stream {
  CUstream handle;
  explicit Stream(unsigned flags = CU_STREAM_NON_BLOCKING);
  ~Stream();
  Stream(const Stream&) = delete;
  operator CUstream() const { return handle; }
};

struct Event {
  CUevent handle;
  explicit Event(unsigned flags = CU_EVENT_DEFAULT);
  ~Event();
  Event(const Event&) = delete;
  operator CUevent() const { return handle; }
};

/// Device memory of n elements.
template <class T>
struct Array {
  CUdeviceptr pointer = 0;
  std::size_t count;

  explicit Array(std::size_t n) : count(n) {
    if (const int status = cuMemAlloc_v2(&pointer, n * sizeof(T)))
      throw std::runtime_error("cuMemAlloc " + std::to_string(status));
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    cuMemcpyHtoD_v2(pointer, values.data(), count * sizeof(T));
    cuStreamSynchronize(nullptr);
  }
  ~Array() { cuMemFree_v2(pointer); }
  Array(const Array&) = delete;
  operator CUdeviceptr() const { return pointer; }

  std::vector<T> values() const {
    std::vector<T> out(count);
    if (const int status = cuMemcpyDtoH_v2(out.data(), pointer, count * sizeof(T)))
      throw std::runtime_error("cuMemcpyDtoH " + std::to_string(status));
    return out;
  }
};

/// Pinned host memory of n elements.
template <class T>
struct Pinned {
  T* data = nullptr;
  std::size_t count;

  explicit Pinned(std::size_t n, T value = T{}) : count(n) {
    void* memory = nullptr;
    if (cuMemHostAlloc(&memory, n * sizeof(T), 0)) throw std::runtime_error("cuMemHostAlloc");
    data = static_cast<T*>(memory);
    for (std::size_t i = 0; i < n; ++i) data[i] = value;
  }
  ~Pinned() {
    if (data) cuMemFreeHost(data);
  }
  Pinned(const Pinned&) = delete;
  T& operator[](std::size_t i) { return data[i]; }
};

/// The cubin for sm_90; throws the log.
std::string compile(const std::string& source, const std::vector<std::string>& expressions = {},
                    const char* arch = "-arch=sm_90");

struct Kernels {
  CUmodule module = nullptr;
  explicit Kernels(const std::string& source, const std::vector<std::string>& expressions = {});
  ~Kernels() { cuModuleUnload(module); }
  Kernels(const Kernels&) = delete;
  CUfunction operator[](const char* name) const;
};

struct Shape {
  unsigned grid = 1, block = 1, shared = 0;
};

/// cuLaunchKernel on a stream, arguments by value: CUdeviceptr for pointers.
template <class... A>
CUresult launch(CUfunction function, Shape shape, CUstream stream, A... arguments) {
  void* pointers[] = {&arguments..., nullptr};
  return cuLaunchKernel(function, shape.grid, 1, 1, shape.block, 1, 1, shape.shared, stream, pointers, nullptr);
}

/// True if the last refusal cites a page and says this.
bool said(const char* text);

}  // namespace emulator_test

#define EXPECT(condition) emulator_test::expect(condition, #condition, __LINE__)
/// The call gives this code and a text that contains `text`.
#define EXPECT_REFUSED(code, text, call) \
  do {                                   \
    EXPECT((call) == (code));            \
    EXPECT(emulator_test::said(text));   \
  } while (false)
/// A whole test case in a child.
#define CHILD_CASE(name) CHILD_CASE_AS(CHILD_CASE_NAME(child_case_, __LINE__), name)
#define CHILD_CASE_NAME(a, b) CHILD_CASE_JOIN(a, b)
#define CHILD_CASE_JOIN(a, b) a##b
#define CHILD_CASE_AS(function, name)                                 \
  static void function();                                             \
  TEST_CASE(name) { CHECK(emulator_test::in_child(function) == ""); } \
  static void function()
