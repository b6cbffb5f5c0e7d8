// What the tests of the emulated nccl share: ranks on devices of their own.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device.hpp"

namespace emulator_test {

inline void* at(CUdeviceptr p) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(p)); }

// The machine has so many devices; the context of one is current then.
inline void use(int device) {
  CUcontext context = nullptr;
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  EXPECT(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS);
  EXPECT(cuCtxSetCurrent(context) == CUDA_SUCCESS);
}

inline ncclUniqueId new_id() {
  ncclUniqueId id;
  EXPECT(ncclGetUniqueId(&id) == ncclSuccess);
  return id;
}

// f(rank) on a thread for each rank, with a device of its own. Throws what the first of them threw.
inline void on_ranks(int ranks, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        use(rank);
        f(rank);
      } catch (const std::exception& e) { errors[static_cast<std::size_t>(rank)] = e.what(); }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors)
    if (!error.empty()) throw std::runtime_error(error);
}

// A communicator of this thread's device.
inline ncclComm_t join(int ranks, const ncclUniqueId& id, int rank) {
  ncclComm_t comm = nullptr;
  EXPECT(ncclCommInitRank(&comm, ranks, id, rank) == ncclSuccess);
  return comm;
}

// Communicators of devices 0, 1, …, all of this thread.
inline std::vector<ncclComm_t> join_all(int ranks) {
  const ncclUniqueId id = new_id();
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  EXPECT(ncclGroupStart() == ncclSuccess);
  for (int rank = 0; rank < ranks; ++rank) {
    use(rank);
    EXPECT(ncclCommInitRank(&comms[static_cast<std::size_t>(rank)], ranks, id, rank) == ncclSuccess);
  }
  EXPECT(ncclGroupEnd() == ncclSuccess);
  return comms;
}

}  // namespace emulator_test
