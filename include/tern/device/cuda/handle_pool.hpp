// A pool of handles of CUDA's libraries, which are slow to make. A call leases a handle and returns it, so there are
// never more handles than calls at the same time.
#pragma once
#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// A library's handle for one device, in a list of idle ones.
struct PooledHandle {
  void* handle;
  int ordinal;
  PooledHandle* next = nullptr;
};

/// The idle handles of one library. A pool is never destroyed: at the end of the process the driver may be gone first,
/// and it releases the handles' resources.
class TERN_API HandlePool {
 public:
  using Create = void* (*)();              // for the current device; throws
  using Destroy = void (*)(void* handle);  // records a failure

  HandlePool(Create create, Destroy destroy);
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  /// A handle for the device, whose context is current.
  PooledHandle* take(int ordinal) {
    PooledHandle* const idle = take_idle(ordinal);
    return idle ? idle : new PooledHandle{create_(), ordinal};
  }
  void put(PooledHandle* handle);

  /// Makes a handle of each library in use for the device, whose context is current, unless one is idle.
  static void prepare_all(int ordinal);
  /// Destroys the idle handles for the device, whose context is current.
  static void clear_all(int ordinal);

 private:
  static inline constinit std::atomic<HandlePool*> all_{nullptr};

  PooledHandle* take_idle(int ordinal);

  const Create create_;
  const Destroy destroy_;
  HandlePool* next_;
  std::mutex mutex_;
  PooledHandle* idle_ = nullptr;
};

/// A handle for one call. The device's context must be current.
class HandleLease {
 public:
  HandleLease(HandlePool& pool, int ordinal) : pool_(pool), leased_(pool.take(ordinal)) {}
  ~HandleLease() { pool_.put(leased_); }
  HandleLease(const HandleLease&) = delete;
  HandleLease& operator=(const HandleLease&) = delete;
  void* handle() const { return leased_->handle; }

 private:
  HandlePool& pool_;
  PooledHandle* leased_;
};

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "handle_pool.ipp"
#endif
