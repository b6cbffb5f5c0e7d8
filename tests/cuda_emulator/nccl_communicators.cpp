// libnccl: communicators, how they begin and end.
#include <cstring>

#include "call.hpp"
#include "exports.hpp"
#include "nccl.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace emulator::nccl;
using namespace abi;

namespace {

constexpr char id_mark[] = "tern's emulated nccl";

struct UniqueId {
  char mark[sizeof id_mark];
  std::uint64_t number;
};
static_assert(sizeof(UniqueId) <= sizeof(ncclUniqueId));

std::vector<std::shared_ptr<Clique>>& cliques() {
  static auto& all = *new std::vector<std::shared_ptr<Clique>>;
  return all;
}

// Null for bytes that are no id.
std::shared_ptr<Clique> clique_of(const ncclUniqueId& id) {
  UniqueId ours;
  std::memcpy(&ours, id.internal, sizeof ours);
  const bool known = !std::memcmp(ours.mark, id_mark, sizeof id_mark) && ours.number < cliques().size();
  return known ? cliques()[ours.number] : nullptr;
}

// Ends the initialisation of all ranks.
int fail_all(Clique& clique, int code) {
  clique.failure = code;
  state().changed.notify_all();
  return code;
}

int no_such_communicator() {
  return refuse(ncclInvalidArgument, "no such communicator, or it has been destroyed", page::nccl_communicator);
}

// The rank is no more. The memory stays, because threads may still wait with it.
void leave(ncclComm_t comm) {
  comm->clique->members[static_cast<std::size_t>(comm->rank)] = nullptr;
  remove_live(comm);
}

// What is queued and not done of the rank's exchanges is done without effect.
void drop_exchanges(const ncclComm& comm) {
  for (const auto& stream : state().streams)
    for (Operation& operation : stream->queue)
      std::erase_if(operation.work.meetings, [&](const std::shared_ptr<Meeting>& meeting) {
        for (const auto& exchange : comm.exchanges)
          if (meeting.get() == &exchange->meeting) return true;
        return false;
      });
}

}  // namespace

namespace emulator::nccl {

int await(const Clique& clique) {
  while (clique.joined < clique.size && !clique.failure) state().changed.wait(*current_lock());
  return clique.failure;
}

}  // namespace emulator::nccl

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
  UniqueId ours{};
  std::memcpy(ours.mark, id_mark, sizeof id_mark);
  ours.number = cliques().size();
  cliques().push_back(std::make_shared<Clique>());
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, &ours, sizeof ours);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  Call call(__func__, ncclSystemError);
  const std::shared_ptr<Clique> clique = clique_of(id);
  if (const int status = call.status()) {
    if (clique) fail_all(*clique, ncclRemoteError);  // the others lose a connection
    return status;
  }
  if (!comm || !clique) return refuse(ncclInvalidArgument, "no place for the communicator, or no id of ncclGetUniqueId", page::nccl_communicator);
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "rank " + std::to_string(rank) + " is none of " + std::to_string(ranks), page::nccl_communicator);
  Context* current = current_context();
  if (!current || !current->retained || current->sticky) return refuse(ncclUnhandledCudaError, "no device is current", page::nccl_communicator);
  if (!clique->size) {
    clique->size = ranks;
    clique->members.resize(static_cast<std::size_t>(ranks));
  }
  if (clique->size != ranks || clique->members[static_cast<std::size_t>(rank)])
    return fail_all(*clique, refuse(ncclInvalidUsage, "the ranks differ in their number, or two have one rank", page::nccl_communicator));
  for (const ncclComm* other : clique->members)
    if (other && other->context == current)
      return fail_all(*clique, refuse(ncclInvalidUsage, "two ranks on device " + std::to_string(current->ordinal), page::nccl_communicator));
  auto* made = new ncclComm;
  made->clique = clique;
  made->rank = rank;
  made->context = current;
  clique->members[static_cast<std::size_t>(rank)] = made;
  ++clique->joined;
  state().changed.notify_all();
  add_live("nccl communicator", made, current);
  *comm = made;
  if (group().depth) {
    group().initialisations.push_back(clique);
    return ncclSuccess;
  }
  const int failure = await(*clique);
  if (failure) leave(made);
  return failure;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  EMULATED_CALL(ncclInternalError, releases);
  if (!is_live(comm)) return no_such_communicator();
  std::vector<Stream*> streams;  // with what is queued: it is completed first
  for (const auto& exchange : comm->exchanges)
    for (const Request& request : exchange->requests)
      if (request.rank == comm->rank && !exchange->meeting.done) streams.push_back(request.stream);
  for (Stream* stream : streams) wait_for(end_of(*stream));
  leave(comm);
  return call.finish(ncclSuccess);
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  EMULATED_CALL(ncclInternalError, releases);
  if (!is_live(comm)) return no_such_communicator();
  drop_exchanges(*comm);
  leave(comm);
  for (ncclComm_t other : comm->clique->members)
    if (other) other->failure = ncclRemoteError;
  state().changed.notify_all();
  return call.finish(ncclSuccess);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  EMULATED_CALL(ncclInternalError);
  if (!is_live(comm) || !error) return no_such_communicator();
  *error = comm->failure;
  return ncclSuccess;
}

}  // extern "C"
