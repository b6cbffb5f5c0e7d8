// Copies between host and device that run while the host goes on, for code that knows no device type.
#pragma once
#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A block of page-locked host memory, which a device reads and writes by itself.
struct PinnedMemory {
  void* memory = nullptr;

  /// Waits until no copy uses the memory.
  virtual void wait_idle() = 0;
  /// Called when the last owner is gone. A copy may still use the memory.
  virtual void give_back() = 0;

 protected:
  ~PinnedMemory() = default;
};

/// A copy in flight. Work that the device starts after its destruction runs after the copy.
class AsyncCopy {
 public:
  virtual ~AsyncCopy() = default;
  /// True if neither wait would block.
  virtual bool is_done() const = 0;
  /// Makes later work of the device wait for the copy. The host goes on.
  virtual void wait_on_device() = 0;
  /// Blocks the host until the copy is done.
  virtual void wait_on_host() = 0;
};

}}}  // namespace tern::detail
