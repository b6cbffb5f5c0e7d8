// The emulated nccl between processes, each of which has a machine of its own.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "nccl.hpp"

using namespace emulator_test;

namespace {

using Ends = int[2];

// f(rank, id) in a process for each rank; rank 0 makes the id. Throws what they threw. One that is killed says nothing.
void in_processes(int ranks, const std::function<void(int, const ncclUniqueId&)>& f) {
  Ends ids, errors;
  EXPECT(pipe2(ids, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0);
  std::signal(SIGCHLD, SIG_IGN);  // so that one that has ended is no more
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork()) continue;
    std::string what;
    try {
      ncclUniqueId id;
      if (rank == 0) {
        id = new_id();
        for (int other = 1; other < ranks; ++other) EXPECT(write(ids[1], &id, sizeof id) == sizeof id);
      } else {
        EXPECT(read(ids[0], &id, sizeof id) == sizeof id);
      }
      use(0);
      f(rank, id);
    } catch (const std::exception& e) { what = "rank " + std::to_string(rank) + ": " + e.what() + "\n"; }
    _exit(write(errors[1], what.data(), what.size()) != static_cast<ssize_t>(what.size()));
  }
  close(errors[1]);
  std::string what;
  char part[1024];
  for (ssize_t n; (n = read(errors[0], part, sizeof part)) > 0;) what.append(part, static_cast<std::size_t>(n));
  if (!what.empty()) throw std::runtime_error(what);
}

// Rank r's number i.
int number(int rank, int i) { return 100 * rank + i; }

std::vector<int> numbers(int rank, int n) {
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(number(rank, i));
  return all;
}

// All collectives and transfers of this rank, on one stream.
void exchange_all(ncclComm_t comm, int ranks, int rank) {
  constexpr int n = 3;
  const int all = n * ranks;
  Stream stream;
  Array<int> x(numbers(rank, n)), wide(numbers(rank, all)), sum(n), part(n);
  Array<int> gathered(static_cast<std::size_t>(all)), received(static_cast<std::size_t>(all));
  EXPECT(ncclAllReduce(at(x), at(sum), n, ncclInt32, ncclSum, comm, stream) == ncclSuccess);
  EXPECT(ncclAllGather(at(x), at(gathered), n, ncclInt32, comm, stream) == ncclSuccess);
  EXPECT(ncclReduceScatter(at(wide), at(part), n, ncclInt32, ncclMax, comm, stream) == ncclSuccess);
  EXPECT(ncclGroupStart() == ncclSuccess);
  for (int other = 0; other < ranks; ++other) {
    const std::size_t offset = static_cast<std::size_t>(other * n) * sizeof(int);
    EXPECT(ncclSend(at(wide + offset), n, ncclInt32, other, comm, stream) == ncclSuccess);
    EXPECT(ncclRecv(at(received + offset), n, ncclInt32, other, comm, stream) == ncclSuccess);
  }
  EXPECT(ncclGroupEnd() == ncclSuccess);
  EXPECT(ncclBroadcast(at(x), at(x), n, ncclInt32, ranks - 1, comm, stream) == ncclSuccess);
  EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  EXPECT(x.values() == numbers(ranks - 1, n));
  for (int i = 0; i < n; ++i) {
    int total = 0;
    for (int other = 0; other < ranks; ++other) total += number(other, i);
    EXPECT(sum.values()[static_cast<std::size_t>(i)] == total);
    EXPECT(part.values()[static_cast<std::size_t>(i)] == number(ranks - 1, rank * n + i));
  }
  for (int i = 0; i < all; ++i) {
    EXPECT(gathered.values()[static_cast<std::size_t>(i)] == number(i / n, i % n));
    EXPECT(received.values()[static_cast<std::size_t>(i)] == number(i / n, rank * n + i % n));
  }
}

// Waits until the communicator has an error.
ncclResult_t error_of(ncclComm_t comm) {
  ncclResult_t error = ncclSuccess;
  while (!error) {
    EXPECT(ncclCommGetAsyncError(comm, &error) == ncclSuccess);
    usleep(1000);
  }
  return error;
}

}  // namespace

CHILD_CASE("cuda emulator: nccl's ranks are processes") {
  for (const char* order : {"order=late", "order=eager", "order=random:5"})
    for (const int ranks : {2, 3})
      in_processes(ranks, [&](int rank, const ncclUniqueId& id) {
        tern_emulator_set(order);
        const ncclComm_t comm = join(ranks, id, rank);
        exchange_all(comm, ranks, rank);
        exchange_all(comm, ranks, rank);
        EXPECT(ncclCommDestroy(comm) == ncclSuccess);
        EXPECT(tern_emulator_live("nccl communicator") == 0);
      });
}

CHILD_CASE("cuda emulator: nccl's ranks are threads of several processes") {
  in_processes(2, [](int process, const ncclUniqueId& id) {
    tern_emulator_set("devices=2");
    on_ranks(2, [&](int thread) {
      const int rank = 2 * process + thread;
      const ncclComm_t comm = join(4, id, rank);
      exchange_all(comm, 4, rank);
      EXPECT(ncclCommDestroy(comm) == ncclSuccess);
    });
  });
}

CHILD_CASE(
    "cuda emulator: a device comes to nccl's exchanges while its host is busy, and not before another rank is there") {
  Ends over;
  EXPECT(pipe2(over, O_CLOEXEC) == 0);
  in_processes(2, [&](int rank, const ncclUniqueId& id) {
    const ncclComm_t comm = join(2, id, rank);
    Stream stream, other;
    Array<int> x(std::vector{rank + 1});
    Pinned<int> seen(1, -1);
    Event computed(CU_EVENT_DISABLE_TIMING);
    EXPECT(cuMemsetD32Async(x, static_cast<unsigned>(rank + 2), 1, other) == CUDA_SUCCESS);
    EXPECT(cuEventRecord(computed, other) == CUDA_SUCCESS);
    EXPECT(cuStreamWaitEvent(stream, computed, 0) == CUDA_SUCCESS);
    EXPECT(ncclAllReduce(at(x), at(x), 1, ncclInt32, ncclSum, comm, stream) == ncclSuccess);
    EXPECT(cuMemcpyDtoHAsync_v2(seen.data, x, sizeof(int), stream) == CUDA_SUCCESS);
    char token = 0;
    if (rank == 0) {
      usleep(50000);
      EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
      EXPECT(write(over[1], &token, 1) == 1);
    } else {
      EXPECT(read(over[0], &token, 1) == 1);
      EXPECT(seen[0] == -1);  // what is behind the exchange is as late as ever
      EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    }
    EXPECT(seen[0] == 5);
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
  });
}

CHILD_CASE("cuda emulator: an exchange of processes ends on all ranks when it does on the last") {
  in_processes(2, [](int rank, const ncclUniqueId& id) {
    tern_emulator_set("call_ns=0,kernel_ns=2000,peer=50");
    const ncclComm_t comm = join(2, id, rank);
    Array<float> x(1000);
    const std::uint64_t before = tern_emulator_now();
    tern_emulator_advance(rank ? 6000 : 1000);
    EXPECT(ncclAllReduce(at(x), at(x), 1000, ncclFloat32, ncclSum, comm, nullptr) == ncclSuccess);
    EXPECT(cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
    EXPECT(tern_emulator_now() - before == 6000 + 2000 + 4000 / 50);
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
  });
}

CHILD_CASE(
    "cuda emulator: a rank that aborts, or whose process ends, is an error of the others, which wait until they "
    "abort") {
  for (const bool killed : {false, true})
    in_processes(3, [&](int rank, const ncclUniqueId& id) {
      const ncclComm_t comm = join(3, id, rank);
      Stream stream;
      Array<int> x(std::vector{7});
      EXPECT(ncclBroadcast(at(x), at(x), 1, ncclInt32, 0, comm, stream) == ncclSuccess);
      EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
      if (rank == 1 && killed) std::raise(SIGKILL);
      if (rank == 1) {
        EXPECT(ncclCommAbort(comm) == ncclSuccess);
        return;
      }
      const ncclResult_t called = ncclAllReduce(at(x), at(x), 1, ncclInt32, ncclSum, comm, stream);
      EXPECT(called == ncclSuccess || called == ncclRemoteError);
      int waited = -1;
      std::thread waits([&] {
        use(0);
        waited = cuStreamSynchronize(stream);
      });
      EXPECT(error_of(comm) == ncclRemoteError);
      EXPECT_REFUSED(ncclRemoteError, "has left", ncclAllReduce(at(x), at(x), 1, ncclInt32, ncclSum, comm, stream));
      EXPECT(ncclCommAbort(comm) == ncclSuccess);
      waits.join();
      EXPECT(waited == CUDA_SUCCESS);
      EXPECT(x.values()[0] == 7);
    });
}

CHILD_CASE("cuda emulator: processes that call different collectives, or lose a device, break all devices") {
  for (const bool lost : {false, true})
    in_processes(2, [&](int rank, const ncclUniqueId& id) {
      const ncclComm_t comm = join(2, id, rank);
      Array<float> x(std::vector{1.0f, 2.0f});
      EXPECT(ncclAllReduce(at(x), at(x), lost || rank ? 2 : 1, ncclFloat32, ncclSum, comm, nullptr) == ncclSuccess);
      if (lost && rank) tern_emulator_break(0, CUDA_ERROR_ILLEGAL_ADDRESS);
      EXPECT(cuCtxSynchronize() == (lost && rank ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED));
      const std::string text = lost ? "rank 1 of nccl's has lost" : "do not call the same";
      EXPECT((lost && rank) || std::string(tern_emulator_message()).find(text) != std::string::npos);
      usleep(100000);  // the other one learns of it from this process
    });
}

CHILD_CASE("cuda emulator: where a process ends before all are there, the others do not wait") {
  in_processes(3, [](int rank, const ncclUniqueId& id) {
    if (rank == 2) return;  // never comes
    if (rank == 1) alarm(1);
    ncclComm_t comm = nullptr;
    EXPECT(ncclCommInitRank(&comm, 3, id, rank) == ncclRemoteError);
    EXPECT(tern_emulator_live("nccl communicator") == 0);
  });
  Ends ids;
  EXPECT(pipe2(ids, O_CLOEXEC) == 0);
  in_processes(1, [&](int, const ncclUniqueId& id) { EXPECT(write(ids[1], &id, sizeof id) == sizeof id); });
  ncclUniqueId gone;
  EXPECT(read(ids[0], &gone, sizeof gone) == sizeof gone);
  use(0);
  ncclComm_t comm = nullptr;
  EXPECT_REFUSED(ncclInvalidArgument, "no id", ncclCommInitRank(&comm, 1, gone, 0));
  EXPECT_REFUSED(ncclInvalidUsage, "more than 128 ranks", ncclCommInitRank(&comm, 129, new_id(), 0));
}
