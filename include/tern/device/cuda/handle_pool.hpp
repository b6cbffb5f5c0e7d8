// Handles of CUDA's libraries, which take long to make. A call leases one and gives it back, so there are never more than calls were
// under way at once, however many threads come and go.
#pragma once
#include "context.hpp"

namespace tern::inline TERN_BUILD::cuda::detail {

/// A library's handle for one device, linked to the next idle one.
struct PooledHandle {
  void* handle;
  int ordinal;
  PooledHandle* next = nullptr;
};

/// The handles of one library that no call uses at present. A pool is never destroyed: at the process's end the driver may be gone
/// before it, and takes with it what the handles held.
class TERN_API HandlePool {
 public:
  using Create = void* (*)();              // for the bound device; throws
  using Destroy = void (*)(void* handle);  // notes a failure

  HandlePool(Create create, Destroy destroy);
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  /// A handle for the device, which is bound.
  PooledHandle* take(int ordinal) {
    PooledHandle* const idle = take_idle(ordinal);
    return idle ? idle : new PooledHandle{create_(), ordinal};
  }
  void put(PooledHandle* handle);

  /// Makes a handle of each library in use for the device, which is bound, unless one is idle.
  static void prepare_all(int ordinal);
  /// Destroys the idle handles for the device, which is bound.
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

/// A handle for one call. The device must be bound.
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

}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "handle_pool.ipp"
#endif
