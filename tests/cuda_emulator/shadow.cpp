#include "shadow.hpp"

namespace emulator {

namespace {

// A record: interval (40 bits), thread (10), the warp's syncs (8), and these. Most accesses are of whole words, so a
// word has one cell until a part of it is accessed: its first cell's write is then marked as split.
enum : std::uint64_t { atomic = 1, several_lanes = 2, several_warps = 4, several_blocks = 8, split = 16 };
constexpr std::size_t word = 4;

std::uint64_t interval_of(std::uint64_t record) { return record >> 24; }
unsigned thread_of(std::uint64_t record) { return record >> 14 & 1023; }

std::uint64_t record_of(const Moment& now) {
  return now.interval << 24 | std::uint64_t{now.thread} << 14 | std::uint64_t{now.warp_syncs & 255} << 6;
}

// Of two records of one interval: by lanes of one warp that have met in __syncwarp between them.
bool synced(std::uint64_t record, std::uint64_t mine) { return (record ^ mine) >> 6 & 255; }
bool same_warp(std::uint64_t record, std::uint64_t mine) { return thread_of(record) / 32 == thread_of(mine) / 32; }

// True if nothing orders the recorded access, which another thread made, before this one.
bool is_unordered(std::uint64_t record, std::uint64_t mine, const Moment& now, std::uint64_t first) {
  const std::uint64_t interval = interval_of(record);
  if (interval < first) return false;
  if (interval < now.block || record & several_blocks) return true;
  if (interval < now.interval) return false;
  if (record & several_warps || !same_warp(record, mine)) return true;
  return !synced(record, mine) && (record & several_lanes || thread_of(record) != thread_of(mine));
}

// The record of all reads that a later write could collide with.
std::uint64_t with_read(std::uint64_t record, std::uint64_t mine, const Moment& now, std::uint64_t first) {
  const std::uint64_t interval = interval_of(record), blocks = record & several_blocks;
  if (interval < first) return mine;
  if (interval < now.block) return mine | several_blocks;
  if (interval < now.interval) return mine | blocks;
  if (record & several_warps) return record;
  if (!same_warp(record, mine)) return record | several_warps;
  if (synced(record, mine)) return mine | blocks;
  return thread_of(record) == thread_of(mine) ? record : record | several_lanes;
}

Collision collision(std::uint64_t record, bool with_write, const Moment& now) {
  return {true, with_write, interval_of(record) < now.block || record & several_blocks, thread_of(record)};
}

// An access to all that one cell stands for.
Collision visit(Cell& c, std::uint64_t mine, Access access, const Moment& now, std::uint64_t first) {
  const bool both_atomic = access == Access::atomic && c.write & atomic;
  if (!both_atomic && is_unordered(c.write, mine, now, first)) return collision(c.write, true, now);
  if (access == Access::read) {
    c.read = with_read(c.read, mine, now, first);
    return {};
  }
  if (is_unordered(c.read, mine, now, first)) return collision(c.read, false, now);
  c.write = mine | (c.write & split);
  if (access == Access::atomic) c.write |= atomic;
  return {};
}

void split_word(Cell* cells) {
  if (cells->write & split) return;
  for (std::size_t i = 1; i < word; ++i) cells[i] = cells[0];
  cells->write |= split;
}

}  // namespace

Collision note_access(Cell* cells, std::size_t begin, std::size_t bytes, Access access, const Moment& now,
                      std::uint64_t first) {
  const std::uint64_t mine = record_of(now);
  for (std::size_t i = begin, end = begin + bytes; i < end;) {
    Cell* const of_word = cells + i / word * word;
    const bool whole = i % word == 0 && end - i >= word;
    if (!whole) split_word(of_word);
    const bool together = !(of_word->write & split);
    const Collision found = visit(cells[i], mine, access, now, first);
    if (found.found) return found;
    i += together ? word : 1;
  }
  return {};
}

}  // namespace emulator
