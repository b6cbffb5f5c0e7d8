// The functions of sha256.hpp that are not templates.
#pragma once
#include "sha256.hpp"

namespace tern { inline namespace TERN_BUILD { namespace io {

TERN_COLD void Sha256::update(const void* data, std::size_t n) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  length_ += n;
  while (n > 0) {
    const std::size_t take = n < sizeof block_ - filled_ ? n : sizeof block_ - filled_;
    std::memcpy(block_ + filled_, bytes, take);
    filled_ += take;
    bytes += take;
    n -= take;
    if (filled_ == sizeof block_) add_block();
  }
}

TERN_COLD std::string Sha256::hex() {
  const std::uint64_t bits = length_ * 8;
  const unsigned char one = 0x80, zero = 0;
  update(&one, 1);
  while (filled_ != 56) update(&zero, 1);
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
  update(length, 8);
  std::string out;
  for (const std::uint32_t word : hash_)
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
  return out;
}

TERN_COLD void Sha256::add_block() {
  std::uint32_t w[64];
  for (int t = 0; t < 16; ++t)
    w[t] = std::uint32_t(block_[4 * t]) << 24 | std::uint32_t(block_[4 * t + 1]) << 16 |
           std::uint32_t(block_[4 * t + 2]) << 8 | block_[4 * t + 3];
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  std::uint32_t a = hash_[0], b = hash_[1], c = hash_[2], d = hash_[3];
  std::uint32_t e = hash_[4], f = hash_[5], g = hash_[6], h = hash_[7];
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + constants[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) hash_[i] += added[i];
  filled_ = 0;
}

}}}  // namespace tern::io
