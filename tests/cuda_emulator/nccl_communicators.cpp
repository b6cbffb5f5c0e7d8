// libnccl: communicators, how they begin and end.
#include <cstring>
#include <memory>

#include "call.hpp"
#include "exports.hpp"
#include "nccl.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace emulator::nccl;
using namespace abi;

namespace {

std::vector<std::shared_ptr<Clique>>& cliques() {
  static auto& all = *new std::vector<std::shared_ptr<Clique>>;
  return all;
}

// Communicators that are no more. They are kept, so that no later one has the address of a handle that was destroyed.
std::vector<std::unique_ptr<ncclComm>>& departed() {
  static auto& all = *new std::vector<std::unique_ptr<ncclComm>>;
  return all;
}

// Null for bytes that are no id, or that of ranks that are no more.
std::shared_ptr<Clique> clique_of(const ncclUniqueId& id) {
  for (const std::shared_ptr<Clique>& known : cliques())
    if (!std::memcmp(&known->id(), &id, sizeof id)) return known;
  const std::shared_ptr<Clique> clique = Clique::of(id);
  if (clique) cliques().push_back(clique);
  return clique;
}

int no_such_communicator() {
  return refuse(ncclInvalidArgument, "no such communicator, or it has been destroyed", page::nccl_communicator);
}

// The rank is no more, and threads that wait with it go on.
void leave(ncclComm_t comm, bool aborted) {
  for (const std::shared_ptr<Part>& part : comm->parts) part->over = true;
  const std::shared_ptr<Clique> clique = std::move(comm->clique);
  clique->leave(comm, aborted);
  if (clique->is_deserted()) std::erase(cliques(), clique);
  remove_live(comm);
  comm->parts.clear();
  comm->calls.clear();
  departed().emplace_back(comm);
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  EMULATED_CALL(ncclInternalError);
  if (!version) return refuse(ncclInvalidArgument, "no place for the version", page::nccl_communicator);
  *version = 22703;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError: return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: return "unknown result code";
  }
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  EMULATED_CALL(ncclSystemError);
  if (!id) return refuse(ncclInvalidArgument, "no place for the id", page::nccl_communicator);
  cliques().push_back(std::make_shared<Clique>());
  *id = cliques().back()->id();
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  Call call(__func__, ncclSystemError);
  const std::shared_ptr<Clique> clique = clique_of(id);
  if (const int status = call.status()) {
    if (clique) clique->fail_all(ncclRemoteError);  // the others lose a connection
    return status;
  }
  if (!comm || !clique)
    return refuse(ncclInvalidArgument, "no place for the communicator, or no id of ncclGetUniqueId",
                  page::nccl_communicator);
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "rank " + std::to_string(rank) + " is none of " + std::to_string(ranks),
                  page::nccl_communicator);
  Context* current = current_context();
  if (!current || !current->retained || current->sticky)
    return refuse(ncclUnhandledCudaError, "no device is current", page::nccl_communicator);
  auto* made = new ncclComm;
  made->clique = clique;
  made->rank = rank;
  made->context = current;
  if (const int status = clique->join(made, ranks)) {
    delete made;
    return status;
  }
  add_live("nccl communicator", made, current);
  *comm = made;
  if (group().depth) {
    group().initialisations.push_back(clique);
    return ncclSuccess;
  }
  const int failure = clique->await();
  if (failure) leave(made, false);
  return failure;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  EMULATED_CALL(ncclInternalError, releases);
  if (!is_live(comm)) return no_such_communicator();
  const std::vector<std::shared_ptr<Part>> parts = comm->parts;  // what is queued is completed first
  for (const std::shared_ptr<Part>& part : parts)
    if (!part->over) wait_for(end_of(*part->request.stream));
  leave(comm, false);
  return call.finish(ncclSuccess);
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  EMULATED_CALL(ncclInternalError, releases);
  if (!is_live(comm)) return no_such_communicator();
  leave(comm, true);
  return call.finish(ncclSuccess);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  EMULATED_CALL(ncclInternalError);
  if (!is_live(comm) || !error) return no_such_communicator();
  *error = comm->clique->misses_one(comm->rank) ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

}  // extern "C"
