// The functions of segment.hpp that are not templates.
#pragma once
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "../core/clock.hpp"
#include "../core/error.hpp"
#include "segment.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    Error::fail("Communicator",
                {"the host does not give ", Index(bytes), " bytes of shared memory: ", std::strerror(errno)});
  data_ = static_cast<char*>(memory);
}

TERN_COLD std::string SharedMemory::new_name() {
  static std::atomic<Index> made;
  return tern::detail::text({"/tern-", Index(getpid()), "-", made++});
}

TERN_COLD SharedMemory::SharedMemory(const std::string& name, std::size_t bytes, bool create)
    : name_(name), bytes_(bytes) {
  const int file = shm_open(name.c_str(), O_RDWR | (create ? O_CREAT | O_EXCL : 0), 0600);
  // posix_fallocate, because a full /dev/shm would end the program at the first write.
  int error = file < 0 ? errno : create ? posix_fallocate(file, 0, off_t(bytes)) : 0;
  void* const memory = error ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!error && memory == MAP_FAILED) error = errno;
  if (file >= 0) close(file);
  if (error) {
    if (create && file >= 0) shm_unlink(name.c_str());
    Error::fail("Communicator", {"no ", Index(bytes), " bytes of memory that the ranks of this machine share, /dev/shm",
                                 name, ": ", std::strerror(error)});
  }
  data_ = static_cast<char*>(memory);
}

TERN_COLD SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

TERN_COLD void SharedMemory::unlink() const { shm_unlink(name_.c_str()); }

struct alignas(128) Segment::Seat {
  std::atomic<std::uint32_t> arrived;  // meetings
  std::atomic<std::uint32_t> waiting;  // sleepers on `arrived`
  std::atomic<std::uint32_t> left;     // nonzero: the rank will not come again
  std::atomic<std::uint32_t> failed;   // nonzero: it has given up where others go on
  std::atomic<std::int32_t> process;
  Call calls[2];

  bool has_died() const { return left.load() == 0 && kill(process, 0) != 0 && errno == ESRCH; }
};

/// Bytes on their way from one rank to another, a part at a time.
struct alignas(128) Segment::Mailbox {
  static constexpr Index bytes = 64 << 10;

  std::atomic<std::uint32_t> sent, receiver_waits;  // parts
  std::atomic<std::uint32_t> taken, sender_waits;
  std::atomic<std::uint32_t> refused;  // nonzero: the receiver expects another call, which is `call` now
  Call call;
  char part[bytes];
};

/// Where seats, mailboxes and buffers begin.
struct Segment::Layout {
  std::size_t mailboxes, buffers, end;
  explicit Layout(int seats) {
    const std::size_t n = std::size_t(seats);
    mailboxes = n * sizeof(Seat);
    buffers = (mailboxes + n * n * sizeof(Mailbox) + 4095) / 4096 * 4096;
    end = buffers + 3 * n * std::size_t(buffer_bytes);
  }
};

TERN_INLINE std::size_t Segment::bytes_for(int seats) { return Layout(seats).end; }

TERN_COLD Segment::Segment(std::shared_ptr<SharedMemory> memory, int seat, std::vector<int> ranks)
    : memory_(std::move(memory)), seats_(int(ranks.size())), seat_(seat), ranks_(std::move(ranks)) {
  seat_of(seat_).process = std::int32_t(getpid());
}

TERN_COLD Segment::~Segment() {
  Seat& mine = seat_of(seat_);
  mine.left = 1;
  syscall(SYS_futex, &mine.arrived, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

TERN_INLINE Segment::Seat& Segment::seat_of(int seat) const { return reinterpret_cast<Seat*>(memory_->data())[seat]; }

TERN_INLINE Segment::Mailbox& Segment::mailbox(int from, int to) const {
  return reinterpret_cast<Mailbox*>(memory_->data() + Layout(seats_).mailboxes)[from * seats_ + to];
}

TERN_COLD void Segment::fail_devices() const { seat_of(seat_).failed = 1; }

TERN_NOINLINE std::string Segment::lost_devices() const {
  for (int other = 0; other < seats_; ++other) {
    const Seat& seat = seat_of(other);
    if (other == seat_ || (!seat.failed.load() && !seat.has_died())) continue;
    return tern::detail::text({"rank ", ranks_[std::size_t(seat_)], "'s device waits for rank ",
                               ranks_[std::size_t(other)], ", which has ", seat.failed.load() ? "failed" : "died"});
  }
  return "";
}

TERN_INLINE char* Segment::buffer(int seat, std::uint64_t turn) const {
  return memory_->data() + Layout(seats_).buffers + (3 * std::size_t(seat) + turn % 3) * std::size_t(buffer_bytes);
}

TERN_INLINE void Segment::announce(std::atomic<std::uint32_t>& word, std::uint32_t value,
                                   std::atomic<std::uint32_t>& waiting) {
  word.store(value);
  if (waiting.load()) syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Waits until the word is at least `least`; it counts modulo 2^32.
TERN_NOINLINE void Segment::await(std::atomic<std::uint32_t>& word, std::uint32_t least,
                                  std::atomic<std::uint32_t>& waiting, int other, const char* name,
                                  double timeout) const {
  const auto come = [&] { return std::int32_t(word.load(std::memory_order_acquire) - least) >= 0; };
  for (int spin = 0; spin < 2000; ++spin) {
    if (come()) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  const Seat& seat = seat_of(other);
  const double start = tern::detail::now();
  while (!come()) {
    const bool left = seat.left.load() != 0, gone = seat.has_died();
    if (come()) return;  // it came, and left then
    const int me = ranks_[std::size_t(seat_)], it = ranks_[std::size_t(other)];
    if (left || gone) Error::fail(name, {"rank ", me, " waits for rank ", it, ", which has ", left ? "left" : "died"});
    if (tern::detail::now() - start > timeout) {
      fail_devices();  // the other may come yet, and see that this rank has been here
      Error::fail(name, {"rank ", me, " waits for rank ", it, ", which has not come within ", timeout, " s"});
    }
    ++waiting;
    const std::uint32_t seen = word.load();
    constexpr timespec at_most{0, 20'000'000};  // then it is looked whether the other lives
    if (std::int32_t(seen - least) < 0) syscall(SYS_futex, &word, FUTEX_WAIT, seen, &at_most, nullptr, 0);
    --waiting;
  }
}

TERN_NOINLINE void Segment::meet(const char* name, double timeout) {
  ++meetings_;
  Seat& mine = seat_of(seat_);
  announce(mine.arrived, meetings_, mine.waiting);
  for (int other = 0; other < seats_; ++other)
    if (other != seat_) await(seat_of(other).arrived, meetings_, seat_of(other).waiting, other, name, timeout);
}

TERN_NOINLINE void Segment::meet(const Call& mine, Call* all, double timeout) {
  const std::uint32_t turn = (meetings_ + 1) % 2;
  seat_of(seat_).calls[turn] = mine;
  meet(mine.name, timeout);
  for (int seat = 0; seat < seats_; ++seat) all[seat] = seat_of(seat).calls[turn];
}

TERN_NOINLINE void Segment::send(const Call& call, int to, const void* data, Index bytes, double timeout) {
  Mailbox& box = mailbox(seat_, to);
  const char* next = static_cast<const char*>(data);
  bool first = true;
  do {
    const Index part = std::min(bytes, Mailbox::bytes);
    if (first) box.call = call;
    if (part) std::memcpy(box.part, next, std::size_t(part));
    const std::uint32_t sent = box.sent.load() + 1;
    announce(box.sent, sent, box.receiver_waits);
    await(box.taken, sent, box.sender_waits, to, call.name, timeout);
    if (box.refused.exchange(0)) refuse_different(call, ranks_[std::size_t(seat_)], box.call, ranks_[std::size_t(to)]);
    next += part, bytes -= part, first = false;
  } while (bytes > 0);
}

TERN_NOINLINE void Segment::receive(const Call& call, int from, void* data, Index bytes, double timeout) {
  Mailbox& box = mailbox(from, seat_);
  char* next = static_cast<char*>(data);
  bool first = true;
  do {
    const std::uint32_t taken = box.taken.load() + 1;
    await(box.sent, taken, box.receiver_waits, from, call.name, timeout);
    const Call sent = box.call;
    const bool refused = first && !same(sent, call);
    if (refused) {
      box.call = call;
      box.refused = 1;
    }
    const Index part = std::min(bytes, Mailbox::bytes);
    if (part && !refused) std::memcpy(next, box.part, std::size_t(part));
    announce(box.taken, taken, box.sender_waits);
    if (refused) refuse_different(sent, ranks_[std::size_t(from)], call, ranks_[std::size_t(seat_)]);
    next += part, bytes -= part, first = false;
  } while (bytes > 0);
}

}}}  // namespace tern::distributed::detail
