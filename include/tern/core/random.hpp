// Counter-based random numbers. The n-th number of a seed can be calculated without those before it, so a seed gives
// the same numbers on every device and with any number of threads.
#pragma once
#include <atomic>
#include <cstdint>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// Four random 32-bit words.
struct RandomWords {
  std::uint32_t word[4];
};

/// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
constexpr RandomWords philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  std::uint32_t c0 = std::uint32_t(counter), c1 = std::uint32_t(counter >> 32);
  std::uint32_t c2 = std::uint32_t(stream), c3 = std::uint32_t(stream >> 32);
  std::uint32_t k0 = std::uint32_t(seed), k1 = std::uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t(0xD2511F53u) * c0, p1 = std::uint64_t(0xCD9E8D57u) * c2;
    c0 = std::uint32_t(p1 >> 32) ^ c1 ^ k0;
    c1 = std::uint32_t(p1);
    c2 = std::uint32_t(p0 >> 32) ^ c3 ^ k1;
    c3 = std::uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// 24 random bits as a number in [0, 1).
constexpr float unit_float(std::uint32_t word) { return float(word >> 8) * 0x1p-24f; }
/// 53 random bits as a number in [0, 1).
constexpr double unit_double(std::uint32_t high, std::uint32_t low) {
  return double((std::uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}
}  // namespace detail

/// The state of the program's random numbers. Each random operation takes one stream.
struct RandomState {
  std::uint64_t seed;
  std::uint64_t stream;
};

namespace detail {
extern TERN_API constinit std::atomic<std::uint64_t> random_seed, random_stream, random_rank;
}

/// Seeds the random numbers and starts at stream 0.
inline void manual_seed(std::uint64_t seed) {
  detail::random_seed = seed;
  detail::random_stream = 0;
}
inline RandomState random_state() { return {detail::random_seed, detail::random_stream}; }
inline void set_random_state(RandomState state) {
  detail::random_seed = state.seed;
  detail::random_stream = state.stream;
}

namespace detail {
/// What this thread draws from. Null: the program's random numbers.
extern TERN_API constinit thread_local RandomState* own_random;

/// While alive, this thread draws from a state of its own, and the program's stays as it is.
class OwnRandomScope {
 public:
  explicit OwnRandomScope(RandomState state) : state_(state), first_(state.stream), outer_(own_random) {
    own_random = &state_;
  }
  ~OwnRandomScope() { own_random = outer_; }
  OwnRandomScope(const OwnRandomScope&) = delete;
  OwnRandomScope& operator=(const OwnRandomScope&) = delete;

  bool has_drawn() const { return state_.stream != first_; }

 private:
  RandomState state_;
  std::uint64_t first_;
  RandomState* outer_;
};

/// The seed, and a stream number that no other operation gets.
inline RandomState next_random() {
  if (own_random) [[unlikely]]
    return {own_random->seed, own_random->stream++};
  return {detail::random_seed, detail::random_stream.fetch_add(1) + detail::random_rank};
}
constexpr std::uint64_t seed_of(const RandomWords& words) { return std::uint64_t(words.word[0]) << 32 | words.word[1]; }
/// A seed drawn from the program's random numbers, for what draws many of its own. It is the same on all ranks that
/// have drawn as often.
inline std::uint64_t next_seed() {
  if (own_random) [[unlikely]]
    return seed_of(philox(own_random->seed, own_random->stream++, 0));
  return seed_of(philox(random_seed, random_stream.fetch_add(1), 0));
}
/// A seed that depends on the program's random state and leaves it as it is.
inline std::uint64_t peeked_seed() { return seed_of(philox(random_seed, random_stream, 1)); }
/// From here on this process draws from streams of its own among processes that have the same seed. random_state()
/// stays the same on all.
inline void set_random_rank(int rank) { detail::random_rank = std::uint64_t(rank) << 40; }
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "random.ipp"
#endif
