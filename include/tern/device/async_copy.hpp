// Copies between host and device that go on while the host does something else, as code sees them that knows no device.
#pragma once
#include "../core/config.hpp"

namespace tern::inline TERN_BUILD {

/// A block of page-locked host memory, which a device reads and writes by itself.
struct PinnedMemory {
  void* memory = nullptr;

  /// The host waits until no copy uses the memory.
  virtual void wait_idle() = 0;
  /// The last owner is gone. A copy may still use the memory.
  virtual void give_back() = 0;

 protected:
  ~PinnedMemory() = default;
};

/// A copy under way. What the device does after its destruction comes after the copy.
class AsyncCopy {
 public:
  virtual ~AsyncCopy() = default;
  /// True if neither wait would have to wait.
  virtual bool is_done() const = 0;
  /// What the device does from here on comes after the copy; the host goes on.
  virtual void wait_on_device() = 0;
  /// The host waits for the copy.
  virtual void wait_on_host() = 0;
};

}  // namespace tern
