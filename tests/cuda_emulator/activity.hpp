// What CUPTI sees of the machine: calls, and the operations that they queue.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "abi.hpp"

namespace emulator {

struct Activity;
struct Work;

/// The kind of a graph's launch: its nodes are recorded instead of it.
inline constexpr int activity_of_nodes = -1;

/// A kernel's; the name is copied.
Activity kernel_activity(const char* name);

/// Notes an operation for CUPTI, if its kind is enabled: the stream's `count`th, or a node of that one.
void note_activity(abi::CUstream_st& stream, const Work& work, std::uint64_t start, std::uint64_t end,
                   std::uint64_t count);

/// As it was before anyone used CUPTI.
void forget_activity();

/// A call, for its subscriber: from before the machine is locked until it is unlocked again. A library's call counts as
/// one of the runtime's launches.
class TracedCall {
 public:
  explicit TracedCall(const char* function);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  void tell(int site) const;

  const char* function_;
  std::uint32_t correlation_ = 0;  // 0: nobody wants to know
  std::uint32_t outer_ = 0;
  int domain_ = 0;
  std::uint32_t cbid_ = 0;
};

/// A record of an operation that may still be to run.
struct PendingRecord {
  abi::CUstream_st* stream;
  std::uint64_t count;
  std::vector<unsigned char> bytes;
};

struct Cupti {
  static constexpr std::uint32_t most_cbids = 1024;
  abi::CUpti_SubscriberHandle subscriber = nullptr;
  abi::CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::atomic<bool> told[2][most_cbids] = {};  // by domain and cbid
  std::atomic<bool> used{false};               // anyone has subscribed, or enabled a kind
  abi::CUpti_BuffersCallbackRequestFunc request = nullptr;
  abi::CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<int> kinds;  // enabled
  std::deque<PendingRecord> pending;
};
Cupti& cupti();

}  // namespace emulator
