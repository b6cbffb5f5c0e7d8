// What the devices did and when, as CUPTI records it. Only the profiler includes this header.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "../events.hpp"
#include "library.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// CUPTI, which records what the devices do.
struct TERN_API CuptiLibrary {
  Library library = open_toolkit_library("libcupti.so");
  CuptiFunctions functions;
  CuptiLibrary();
};

/// A piece of work that has ended. Times are in ns of Recorder::now().
struct DeviceRecord {
  tern::detail::Work work;  // kernel: also a fill, or a copy on the device
  bool pinned = false;
  int ordinal;
  std::uint32_t correlation;   // of the call that queued it
  const char* name = nullptr;  // a kernel's
  std::size_t bytes = 0;
  std::uint64_t start, end;
};

/// Collects CUPTI's records of this process, all devices and all libraries included.
///
/// A record has the number of the call that queued the work. That number is told to a callback for each call that may
/// queue work, once before the call and once after it: two function calls. A stack of external numbers, CUPTI's other
/// way, takes a push and a pop for each call and makes two more records, because it needs records of the calls.
class TERN_API Recorder {
 public:
  /// Starts recording, and telling on_call the number of each call that may queue work, in the thread that calls.
  /// Returns the reason why that is impossible: CUPTI is missing, or another profiler has it; empty if it records.
  std::string start(void (*on_call)(std::uint32_t correlation));
  void stop();

  /// The time on the clock of the records.
  std::uint64_t now() const;
  /// The records of work that has ended, each once.
  std::vector<DeviceRecord> take();

 private:
  static constexpr std::size_t buffer_bytes = std::size_t(1) << 20;

  static void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
  static void complete(Context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t used);
  /// Switches all on, or all off. Returns the first failure.
  std::string set(bool on);
  void add(const CuptiRecord& record);

  CuptiLibrary* cupti_ = nullptr;
  CuptiSubscriber subscriber_ = nullptr;
  std::mutex mutex_;
  std::vector<DeviceRecord> records_;
  std::vector<std::uint8_t*> spare_;  // buffers
};

/// The program's recorder. Never destroyed, because CUPTI may hand over records after main.
TERN_API Recorder& recorder();

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "cupti.ipp"
#endif
