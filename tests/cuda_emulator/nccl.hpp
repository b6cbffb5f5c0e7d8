// What nccl's handles point to, and what its ranks do together, in one process or in several of a machine.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi.hpp"
#include "state.hpp"

namespace emulator::nccl {

enum class Kind { all_reduce, broadcast, all_gather, reduce_scatter, send, receive };

/// One rank's call. Other ranks see it as it is; communicator and stream mean something in its own process only.
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

  bool is_transfer() const { return kind == Kind::send || kind == Kind::receive; }
  std::size_t send_bytes() const;
  std::size_t receive_bytes() const;
};

/// From which rank to which a transfer goes; -1 of a collective.
using Way = std::pair<int, int>;

/// One rank's part of an exchange, which is a collective of all or a transfer of two. The nth call of a way is every
/// rank's nth.
struct Part {
  Request request;
  Way way;
  std::uint64_t number = 0;  // from 1
  std::uint64_t place = 0;   // the operations of its stream before it
  std::uint64_t time = 0;    // when it ends in the time model, for all that its process knows
  bool arrived = false, over = false;
  int status = 0;    // a CUresult, of all ranks
  std::string text;  // that explains it

  std::size_t expected() const { return request.is_transfer() ? 2 : static_cast<std::size_t>(request.ranks); }
  /// Which of these this one is.
  std::size_t index() const {
    return static_cast<std::size_t>(request.is_transfer() ? request.kind == Kind::receive : request.rank);
  }
};

struct Header;
struct Exchange;

/// The ranks of one unique id, as this process sees them. What they know of each other is in a file without a name,
/// which ends with the last process that has it open, however that ends.
class Clique : public std::enable_shared_from_this<Clique> {
 public:
  /// New ones.
  Clique();
  /// Those that another process has made. Null for bytes that are no id of a process that has it open.
  static std::shared_ptr<Clique> of(const abi::ncclUniqueId& id);
  ~Clique();
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;

  const abi::ncclUniqueId& id() const { return id_; }
  int ranks() const { return static_cast<int>(members_.size()); }

  /// A rank of this process takes its seat. Returns an ncclResult_t, which is that of all ranks if it is not success.
  int join(abi::ncclComm_t comm, int ranks);
  /// Waits until all ranks are there. Returns an ncclResult_t.
  int await();
  /// Ends the initialisation of all ranks. Returns the code.
  int fail_all(int code);
  /// The rank, of this process, is no more: aborted, or destroyed.
  void leave(abi::ncclComm_t comm, bool aborted);
  /// All ranks have been there, and none of this process is any more.
  bool is_deserted() const;
  /// Another rank has been aborted, or its process has ended.
  bool misses_one(int rank) const;
  /// Those of this process with which a request's device is brought together.
  std::vector<int> devices_beside(const Request& request) const;

  /// The part is in its stream's queue. What ends when the last rank does has its time now, if this process has them
  /// all.
  void queued(const Part& part);
  /// The part's stream has got there: with an error, where its device is lost. The last rank does the work of all.
  void arrive(Part& part, int error);
  bool is_over(Part& part) const;
  /// Gets other ranks of this process there, as far as nothing has to be waited for.
  void hasten(const Part& part) const;

 private:
  explicit Clique(int file);

  bool connect();
  char* view(const Request& request, const void* pointer) const;
  Exchange& exchange_of(const Part& part) const;
  std::vector<std::shared_ptr<Part>> parts() const;
  void announce() const;
  bool is_awaited(const Part& part) const;
  bool get_on();
  static void serve(const std::shared_ptr<Clique>& clique);

  abi::ncclUniqueId id_{};
  int file_;
  Header* header_;
  char* exchanges_ = nullptr;             // mapped when the number of ranks is known
  std::vector<abi::ncclComm_t> members_;  // of this process, by rank
  std::map<int, char*> memories_;         // by process: of the devices of the others
};

/// Bytes of an element; 0 for a type that does not exist or is not emulated.
std::size_t element_bytes(int type);

/// What a rank gives to an exchange, and where it gets what.
struct Operand {
  Request request;
  const char* send;
  char* receive;
};

/// Moves or joins the elements of all ranks.
void carry_out(const std::vector<Operand>& operands);

/// How the ranks' calls differ; empty: they do not.
std::string difference(const std::vector<Operand>& operands);

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

}  // namespace emulator::nccl

namespace abi {

struct ncclComm {
  std::shared_ptr<emulator::nccl::Clique> clique;
  int rank = 0;
  emulator::Context* context = nullptr;
  std::map<std::pair<emulator::nccl::Way, bool>, std::uint64_t>
      calls;                                                 // by way; of transfers those that send, and the others
  std::vector<std::shared_ptr<emulator::nccl::Part>> parts;  // that are queued and not over
};

}  // namespace abi
