#include "support/catch.hpp"

#include <tern/io/sha256.hpp>

namespace io_sha256 {

using tern::io::sha256;
using tern::io::Sha256;

TEST_CASE("sha256 agrees with the standard's examples", "[io]") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(
      sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
             "nopqrstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256 does not depend on how the bytes are cut", "[io]") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += char(i * 7);
  const std::string expected = sha256(bytes);
  for (std::size_t cut = 1; cut < 150; cut += 13) {
    Sha256 hash;
    for (std::size_t i = 0; i < bytes.size(); i += cut) hash.update(bytes.data() + i, std::min(cut, bytes.size() - i));
    CHECK(hash.hex() == expected);
  }
}

}  // namespace io_sha256
