// The emulated nccl: collectives of several devices, on threads and in groups; what it refuses.
#include "nccl.hpp"

#include <cmath>

#include "../small_floats.hpp"

using namespace emulator_test;

namespace {

template <class T>
std::vector<T> numbers(int rank, std::size_t n) {
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>((i * 5 + static_cast<std::size_t>(rank) * 3) % 7 + 1);
  return v;
}

// Σ, Π, max, min and mean of the ranks' numbers.
template <class T>
T expected(int ranks, std::size_t i, std::size_t n, int op) {
  double sum = static_cast<double>(numbers<T>(0, n)[i]);
  for (int rank = 1; rank < ranks; ++rank) {
    const double x = static_cast<double>(numbers<T>(rank, n)[i]);
    sum = op == ncclProd ? sum * x : op == ncclMax ? std::max(sum, x) : op == ncclMin ? std::min(sum, x) : sum + x;
  }
  return static_cast<T>(op == ncclAvg ? sum / ranks : sum);
}

template <class T>
void reduce_all(int type) {
  constexpr std::size_t n = 33;
  const ncclUniqueId id = new_id();
  on_ranks(3, [&](int rank) {
    const ncclComm_t comm = join(3, id, rank);
    Stream stream;
    for (const int op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      Array<T> x(numbers<T>(rank, n)), y(n);
      EXPECT(ncclAllReduce(at(x), at(y), n, type, op, comm, stream) == ncclSuccess);
      EXPECT(ncclAllReduce(at(x), at(x), n, type, op, comm, stream) == ncclSuccess);  // in place
      EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
      const std::vector<T> apart = y.values(), in_place = x.values();
      for (std::size_t i = 0; i < n; ++i) {
        const double want = static_cast<double>(expected<T>(3, i, n, op));
        EXPECT(std::abs(static_cast<double>(apart[i]) - want) <= 1e-6 * want);
        EXPECT(apart[i] == in_place[i]);
      }
    }
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
  });
}

}  // namespace

CHILD_CASE("cuda emulator: nccl reduces every type") {
  tern_emulator_set("devices=3");
  reduce_all<std::int8_t>(ncclInt8);
  reduce_all<std::uint8_t>(ncclUint8);
  reduce_all<std::int32_t>(ncclInt32);
  reduce_all<std::uint32_t>(ncclUint32);
  reduce_all<std::int64_t>(ncclInt64);
  reduce_all<std::uint64_t>(ncclUint64);
  reduce_all<float>(ncclFloat32);
  reduce_all<double>(ncclFloat64);
  EXPECT(tern_emulator_live("nccl communicator") == 0);
}

CHILD_CASE("cuda emulator: nccl rounds sums of 16-bit numbers at each step") {
  tern_emulator_set("devices=2");
  const ncclUniqueId id = new_id();
  on_ranks(2, [&](int rank) {
    const ncclComm_t comm = join(2, id, rank);
    const float x = rank ? 0x1p-4f : 513;
    Array<std::uint16_t> half(std::vector{emulator::float_to_half(x)}),
        bfloat(std::vector{emulator::float_to_bfloat16(rank ? 3.0f : 256.0f)});
    EXPECT(ncclAllReduce(at(half), at(half), 1, ncclFloat16, ncclSum, comm, nullptr) == ncclSuccess);
    EXPECT(ncclAllReduce(at(bfloat), at(bfloat), 1, ncclBfloat16, ncclSum, comm, nullptr) == ncclSuccess);
    EXPECT(emulator::half_to_float(half.values()[0]) == 513);
    EXPECT(emulator::bfloat16_to_float(bfloat.values()[0]) == 260);
    ncclCommDestroy(comm);
  });
}

CHILD_CASE("cuda emulator: nccl gathers, scatters and broadcasts, in place or not") {
  tern_emulator_set("devices=4");
  constexpr std::size_t n = 5;
  const ncclUniqueId id = new_id();
  on_ranks(4, [&](int rank) {
    const ncclComm_t comm = join(4, id, rank);
    const std::size_t part = static_cast<std::size_t>(rank) * n;
    Stream stream;
    std::vector<int> all;
    for (int r = 0; r < 4; ++r)
      for (const int x : numbers<int>(r, n)) all.push_back(x);

    Array<int> x(numbers<int>(rank, n)), y(4 * n), z(4 * n);
    EXPECT(cuMemcpyDtoDAsync_v2(z + part * sizeof(int), x, n * sizeof(int), stream) == CUDA_SUCCESS);
    EXPECT(ncclAllGather(at(x), at(y), n, ncclInt32, comm, stream) == ncclSuccess);
    EXPECT(ncclAllGather(at(z + part * sizeof(int)), at(z), n, ncclInt32, comm, stream) == ncclSuccess);
    EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    EXPECT(y.values() == all);
    EXPECT(z.values() == all);

    Array<int> wide(numbers<int>(rank, 4 * n)), mine(n);
    EXPECT(ncclReduceScatter(at(wide), at(mine), n, ncclInt32, ncclSum, comm, stream) == ncclSuccess);
    EXPECT(ncclReduceScatter(at(wide), at(wide + part * sizeof(int)), n, ncclInt32, ncclSum, comm, stream) ==
           ncclSuccess);
    EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    const std::vector<int> apart = mine.values(), in_place = wide.values();
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT(apart[i] == expected<int>(4, part + i, 4 * n, ncclSum));
      EXPECT(in_place[part + i] == apart[i]);
    }

    Array<int> b(numbers<int>(rank, n));
    EXPECT(ncclBroadcast(rank == 2 ? at(b) : nullptr, at(b), n, ncclInt32, 2, comm, stream) == ncclSuccess);
    EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    EXPECT(b.values() == numbers<int>(2, n));
    EXPECT(ncclAllReduce(nullptr, nullptr, 0, ncclInt32, ncclSum, comm, stream) == ncclSuccess);  // of nothing
    ncclCommDestroy(comm);
  });
}

CHILD_CASE("cuda emulator: nccl's transfers of a group go on together") {
  tern_emulator_set("devices=3");
  const ncclUniqueId id = new_id();
  on_ranks(3, [&](int rank) {
    const ncclComm_t comm = join(3, id, rank);
    Stream stream;
    Array<int> x(numbers<int>(rank, 6)), y(6);
    EXPECT(ncclGroupStart() == ncclSuccess);
    for (int other = 0; other < 3; ++other) {
      const std::size_t offset = static_cast<std::size_t>(other) * 2 * sizeof(int);
      EXPECT(ncclSend(at(x + offset), 2, ncclInt32, other, comm, stream) == ncclSuccess);
      EXPECT(ncclRecv(at(y + offset), 2, ncclInt32, other, comm, stream) == ncclSuccess);
    }
    EXPECT(ncclGroupEnd() == ncclSuccess);
    EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    const std::vector<int> got = y.values();
    for (int other = 0; other < 3; ++other)
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT(got[static_cast<std::size_t>(other) * 2 + i] ==
               numbers<int>(other, 6)[static_cast<std::size_t>(rank) * 2 + i]);
    ncclCommDestroy(comm);
  });
}

CHILD_CASE("cuda emulator: one thread drives the devices of a group, in any order") {
  for (const char* order : {"order=late", "order=eager", "order=random:3"}) {
    tern_emulator_set("devices=2");
    tern_emulator_set(order);
    const std::vector<ncclComm_t> comms = join_all(2);
    Array<float> b(std::vector{10.0f});
    Stream second;
    use(0);
    Array<float> a(std::vector{1.0f});
    Stream first;
    EXPECT(ncclGroupStart() == ncclSuccess);
    EXPECT(ncclAllReduce(at(a), at(a), 1, ncclFloat32, ncclSum, comms[0], first) == ncclSuccess);
    EXPECT(ncclAllReduce(at(b), at(b), 1, ncclFloat32, ncclSum, comms[1], second) == ncclSuccess);
    EXPECT(ncclGroupEnd() == ncclSuccess);
    EXPECT(cuStreamSynchronize(first) == CUDA_SUCCESS);
    EXPECT(a.values()[0] == 11);
    EXPECT(b.values()[0] == 11);
    for (const ncclComm_t comm : comms) EXPECT(ncclCommDestroy(comm) == ncclSuccess);
  }
}

CHILD_CASE("cuda emulator: a collective is late, and waits for all ranks and what is before it on their streams") {
  tern_emulator_set("devices=2");
  const std::vector<ncclComm_t> comms = join_all(2);
  Array<float> b(std::vector{0.0f});
  Stream second;
  use(0);
  Array<float> a(std::vector{1.0f});
  Stream first;
  EXPECT(ncclAllReduce(at(a), at(a), 1, ncclFloat32, ncclSum, comms[0], first) == ncclSuccess);
  for (int i = 0; i < 3; ++i) EXPECT(cuStreamQuery(first) == CUDA_ERROR_NOT_READY);  // the other rank has not called
  EXPECT(cuMemsetD32Async(b, 0x40000000, 1, second) == CUDA_SUCCESS);                // 2.0f, on the other's stream
  EXPECT(ncclAllReduce(at(b), at(b), 1, ncclFloat32, ncclSum, comms[1], second) == ncclSuccess);
  Pinned<float> seen(1);
  EXPECT(cuMemcpyDtoHAsync_v2(seen.data, a, sizeof(float), first) == CUDA_SUCCESS);
  EXPECT(std::isnan(seen[0]));
  EXPECT(cuStreamSynchronize(first) == CUDA_SUCCESS);
  EXPECT(seen[0] == 3);
}

CHILD_CASE("cuda emulator: a wait ends when the last rank calls") {
  tern_emulator_set("devices=2");
  const ncclUniqueId id = new_id();
  on_ranks(2, [&](int rank) {
    const ncclComm_t comm = join(2, id, rank);
    Array<int> x(std::vector{rank + 1});
    if (rank) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT(ncclAllReduce(at(x), at(x), 1, ncclInt32, ncclSum, comm, nullptr) == ncclSuccess);
    EXPECT(x.values()[0] == 3);
    ncclCommDestroy(comm);
  });
}

CHILD_CASE("cuda emulator: an abort frees the rank that waits, and the others learn of it") {
  tern_emulator_set("devices=2");
  const std::vector<ncclComm_t> comms = join_all(2);
  use(0);
  Array<int> x(std::vector{7});
  Stream stream;
  EXPECT(ncclAllReduce(at(x), at(x), 1, ncclInt32, ncclSum, comms[0], stream) == ncclSuccess);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ncclCommAbort(comms[0]);
  });
  EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  other.join();
  EXPECT(x.values()[0] == 7);
  ncclResult_t error = ncclSuccess;
  EXPECT(ncclCommGetAsyncError(comms[1], &error) == ncclSuccess);
  EXPECT(error == ncclRemoteError);
  EXPECT_REFUSED(ncclRemoteError, "has left", ncclAllReduce(at(x), at(x), 1, ncclInt32, ncclSum, comms[1], nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "no such communicator", ncclCommAbort(comms[0]));
  EXPECT(ncclCommAbort(comms[1]) == ncclSuccess);
}

CHILD_CASE("cuda emulator: ranks that call different collectives break their devices") {
  tern_emulator_set("devices=2");
  const std::vector<ncclComm_t> comms = join_all(2);
  Array<float> b(std::vector{1.0f, 2.0f});
  use(0);
  Array<float> a(std::vector{1.0f, 2.0f});
  EXPECT(ncclAllReduce(at(a), at(a), 2, ncclFloat32, ncclSum, comms[0], nullptr) == ncclSuccess);
  EXPECT(ncclAllReduce(at(b), at(b), 1, ncclFloat32, ncclSum, comms[1], nullptr) == ncclSuccess);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(std::string(tern_emulator_message()).find("do not call the same: rank 0: ncclAllReduce of 2") !=
         std::string::npos);
}

CHILD_CASE("cuda emulator: a rank whose device is lost takes the others along") {
  tern_emulator_set("devices=2");
  const std::vector<ncclComm_t> comms = join_all(2);
  Array<float> b(std::vector{1.0f});
  use(0);
  Array<float> a(std::vector{1.0f});
  EXPECT(ncclAllReduce(at(a), at(a), 1, ncclFloat32, ncclSum, comms[0], nullptr) == ncclSuccess);
  EXPECT(ncclAllReduce(at(b), at(b), 1, ncclFloat32, ncclSum, comms[1], nullptr) == ncclSuccess);
  tern_emulator_break(1, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
  EXPECT(std::string(tern_emulator_message()).find("has lost its device") != std::string::npos);
  EXPECT(ncclAllReduce(at(a), at(a), 1, ncclFloat32, ncclSum, comms[0], nullptr) == ncclUnhandledCudaError);
}

CHILD_CASE("cuda emulator: nccl's ranks reach the driver's pool only where it is open to them") {
  for (const bool open : {true, false}) {
    tern_emulator_reset();
    tern_emulator_set("devices=2");
    const std::vector<ncclComm_t> comms = join_all(2);
    CUdeviceptr memory[2];
    for (int device = 0; device < 2; ++device) {
      use(device);
      CUmemoryPool pool = nullptr;
      EXPECT(cuDeviceGetDefaultMemPool(&pool, device) == CUDA_SUCCESS);
      const CUmemAccessDesc other{{1, 1 - device}, 3};
      if (open) EXPECT(cuMemPoolSetAccess(pool, &other, 1) == CUDA_SUCCESS);
      EXPECT(cuMemAllocAsync(&memory[device], 4, nullptr) == CUDA_SUCCESS);
    }
    for (int rank = 0; rank < 2; ++rank)
      EXPECT(ncclAllReduce(at(memory[rank]), at(memory[rank]), 1, ncclFloat32, ncclSum,
                           comms[static_cast<std::size_t>(rank)], nullptr) == ncclSuccess);
    EXPECT(cuCtxSynchronize() == (open ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS));
  }
  EXPECT(std::string(tern_emulator_message()).find("is not open to the device") != std::string::npos);
}

CHILD_CASE("cuda emulator: nccl refuses what its documentation forbids") {
  tern_emulator_set("devices=2");
  const std::vector<ncclComm_t> comms = join_all(2);
  Stream of_second;
  Array<float> b(8);
  use(0);
  Array<float> a(8);
  const ncclComm_t c = comms[0];
  const auto reduce = [&](std::uintptr_t in, std::uintptr_t out, std::size_t n, int type, int op, CUstream stream) {
    return ncclAllReduce(reinterpret_cast<void*>(in), reinterpret_cast<void*>(out), n, type, op, c, stream);
  };
  EXPECT_REFUSED(ncclInvalidArgument, "no such communicator",
                 ncclAllReduce(at(a), at(a), 1, ncclFloat32, ncclSum, nullptr, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "element type", reduce(a, a, 1, 99, ncclSum, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "no such reduction", reduce(a, a, 1, ncclFloat32, 5, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "none of 2", ncclBroadcast(at(a), at(a), 1, ncclFloat32, 2, c, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "none of 2", ncclSend(at(a), 1, ncclFloat32, -1, c, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "no stream", reduce(a, a, 1, ncclFloat32, ncclSum, of_second));
  EXPECT_REFUSED(ncclInvalidArgument, "not inside one allocation", reduce(a, a, 9, ncclFloat32, ncclSum, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "communicator's device", reduce(b, b, 1, ncclFloat32, ncclSum, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "communicator's device", reduce(a, b, 1, ncclFloat32, ncclSum, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "overlaps", reduce(a, a + 4, 2, ncclFloat32, ncclSum, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "overlaps", ncclAllGather(at(a + 4), at(a), 2, ncclFloat32, c, nullptr));
  EXPECT_REFUSED(ncclInvalidUsage, "no group", ncclGroupEnd());
  EXPECT(ncclGroupStart() == ncclSuccess);
  EXPECT(reduce(a, a, 1, 99, ncclSum, nullptr) == ncclInvalidArgument);
  EXPECT_REFUSED(ncclInvalidArgument, "none of it", ncclGroupEnd());
  Stream captured;
  EXPECT(cuStreamBeginCapture_v2(captured, 2) == CUDA_SUCCESS);
  EXPECT_REFUSED(ncclInvalidUsage, "captured", reduce(a, a, 1, ncclFloat32, ncclSum, captured));
  EXPECT_REFUSED(ncclInvalidArgument, "no place", ncclGetVersion(nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "no place", ncclGetUniqueId(nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "no such communicator", ncclCommGetAsyncError(c, nullptr));
  EXPECT_REFUSED(ncclInvalidArgument, "no such communicator", ncclCommDestroy(nullptr));
  int version = 0;
  EXPECT(ncclGetVersion(&version) == ncclSuccess);
  EXPECT(version == 22703);
}

CHILD_CASE("cuda emulator: nccl refuses ranks that cannot be a communicator") {
  tern_emulator_set("devices=2");
  ncclComm_t comm = nullptr;
  const ncclUniqueId id = new_id();
  EXPECT_REFUSED(ncclUnhandledCudaError, "no device", ncclCommInitRank(&comm, 1, id, 0));
  use(0);
  EXPECT_REFUSED(ncclInvalidArgument, "no id", ncclCommInitRank(&comm, 1, {}, 0));
  EXPECT_REFUSED(ncclInvalidArgument, "none of 2", ncclCommInitRank(&comm, 2, id, 2));
  EXPECT(ncclGroupStart() == ncclSuccess);
  EXPECT(ncclCommInitRank(&comm, 2, id, 0) == ncclSuccess);
  EXPECT_REFUSED(ncclInvalidUsage, "two ranks on device 0", ncclCommInitRank(&comm, 2, id, 1));
  EXPECT(ncclGroupEnd() == ncclInvalidUsage);
  const ncclUniqueId second = new_id();
  EXPECT(ncclGroupStart() == ncclSuccess);
  EXPECT(ncclCommInitRank(&comm, 2, second, 0) == ncclSuccess);
  EXPECT_REFUSED(ncclInvalidUsage, "two have one rank", ncclCommInitRank(&comm, 2, second, 0));
  EXPECT(ncclGroupEnd() == ncclInvalidUsage);
}

CHILD_CASE("cuda emulator: where a rank fails to join, the others do not wait") {
  tern_emulator_set("devices=2");
  const ncclUniqueId id = new_id();
  tern_emulator_fail("ncclCommInitRank", 2, ncclSystemError);
  int statuses[2];
  on_ranks(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    statuses[rank] = ncclCommInitRank(&comm, 2, id, rank);
  });
  EXPECT(statuses[0] + statuses[1] == ncclSystemError + ncclRemoteError);
  EXPECT(tern_emulator_live("nccl communicator") == 0);
}

CHILD_CASE("cuda emulator: nccl's calls take their time, and end together") {
  tern_emulator_set("devices=2,peer=50,kernel_ns=2000");
  const std::vector<ncclComm_t> comms = join_all(2);
  constexpr std::size_t n = 1 << 20;
  Array<float> b(n);
  Stream second;
  use(0);
  Array<float> a(n);
  Stream first;
  const std::uint64_t before = tern_emulator_now();
  tern_emulator_set("call_ns=0");
  tern_emulator_advance(1000);
  EXPECT(ncclAllReduce(at(a), at(a), n, ncclFloat32, ncclSum, comms[0], first) == ncclSuccess);
  tern_emulator_advance(5000);
  EXPECT(ncclAllReduce(at(b), at(b), n, ncclFloat32, ncclSum, comms[1], second) == ncclSuccess);
  EXPECT(cuStreamSynchronize(first) == CUDA_SUCCESS);
  // The last rank calls after 6,000 ns; each sends 2 (2 - 1) / 2 of 4 MiB at 50 bytes/ns.
  EXPECT(tern_emulator_now() - before == 6000 + 2000 + (std::uint64_t{4} * n + 49) / 50);
}
