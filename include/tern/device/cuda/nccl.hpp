// NCCL, which carries tensors from GPU to GPU: its communicators, one layer above its C functions.
#pragma once
#include "library.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// NCCL: the system's, or the wheel nvidia-nccl-cu12 or nvidia-nccl-cu13.
struct TERN_API NcclLibrary {
  Library library = open_library({"libnccl.so.2"}, true);
  NcclFunctions functions;
  NcclLibrary();
};

/// Error if it cannot be used, or is older than 2.10.
TERN_API NcclLibrary& nccl();

namespace detail {

/// Error that names the function and quotes the library's own text for the status.
TERN_API void check_nccl(const char* function, int status);

#define TERN_NCCL(function, ...) \
  ::tern::cuda::detail::check_nccl(#function, ::tern::cuda::nccl().functions.function(__VA_ARGS__))

/// What all ranks of one communicator must have. One of them makes it.
TERN_API NcclId new_nccl_id();

/// One rank's end of a communicator, on the device whose context is current. All ranks construct it, each on another
/// device.
class TERN_API NcclEnd {
 public:
  NcclEnd(const NcclId& id, int ranks, int rank);
  /// Waits for what is queued, unless the communicator has failed.
  ~NcclEnd();
  NcclEnd(const NcclEnd&) = delete;
  NcclEnd& operator=(const NcclEnd&) = delete;

  /// Error if the communicator has failed.
  NcclComm handle() const;
  /// Error unless the status is success and NCCL has all ranks.
  void check(const char* function, int status) const;
  bool has_failed() const { return !handle_; }
  /// What NCCL says of the other ranks, if it has lost one, else null.
  const char* lost() const;
  /// The communicator has failed. The device waits for no other rank.
  void abort();

 private:
  NcclComm handle_ = nullptr;
};

/// The calls between construction and end() go on together.
class NcclGroup {
 public:
  NcclGroup() { TERN_NCCL(ncclGroupStart); }
  ~NcclGroup() {
    if (open_) end();
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  /// NCCL's status.
  int end() {
    open_ = false;
    return nccl().functions.ncclGroupEnd();
  }

 private:
  bool open_ = true;
};

}  // namespace detail
}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "nccl.ipp"
#endif

#undef TERN_NCCL
