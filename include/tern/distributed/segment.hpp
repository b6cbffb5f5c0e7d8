// The memory that the ranks of one machine share: where they meet, and through which their tensors go. Ranks are
// processes or threads.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "call.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// Zeroed memory that threads, or processes of one machine, share.
class TERN_API SharedMemory {
 public:
  /// For the threads of this process. Error if the host has not so many bytes.
  explicit SharedMemory(std::size_t bytes);
  /// A name that is not in use.
  static std::string new_name();
  /// For other processes too, which give its name until this one calls unlink(). Whoever creates it gives a name that
  /// is not in use.
  SharedMemory(const std::string& name, std::size_t bytes, bool create);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  char* data() const { return data_; }
  /// Ends the name. The memory stays until the last process has unmapped it, however that ends.
  void unlink() const;

 private:
  std::string name_;
  std::size_t bytes_;
  char* data_;
};

/// A rank's view of the memory. A rank that waits sleeps after a moment, because another thread may need its core.
class TERN_API Segment {
 public:
  /// Bytes of one of a rank's three buffers: small enough for two ranks' to stay in a core's cache.
  static constexpr Index buffer_bytes = 256 << 10;

  /// Bytes of the memory of so many ranks. It must be zeroed.
  static std::size_t bytes_for(int seats);

  /// The seat is this rank's place among those that share the memory; ranks[i] is the rank in seat i.
  Segment(std::shared_ptr<SharedMemory> memory, int seat, std::vector<int> ranks);
  /// Tells the others that this rank has left.
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Waits until all ranks are here, within so many seconds. Error in the name of the collective if one has left, has
  /// died or does not come.
  void meet(const char* name, double timeout);

  /// The same, and gives the calls of all, in the order of their seats.
  void meet(const Call& mine, Call* all, double timeout);

  /// Tells the others that this rank has given up after they have met it, so their devices may wait for its.
  void fail_devices() const;
  /// Which other rank has told so, or has died; empty if none.
  std::string lost_devices() const;

  /// A rank's buffer. There are three, which collectives take in turn: one that a slow rank still reads is not written,
  /// also while the next is filled.
  char* buffer(int seat, std::uint64_t turn) const;

  /// Sends bytes to another rank of this memory, and returns when it has them, or receives them. Error on both if they
  /// do not make the same call.
  void send(const Call& call, int to, const void* data, Index bytes, double timeout);
  void receive(const Call& call, int from, void* data, Index bytes, double timeout);

 private:
  struct Seat;
  struct Mailbox;
  struct Layout;

  Seat& seat_of(int seat) const;
  Mailbox& mailbox(int from, int to) const;
  void await(std::atomic<std::uint32_t>& word, std::uint32_t least, std::atomic<std::uint32_t>& waiting, int other,
             const char* name, double timeout) const;
  static void announce(std::atomic<std::uint32_t>& word, std::uint32_t value, std::atomic<std::uint32_t>& waiting);

  std::shared_ptr<SharedMemory> memory_;
  int seats_, seat_;
  std::vector<int> ranks_;
  std::uint32_t meetings_ = 0;
};

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "segment.ipp"
#endif
