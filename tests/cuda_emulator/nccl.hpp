// What nccl's handles point to, and what its ranks do together.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi.hpp"
#include "state.hpp"

namespace emulator::nccl {

enum class Kind { all_reduce, broadcast, all_gather, reduce_scatter, send, receive };

/// One rank's call.
struct Request {
  Kind kind;
  const void* send;
  void* receive;
  std::size_t count;
  int type;
  int op;    // of reductions
  int peer;  // the root of a broadcast, the other rank of a transfer
  abi::ncclComm_t comm;
  Stream* stream = nullptr;
  int rank = 0, ranks = 0;

  std::size_t send_bytes() const;
  std::size_t receive_bytes() const;
};

/// What some ranks do together: a collective of all, or a transfer of two.
struct Exchange {
  Meeting meeting;
  std::vector<Request> requests;
  std::string wrong;  // how the ranks' calls differ; empty: they do not
};

/// The ranks of one unique id.
struct Clique {
  int size = 0;
  std::vector<abi::ncclComm_t> members;  // by rank; null: not there yet, or no more
  int joined = 0;
  int failure = 0;  // that ends the initialisation of all
  std::map<std::uint64_t, std::shared_ptr<Exchange>> collectives;                // that some ranks have yet to call, by number
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Exchange>>> half[2];  // transfers from, to: sent, received only
};

/// Bytes of an element; 0 for a type that does not exist or is not emulated.
std::size_t element_bytes(int type);

/// Moves or joins the elements of all requests. Returns a CUresult.
int carry_out(const Exchange& exchange);

/// Queues the requests of one call, or of one group of calls, of this thread. Returns an ncclResult_t.
int submit(const std::vector<Request>& requests);

/// The thread's group of calls.
struct Group {
  int depth = 0;
  int failure = 0;
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Clique>> initialisations;
};
Group& group();

/// Waits until all ranks are there. Returns an ncclResult_t.
int await(const Clique& clique);

}  // namespace emulator::nccl

namespace abi {

struct ncclComm {
  std::shared_ptr<emulator::nccl::Clique> clique;
  int rank = 0;
  emulator::Context* context = nullptr;
  int failure = 0;          // what ncclCommGetAsyncError gives
  std::uint64_t calls = 0;  // of collectives
  std::vector<std::shared_ptr<emulator::nccl::Exchange>> exchanges;  // that it takes part in and are not done
};

}  // namespace abi
