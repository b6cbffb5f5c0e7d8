// The emulated machine: what the handles of the driver API point to, and the process-wide state behind one lock.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "abi.hpp"
#include "executor_process.hpp"
#include "kernel_abi.hpp"

namespace emulator {

using Context = abi::CUctx_st;
using Stream = abi::CUstream_st;
using Event = abi::CUevent_st;
using Module = abi::CUmod_st;
using Function = abi::CUfunc_st;
using Graph = abi::CUgraph_st;
using GraphExec = abi::CUgraphExec_st;

/// How far each stream is known to have got at some point of another one.
using Known = std::map<const Stream*, std::uint64_t>;

/// What occupies the device while an operation runs; each does one thing at a time.
enum class Engine { none, compute, to_device, to_host };

/// What an operation does together with those of other streams, of this process or of others. It happens when each of
/// these streams has got to its own.
class Meeting {
 public:
  virtual ~Meeting() {}
  /// Its operation is its stream's last one now.
  virtual void queued() = 0;
  /// Its stream has got to it: with an error, where the device is lost.
  virtual void arrive(int error) = 0;
  /// Gets the other streams of this process to it, as far as nothing has to be waited for.
  virtual void hasten() = 0;
  virtual bool is_over() = 0;
};

/// What CUPTI records of an operation.
struct Activity {
  int kind = 0;                // CUPTI's; 0: nothing
  const char* name = nullptr;  // of a kernel; lives for ever
  std::size_t bytes = 0;
  std::uint8_t copy_kind = 0, source = 0, target = 0;
  int source_device = 0, target_device = 0;
};

/// Something to be done on a stream.
struct Work {
  std::function<int()> run = {};  // gives a CUresult; anything but success makes the context unusable
  Engine engine = Engine::none;
  std::uint64_t ns = 0;                   // how long it takes in the time model
  std::vector<std::uintptr_t> uses = {};  // the addresses of the allocations that it reads or writes
  bool calls_host = false;                // a host function: runs without the lock
  std::shared_ptr<Meeting> meeting = {};  // that it takes part in, before it runs
  Activity activity = {};
};

/// A place in a stream: after its first `count` operations.
struct Point {
  Stream* stream = nullptr;
  std::uint64_t count = 0;
  std::uint64_t time = 0;  // when it is reached in the time model
  Known known;
};

struct Operation {
  Work work;
  std::vector<Point> after;
};

/// A capture in progress. Its nodes are in the order of the calls, which is an order they may run in.
struct Capture {
  Stream* origin;
  Graph* graph;
  int mode;
  std::thread::id thread;
  std::vector<Stream*> streams;
  bool invalid = false;
};

struct Node {
  Work work;
  std::vector<std::size_t> after;
};

struct LiveObject {
  const char* kind;        // null: not counted
  const Context* context;  // that it goes with; null: none
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;  // an operation of some stream is done, or what it waited for was queued
  bool initialised = false;
  bool forked = false;                               // in a child of the process that called cuInit
  std::vector<std::unique_ptr<Context>> contexts;    // one a device
  std::unordered_map<const void*, LiveObject> live;  // handles that exist
  std::map<std::string, long> census;                // by kind
  std::vector<std::unique_ptr<Stream>> streams;      // destroyed ones too: their work may still be waited for
  std::vector<std::unique_ptr<Capture>> captures;    // in progress
  std::uint64_t now = 0;                             // the host's clock, ns
};

State& state();

/// The calling thread's lock, which a host function's run gives up.
std::unique_lock<std::mutex>*& current_lock();
/// The calling thread's context; may be one that has been released.
Context*& current_context();

template <class T>
bool is_live(const T* handle) {
  return state().live.count(handle) != 0;
}

/// Makes a handle known, counted as one of a kind (null: not counted), and going with a context (null: with none).
void add_live(const char* kind, const void* handle, const Context* context = nullptr);
void remove_live(const void* handle);
/// Forgets the handles that go with a context.
void remove_live_of(const Context& context);

/// With cold=1, what NVIDIA's libraries take at their first use, of the host's clock in the time model and of real
/// time: a third of a second where a library has not been used yet, and for the compilation of a source between 20 and
/// 300 ms, which its text decides.
void open_library(const char* name);
void spend_compiling(const std::string& source);

/// Everything as it was before cuInit; settings from the environment.
void reset_state();

}  // namespace emulator

namespace abi {

struct CUctx_st {
  int ordinal = 0;
  int retained = 0;
  CUresult sticky = CUDA_SUCCESS;  // an error that makes the context unusable
  CUstream legacy = nullptr;
  std::size_t used = 0;                      // bytes of device memory
  std::set<int> reachable_from;              // the devices that may access its pool
  std::size_t pool_used = 0, pool_high = 0;  // the stream-ordered of them, and their most so far
  std::size_t pool_idle = 0;                 // what the pool holds besides
  std::uint64_t engine_free[4] = {};         // when each engine is free again
  emulator::ExecutorProcess executor;
};

struct CUstream_st {
  CUcontext context = nullptr;
  bool blocking = true;  // ordered with the legacy stream
  std::deque<emulator::Operation> queue;
  std::uint64_t enqueued = 0, done = 0;
  bool running = false;    // a thread is at its front operation
  bool pursued = false;    // a thread gets it on, as far as nothing has to be waited for
  std::uint64_t time = 0;  // when its last operation ends
  emulator::Known known;
  emulator::Capture* capture = nullptr;
  std::vector<std::size_t> tail;  // what its next captured node comes after
};

struct CUevent_st {
  CUcontext context = nullptr;
  bool timed = true;
  bool recorded = false;
  emulator::Point point;
  emulator::Capture* capture = nullptr;  // recorded in a capture, at these nodes
  std::vector<std::size_t> tail;
};

struct CUfunc_st {
  CUmodule module = nullptr;
  unsigned index = 0;
  int dynamic_shared_limit = 48 << 10;
};

struct CUmod_st {
  CUcontext context = nullptr;
  void* library = nullptr;
  const emulator::KernelModule* module = nullptr;
  unsigned id = 0;  // in the executor
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

struct CUgraph_st {
  std::vector<emulator::Node> nodes;
};

struct CUgraphExec_st {
  std::vector<emulator::Node> nodes;
  emulator::Point last_launch;
};

}  // namespace abi
