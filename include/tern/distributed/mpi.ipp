// The functions of mpi.hpp. The compiled library does not hold them: it knows no MPI.
#pragma once
#ifndef OMPI_SKIP_MPICXX  // the C++ bindings of Open MPI and MPICH, which nothing uses
#define OMPI_SKIP_MPICXX
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "../core/clock.hpp"
#include "mpi.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

inline void check_mpi(const char* op, int status) {
  if (status == MPI_SUCCESS) return;
  char message[MPI_MAX_ERROR_STRING] = "";
  int length;
  MPI_Error_string(status, message, &length);
  Error::fail(op, {"MPI: ", message});
}

inline MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::float32: return MPI_FLOAT;
    case DType::float64: return MPI_DOUBLE;
    case DType::int64: return MPI_INT64_T;
    case DType::int32: return MPI_INT32_T;
    default: return MPI_UINT8_T;  // uint8 and bool; sums of 16 bits are floats here
  }
}

inline MPI_Op mpi_op(ReduceOp op, DType dtype) {
  const bool of_bool = dtype == DType::bool_;
  switch (op) {
    case min: return MPI_MIN;
    case max: return MPI_MAX;
    case product: return of_bool ? MPI_MIN : MPI_PROD;
    default: return of_bool ? MPI_MAX : MPI_SUM;
  }
}

/// Waits for a request without keeping a core busy for long.
inline void finish(const char* op, MPI_Request request, int rank, double timeout) {
  const double start = tern::detail::now();
  for (int done = 0, tries = 0;; ++tries) {
    check_mpi(op, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done) return;
    if (tern::detail::now() - start > timeout) {
      MPI_Cancel(&request);
      Error::fail(op, {"rank ", rank, " waits for others, which have not come within ", timeout, " s"});
    }
    if (tries > 1000) usleep(20);
  }
}

/// A communicator of MPI's. Not freed: all ranks would have to come for that, and one that failed does not.
struct MpiRanksOf {
  MPI_Comm comm;
  int rank, size;

  explicit MpiRanksOf(MPI_Comm c) : comm(c) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  /// The ranks with the same colour.
  MpiRanksOf part(int color, int key) const {
    MPI_Comm made;
    check_mpi("Communicator", MPI_Comm_split(comm, color, key, &made));
    return MpiRanksOf(made);
  }
};

class MpiNetwork final : public Network {
 public:
  MpiNetwork(const MpiRanksOf& all, const MpiRanksOf& across) : all_(all), across_(across) {}

  void meet(const Call& mine, Call* calls, double timeout) override {
    MPI_Request request;
    check_mpi(mine.name,
              MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, calls, sizeof mine, MPI_BYTE, all_.comm, &request));
    finish(mine.name, request, all_.rank, timeout);
  }
  void reduce(void* x, Index n, DType dtype, ReduceOp op) override {
    if (n == 0) return;
    check_mpi("all_reduce", MPI_Allreduce(MPI_IN_PLACE, x, int(n), mpi_type(dtype), mpi_op(op, dtype), across_.comm));
  }
  void all_gather(const void* mine, void* all, Index bytes) override {
    check_mpi("all_gather", MPI_Allgather(mine, int(bytes), MPI_BYTE, all, int(bytes), MPI_BYTE, all_.comm));
  }
  void all_to_all(const void* mine, void* all, Index bytes) override {
    check_mpi("all_to_all", MPI_Alltoall(mine, int(bytes), MPI_BYTE, all, int(bytes), MPI_BYTE, all_.comm));
  }
  void broadcast(void* x, Index bytes, int root) override {
    for (Index begin = 0; begin < bytes; begin += most)
      check_mpi("broadcast", MPI_Bcast(static_cast<char*>(x) + begin, int(std::min(most, bytes - begin)), MPI_BYTE,
                                       root, all_.comm));
  }
  void send(const Call& call, int to, const void* data, Index bytes, double timeout) override {
    const Call theirs = exchange(call, to, timeout);
    if (!same(call, theirs)) refuse_different(call, all_.rank, theirs, to);
    for (Index begin = 0; begin < bytes; begin += most)
      check_mpi("send", MPI_Send(static_cast<const char*>(data) + begin, int(std::min(most, bytes - begin)), MPI_BYTE,
                                 to, tag, all_.comm));
  }
  void receive(const Call& call, int from, void* data, Index bytes, double timeout) override {
    const Call theirs = exchange(call, from, timeout);
    if (!same(call, theirs)) refuse_different(theirs, from, call, all_.rank);
    for (Index begin = 0; begin < bytes; begin += most)
      check_mpi("recv", MPI_Recv(static_cast<char*>(data) + begin, int(std::min(most, bytes - begin)), MPI_BYTE, from,
                                 tag, all_.comm, MPI_STATUS_IGNORE));
  }

 private:
  static constexpr Index most = Index(1) << 30;  // MPI counts in int
  static constexpr int tag = 0;

  /// What the other rank of a transfer calls.
  Call exchange(const Call& mine, int other, double timeout) const {
    Call theirs;
    MPI_Request sent, received;
    check_mpi(mine.name, MPI_Irecv(&theirs, sizeof theirs, MPI_BYTE, other, tag, all_.comm, &received));
    check_mpi(mine.name, MPI_Isend(&mine, sizeof mine, MPI_BYTE, other, tag, all_.comm, &sent));
    finish(mine.name, received, all_.rank, timeout);
    finish(mine.name, sent, all_.rank, timeout);
    return theirs;
  }

  MpiRanksOf all_, across_;
};

class MpiRanks final : public Ranks {
 public:
  MpiRanks(const MpiRanksOf& all, const Place& at, std::unique_ptr<Segment> segment, std::unique_ptr<Network> network,
           const MpiOptions& options)
      : Ranks(at, std::move(segment), std::move(network)), all_(all), options_(options) {}

  std::shared_ptr<Ranks> split(int color, int key) override { return make(all_.part(color, key), options_); }
  bool are_processes() const override { return true; }

  static std::shared_ptr<Ranks> make(const MpiRanksOf& all, const MpiOptions& options) {
    MPI_Comm made;
    check_mpi("Communicator", MPI_Comm_split_type(all.comm, MPI_COMM_TYPE_SHARED, all.rank, MPI_INFO_NULL, &made));
    MpiRanksOf machine(made);
    if (options.ranks_sharing_memory > 0) machine = machine.part(machine.rank / options.ranks_sharing_memory, 0);
    // Each place on a machine sums with the same place on the others. So all machines need as many ranks; else each
    // rank is one of its own.
    int sizes[] = {machine.size, -machine.size};
    check_mpi("Communicator", MPI_Allreduce(MPI_IN_PLACE, sizes, 2, MPI_INT, MPI_MAX, all.comm));
    if (sizes[0] != -sizes[1]) machine = machine.part(machine.rank, 0);
    std::vector<int> ranks(std::size_t(machine.size));
    check_mpi("Communicator", MPI_Allgather(&all.rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, machine.comm));
    std::unique_ptr<Network> network;
    if (machine.size != all.size) network = std::make_unique<MpiNetwork>(all, all.part(machine.rank, 0));
    return std::make_shared<MpiRanks>(all, Place{all.rank, all.size, machine.rank, machine.size},
                                      std::make_unique<Segment>(memory_of(machine), machine.rank, ranks),
                                      std::move(network), options);
  }

 private:
  /// The first rank of a machine creates the memory. Where one rank cannot have it, all of the machine say so.
  static std::shared_ptr<SharedMemory> memory_of(const MpiRanksOf& machine) {
    char name[64] = {};
    SharedMemory::new_name().copy(name, sizeof name - 1);
    check_mpi("Communicator", MPI_Bcast(name, sizeof name, MPI_CHAR, 0, machine.comm));
    std::shared_ptr<SharedMemory> memory;
    std::string problem;
    const auto take = [&](bool first) {
      if ((machine.rank == 0) != first) return;
      try {
        memory = std::make_shared<SharedMemory>(name, Segment::bytes_for(machine.size), first);
      } catch (const Error& error) { problem = error.what(); }
    };
    take(true);
    check_mpi("Communicator", MPI_Barrier(machine.comm));
    take(false);
    int have_it = memory != nullptr;
    check_mpi("Communicator", MPI_Allreduce(MPI_IN_PLACE, &have_it, 1, MPI_INT, MPI_MIN, machine.comm));
    if (machine.rank == 0 && memory) memory->unlink();
    if (!problem.empty()) throw Error(problem);
    if (!have_it) Error::fail("Communicator", {"another rank of this machine cannot have the memory that they share"});
    return memory;
  }

  MpiRanksOf all_;
  MpiOptions options_;
};

}}}  // namespace tern::distributed::detail

namespace tern { inline namespace TERN_BUILD { namespace distributed {

inline Mpi::Mpi(int& argc, char**& argv, const MpiOptions& options)
    : options_(options), exceptions_(std::uncaught_exceptions()) {
  if (options.ranks_sharing_memory < 0)
    Error::fail("Mpi", {"ranks_sharing_memory must not be negative: ", options.ranks_sharing_memory});
  int started, support;
  MPI_Initialized(&started);
  if (started) Error::fail("Mpi", {"MPI is started already"});
  detail::check_mpi("Mpi", MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &support));
  if (support < MPI_THREAD_SERIALIZED) Error::fail("Mpi", {"this MPI has no support for threads"});
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1 && launched_ranks() > 1)
    Error::fail("Mpi", {"mpirun has started ", launched_ranks(),
                        " ranks, and each sees only itself: the program is built with another MPI than that mpirun's"});
}

/// A rank that failed gives the others a moment to say so too. Without the last step of MPI, mpirun ends the ranks that
/// do not come. With it, it ends those that are slower to print their error than the first is to exit; so each that
/// failed waits before it exits.
inline Mpi::~Mpi() {
  const bool failed = std::uncaught_exceptions() > exceptions_;
  if (failed) std::atexit([] { usleep(300'000); });
  MPI_Request request;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return;
  constexpr double moment = 3;
  const double start = tern::detail::now();
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done; usleep(50))
    if (failed && tern::detail::now() - start > moment) return;
  MPI_Finalize();
}

inline Communicator Mpi::world() const {
  return Communicator(detail::MpiRanks::make(detail::MpiRanksOf(MPI_COMM_WORLD), options_));
}

}}}  // namespace tern::distributed
