// The functions of nccl.hpp that are not templates.
#pragma once
#include <utility>

#include "nccl.hpp"
#include "status.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_COLD NcclLibrary::NcclLibrary() {
  if (!library.handle) return;
  library.problem.clear();
#define TERN_NCCL_LOAD(name, result, arguments) \
  functions.name = reinterpret_cast<result(*) arguments>(detail::find_function(library, #name));
  TERN_NCCL_FUNCTIONS(TERN_NCCL_LOAD)
#undef TERN_NCCL_LOAD
  if (!library.problem.empty()) return;
  int version = 0;
  functions.ncclGetVersion(&version);
  if (version < 21000) library.problem = library.path + " is older than 2.10";  // before 2.9 a version has four digits
}

TERN_NOINLINE NcclLibrary& nccl() {
  static NcclLibrary& instance = *new NcclLibrary;
  if (!instance.library.problem.empty())
    Error::fail("cuda", {"NCCL, which carries tensors from GPU to GPU, cannot be used: ", instance.library.problem});
  return instance;
}

}}}  // namespace tern::cuda

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_NOINLINE void check_nccl(const char* function, int status) {
  if (status) [[unlikely]]
    Error::fail("cuda", {function, ": ", nccl().functions.ncclGetErrorString(status)});
}

TERN_COLD NcclId new_nccl_id() {
  NcclId id;
  TERN_NCCL(ncclGetUniqueId, &id);
  return id;
}

TERN_COLD NcclEnd::NcclEnd(const NcclId& id, int ranks, int rank) {
  constexpr int invalid_usage = 5;
  const NcclFunctions& functions = nccl().functions;
  const int status = functions.ncclCommInitRank(&handle_, ranks, id, rank);
  if (status == invalid_usage)
    Error::fail("cuda",
                {"ncclCommInitRank: ", functions.ncclGetErrorString(status), "; each rank needs a device of its own"});
  check_nccl("ncclCommInitRank", status);
}

TERN_COLD NcclEnd::~NcclEnd() {
  if (!handle_) return;
  const NcclFunctions& functions = nccl().functions;
  int lost = 0;
  const bool fails = functions.ncclCommGetAsyncError(handle_, &lost) || lost;
  const char* const end = fails ? "ncclCommAbort" : "ncclCommDestroy";
  if (const int status = fails ? functions.ncclCommAbort(handle_) : functions.ncclCommDestroy(handle_))
    note_failure(end, functions.ncclGetErrorString(status), "");
}

TERN_NOINLINE NcclComm NcclEnd::handle() const {
  if (!handle_) Error::fail("cuda", {"NCCL has lost the connection of the ranks before"});
  return handle_;
}

TERN_NOINLINE void NcclEnd::check(const char* function, int status) const {
  int lost = 0;
  if (!status) status = nccl().functions.ncclCommGetAsyncError(handle_, &lost);
  if (!status) status = lost;
  check_nccl(function, status);
}

TERN_NOINLINE const char* NcclEnd::lost() const {
  int lost = 0;
  const NcclFunctions& functions = nccl().functions;
  if (const int status = functions.ncclCommGetAsyncError(handle_, &lost)) lost = status;
  return lost ? functions.ncclGetErrorString(lost) : nullptr;
}

TERN_COLD void NcclEnd::abort() {
  if (handle_) nccl().functions.ncclCommAbort(std::exchange(handle_, nullptr));
}

}}}  // namespace tern::cuda::detail
