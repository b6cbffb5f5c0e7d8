// The tile instructions of backend/cpu/matmul/tile_matmul.ipp in plain C++, for processors without AMX and for the
// sanitizers, which see no memory that an instruction touches. Included before the library's headers.
#pragma once
#define TERN_EMULATED_TILES
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tern/core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::matmul_detail {

struct EmulatedTiles {
  std::uint8_t shapes[64] = {};  // the palette, then rows' bytes from byte 16 on and numbers of rows from byte 48 on,
                                 // as the processor has them
  unsigned char bytes[8][16][64];

  static EmulatedTiles& of_thread() {
    thread_local EmulatedTiles tiles;
    return tiles;
  }
  /// A tile that has been given its shape: the processor faults otherwise.
  unsigned char (&tile(int number))[16][64] {
    if (shapes[0] != 1 || shapes[16 + 2 * number] != 64 || shapes[48 + number] != 16) {
      std::puts("FAILED a tile without a shape is used");
      std::exit(1);
    }
    return bytes[number];
  }
};
inline long emulated_products = 0;

inline bool ask_for_tiles() { return true; }
inline void take_tile_shapes(const void* taken) { std::memcpy(EmulatedTiles::of_thread().shapes, taken, 64); }
inline void exchange_tile_shapes(void* stored, const void* taken) {
  std::memcpy(stored, EmulatedTiles::of_thread().shapes, 64);
  take_tile_shapes(taken);
}
template <int N>
void load_tile(const void* from, std::int64_t row) {
  auto& tile = EmulatedTiles::of_thread().tile(N);
  for (int i = 0; i < 16; ++i) std::memcpy(tile[i], static_cast<const char*>(from) + i * row, 64);
}
template <int N>
void store_tile(void* to, std::int64_t row) {
  const auto& tile = EmulatedTiles::of_thread().tile(N);
  for (int i = 0; i < 16; ++i) std::memcpy(static_cast<char*>(to) + i * row, tile[i], 64);
}
template <int N>
void clear_tile() {
  std::memset(EmulatedTiles::of_thread().tile(N), 0, sizeof(EmulatedTiles::bytes[N]));
}
/// Element `at` of a row of a tile of bfloat16.
inline float emulated_element(const unsigned char* row, int at) {
  std::uint16_t bits;
  std::memcpy(&bits, row + 2 * at, 2);
  const std::uint32_t wide = std::uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
template <int Sum, int A, int B>
void add_tile_products() {
  EmulatedTiles& tiles = EmulatedTiles::of_thread();
  const auto &a = tiles.tile(A), &b = tiles.tile(B);
  auto& sum = tiles.tile(Sum);
#pragma omp atomic
  ++emulated_products;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float total;
      std::memcpy(&total, sum[i] + 4 * j, 4);
      for (int pair = 0; pair < 16; ++pair)
        for (int half = 0; half < 2; ++half)
          total += emulated_element(a[i], 2 * pair + half) * emulated_element(b[pair], 2 * j + half);
      std::memcpy(sum[i] + 4 * j, &total, 4);
    }
}

}}}  // namespace tern::detail::backend::matmul_detail
