// libnccl: how ranks find each other and meet, in one process or in several. They share memory, and read and write each
// other's devices: the last rank that gets to an exchange does the work of all.
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "call.hpp"
#include "heap.hpp"
#include "nccl.hpp"
#include "settings.hpp"
#include "streams.hpp"

namespace emulator::nccl {

namespace {

using namespace abi;

constexpr char id_mark[] = "tern's emulated nccl";
constexpr std::size_t header_bytes = 4096, most_ranks = 128;
constexpr std::size_t under_way = 4096;  // exchanges of one way that have begun and are not over, at most

struct UniqueId {
  char mark[sizeof id_mark];
  int process, file;
  std::uint64_t number;
};
static_assert(sizeof(UniqueId) <= sizeof(ncclUniqueId));

enum class Presence { awaited, here, gone, aborted };

struct Seat {
  Presence presence;
  int process;
  int device, memory;  // its number in that process, and the file of its memory
};

bool has_ended(int process) { return kill(process, 0) != 0 && errno == ESRCH; }

bool is_lost(const Seat& seat) {
  return seat.presence == Presence::aborted || (seat.presence == Presence::here && has_ended(seat.process));
}

char* mapped(int file, std::size_t begin, std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, static_cast<off_t>(begin));
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// A file that another process has open.
int opened(int process, int file) {
  return open(("/proc/" + std::to_string(process) + "/fd/" + std::to_string(file)).c_str(), O_RDWR | O_CLOEXEC);
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "[cuda emulator] nccl: %s\n", what);
  std::abort();
}

}  // namespace

// The beginning of the file. What it says and what exchanges hold is read and written under the lock.
struct Header {
  std::uint64_t number;  // the id's
  pthread_mutex_t mutex;
  std::atomic<std::uint32_t> changes;
  int creator;
  int size, failure;
  Seat seats[most_ranks];

  int present() const {
    return static_cast<int>(
        std::count_if(seats, seats + size, [](const Seat& seat) { return seat.presence != Presence::awaited; }));
  }
};
static_assert(sizeof(Header) <= header_bytes);

// What follows, for each way and each of so many exchanges. Behind it are the requests of its ranks.
struct Exchange {
  std::uint64_t number;  // from 1; 0: none yet
  std::uint64_t time;    // when it ends
  std::size_t arrived;
  bool over;
  int status;  // a CUresult
  char text[216];

  Request& request(std::size_t index) { return reinterpret_cast<Request*>(this + 1)[index]; }
  void fail(int code, const std::string& why) {
    if (status) return;
    status = code;
    std::snprintf(text, sizeof text, "%s", why.c_str());
  }
};

namespace {

// A process that ends with the lock leaves what it did as it is: its ranks are lost anyway.
class Lock {
 public:
  explicit Lock(Header& header) : mutex_(header.mutex) {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

std::size_t exchange_bytes(int ranks) {
  return sizeof(Exchange) + sizeof(Request) * static_cast<std::size_t>(std::max(ranks, 2));
}

// Collectives, and transfers of each rank to each.
std::size_t bytes_of_exchanges(int ranks) {
  return (1 + static_cast<std::size_t>(ranks * ranks)) * under_way * exchange_bytes(ranks);
}

}  // namespace

Clique::Clique(int file) : file_(file), header_(reinterpret_cast<Header*>(mapped(file, 0, header_bytes))) {
  if (!header_) give_up("no memory that ranks can share");
}

Clique::Clique()
    : Clique([] {
        const int file = memfd_create("tern-emulator-nccl", MFD_CLOEXEC);
        return ftruncate(file, header_bytes) ? -1 : file;
      }()) {
  static std::uint64_t made = 0;
  header_->creator = getpid();
  header_->number = (static_cast<std::uint64_t>(getpid()) << 32) + ++made;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&header_->mutex, &attributes);
  UniqueId id{};
  std::memcpy(id.mark, id_mark, sizeof id_mark);
  id.process = getpid();
  id.file = file_;
  id.number = header_->number;
  std::memcpy(id_.internal, &id, sizeof id);
}

std::shared_ptr<Clique> Clique::of(const ncclUniqueId& id) {
  UniqueId theirs;
  std::memcpy(&theirs, id.internal, sizeof theirs);
  if (std::memcmp(theirs.mark, id_mark, sizeof id_mark)) return nullptr;
  const int file = opened(theirs.process, theirs.file);
  // Where the ranks are no more, the file may be any other.
  if (struct stat found;
      file < 0 || fstat(file, &found) || !S_ISREG(found.st_mode) || found.st_size < static_cast<off_t>(header_bytes)) {
    if (file >= 0) close(file);
    return nullptr;
  }
  std::shared_ptr<Clique> clique(new Clique(file));
  clique->id_ = id;
  return clique->header_->number == theirs.number ? clique : nullptr;
}

Clique::~Clique() {
  for (const auto& [process, memory] : memories_) munmap(memory, device_range);
  if (exchanges_) munmap(exchanges_, bytes_of_exchanges(header_->size));
  munmap(header_, header_bytes);
  if (file_ >= 0) close(file_);
}

void Clique::announce() const {
  ++header_->changes;
  syscall(SYS_futex, &header_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  state().changed.notify_all();
}

int Clique::fail_all(int code) {
  {
    const Lock lock(*header_);
    header_->failure = code;
  }
  announce();
  return code;
}

int Clique::join(ncclComm_t comm, int ranks) {
  if (static_cast<std::size_t>(ranks) > most_ranks)
    return fail_all(refuse(ncclInvalidUsage, "more than " + std::to_string(most_ranks) + " ranks are not emulated",
                           page::nccl_communicator));
  const std::size_t rank = static_cast<std::size_t>(comm->rank);
  bool differ, shared;
  {
    const Lock lock(*header_);
    Seat* const seats = header_->seats;
    differ = (header_->size && header_->size != ranks) || seats[rank].presence != Presence::awaited;
    shared = std::any_of(seats, seats + ranks, [&](const Seat& seat) {
      return seat.presence == Presence::here && seat.process == getpid() && seat.device == comm->context->ordinal;
    });
    if (!differ && !shared) {
      header_->size = ranks;
      seats[rank] = {Presence::here, getpid(), comm->context->ordinal, device_heap().file()};
    }
  }
  if (differ)
    return fail_all(
        refuse(ncclInvalidUsage, "the ranks differ in their number, or two have one rank", page::nccl_communicator));
  if (shared)
    return fail_all(refuse(ncclInvalidUsage, "two ranks on device " + std::to_string(comm->context->ordinal),
                           page::nccl_communicator));
  members_.resize(static_cast<std::size_t>(ranks));
  members_[rank] = comm;
  announce();
  return ncclSuccess;
}

// Opens the memory of the other processes' devices.
bool Clique::connect() {
  if (exchanges_) return true;
  if (ftruncate(file_, static_cast<off_t>(header_bytes + bytes_of_exchanges(header_->size)))) return false;
  for (int rank = 0; rank < header_->size; ++rank) {
    const Seat& seat = header_->seats[rank];
    if (seat.process == getpid() || memories_.count(seat.process)) continue;
    const int file = opened(seat.process, seat.memory);
    char* const memory = file < 0 ? nullptr : mapped(file, 0, device_range);
    if (file >= 0) close(file);
    if (!memory) return false;
    memories_[seat.process] = memory;
  }
  exchanges_ = mapped(file_, header_bytes, bytes_of_exchanges(header_->size));
  close(std::exchange(file_, -1));
  if (!memories_.empty()) std::thread(&Clique::serve, shared_from_this()).detach();
  return exchanges_;
}

int Clique::await() {
  for (;;) {
    {
      const Lock lock(*header_);
      if (header_->failure) return header_->failure;
      if (header_->present() == header_->size) return connect() ? ncclSuccess : ncclRemoteError;
      const bool alone =
          has_ended(header_->creator) || std::any_of(header_->seats, header_->seats + header_->size, is_lost);
      if (alone) return header_->failure = ncclRemoteError;
    }
    state().changed.wait_for(*current_lock(), std::chrono::milliseconds(1));  // other processes do not tell
  }
}

void Clique::leave(ncclComm_t comm, bool aborted) {
  {
    const Lock lock(*header_);
    header_->seats[comm->rank].presence = aborted ? Presence::aborted : Presence::gone;
  }
  members_[static_cast<std::size_t>(comm->rank)] = nullptr;
  announce();
}

bool Clique::is_deserted() const {
  return header_->present() == header_->size &&
         std::all_of(members_.begin(), members_.end(), [](const ncclComm* member) { return !member; });
}

bool Clique::misses_one(int rank) const {
  const Lock lock(*header_);
  for (int other = 0; other < header_->size; ++other)
    if (other != rank && is_lost(header_->seats[other])) return true;
  return false;
}

std::vector<int> Clique::devices_beside(const Request& request) const {
  std::vector<int> devices;
  for (int rank = 0; rank < header_->size; ++rank)
    if (rank != request.rank && header_->seats[rank].process == getpid() &&
        (!request.is_transfer() || rank == request.peer))
      devices.push_back(header_->seats[rank].device);
  return devices;
}

char* Clique::view(const Request& request, const void* pointer) const {
  const auto known = memories_.find(header_->seats[request.rank].process);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return !pointer                   ? nullptr
         : known == memories_.end() ? device_heap().view(address)
                                    : known->second + (address - device_base);
}

Exchange& Clique::exchange_of(const Part& part) const {
  const auto [from, to] = part.way;
  const std::size_t way = from < 0 ? 0 : 1 + static_cast<std::size_t>(from * header_->size + to);
  return *reinterpret_cast<Exchange*>(exchanges_ +
                                      (way * under_way + part.number % under_way) * exchange_bytes(header_->size));
}

// What is queued here and not over.
std::vector<std::shared_ptr<Part>> Clique::parts() const {
  std::vector<std::shared_ptr<Part>> all;
  for (const ncclComm* member : members_)
    if (member && is_live(member)) all.insert(all.end(), member->parts.begin(), member->parts.end());
  return all;
}

void Clique::queued(const Part& part) {
  std::vector<Stream*> streams;
  std::uint64_t time = 0;
  for (const std::shared_ptr<Part>& other : parts())
    if (other->way == part.way && other->number == part.number)
      streams.push_back(other->request.stream), time = std::max(time, other->time);
  if (streams.size() == part.expected())
    for (Stream* stream : streams) stream->time = std::max(stream->time, time);
  announce();
}

void Clique::arrive(Part& part, int error) {
  if (part.arrived) return;
  part.arrived = true;
  {
    const Lock lock(*header_);
    Exchange& exchange = exchange_of(part);
    if (exchange.number != part.number) {
      if (exchange.number && !exchange.over) give_up("too many exchanges are under way");
      exchange = {};
      exchange.number = part.number;
    }
    exchange.request(part.index()) = part.request;
    exchange.time = std::max(exchange.time, part.time);
    if (error) exchange.fail(error, part.text);
    if (++exchange.arrived < part.expected()) return announce();
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < part.expected(); ++i) {
      const Request& r = exchange.request(i);
      if (header_->seats[r.rank].presence == Presence::aborted) return;
      operands.push_back({r, view(r, r.send), view(r, r.receive)});
    }
    if (const std::string wrong = difference(operands); !wrong.empty()) exchange.fail(CUDA_ERROR_LAUNCH_FAILED, wrong);
    if (!exchange.status) carry_out(operands);
    exchange.over = true;
  }
  announce();
}

bool Clique::is_over(Part& part) const {
  if (part.over || !part.arrived) return part.over;
  const Lock lock(*header_);
  const Exchange& exchange = exchange_of(part);
  part.over = exchange.number > part.number || exchange.over;
  if (part.over && exchange.number == part.number)
    part.status = exchange.status, part.text = exchange.text, part.time = exchange.time;
  return part.over;
}

void Clique::hasten(const Part& part) const {
  for (const std::shared_ptr<Part>& other : parts())
    if (other->way == part.way && other->number == part.number && !other->arrived)
      pursue(*other->request.stream, other->place + 1);
}

bool Clique::is_awaited(const Part& part) const {
  const Lock lock(*header_);
  const Exchange& exchange = exchange_of(part);
  return !part.arrived && exchange.number == part.number && exchange.arrived;
}

// Gets the ranks of this process to where those of others are. False if there is none any more.
bool Clique::get_on() {
  for (const std::shared_ptr<Part>& part : parts())
    if (is_awaited(*part)) pursue(*part->request.stream, part->place + 1);
  state().changed.notify_all();  // who waits looks again
  return std::any_of(members_.begin(), members_.end(),
                     [](const ncclComm* member) { return member && is_live(member); });
}

// A thread that does what a device does while its host is busy.
void Clique::serve(const std::shared_ptr<Clique>& clique) {
  for (;;) {
    const std::uint32_t seen = clique->header_->changes;
    {
      std::unique_lock lock(state().mutex);
      current_lock() = &lock;
      if (!clique->get_on()) return;
    }
    constexpr timespec at_most{1, 0};
    syscall(SYS_futex, &clique->header_->changes, FUTEX_WAIT, seen, &at_most, nullptr, 0);
  }
}

}  // namespace emulator::nccl
