#include "tern/core/keyed_cache.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace core_keyed_cache {

using tern::detail::KeyedCache;
using tern::detail::Lease;

namespace {

/// A number; those of one tens digit have the same hash.
struct Key {
  int number;
  std::uint64_t hash() const { return std::uint64_t(number / 10); }
  bool operator==(const Key&) const = default;
};

/// Counts how many were made, how many there are, and whether two ever used one at once.
struct Tool {
  static inline std::atomic<int> made = 0, alive = 0, shared = 0;
  explicit Tool(Key k) : key_(k) { ++made, ++alive; }
  ~Tool() { --alive; }
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  Key key() const { return key_; }
  void use() {
    if (busy_.exchange(true)) ++shared;
    std::this_thread::yield();
    busy_ = false;
  }

 private:
  Key key_;
  std::atomic<bool> busy_ = false;
};
using Tools = KeyedCache<Tool, Key>;

/// The address of the object that a lease on this key gets.
const Tool* use(Tools& tools, int number) {
  const Lease lease(tools, Key{number}, [&] { return new Tool(Key{number}); });
  lease->use();
  CHECK(lease->key().number == number);
  return &*lease;
}

}  // namespace

TEST_CASE("an object is made once for its key, and again while it is in use") {
  Tool::made = 0;
  {
    Tools tools;
    CHECK(!Lease(tools, Key{1}));
    const Tool* const first = use(tools, 1);
    CHECK(use(tools, 1) == first);
    {
      const Lease held(tools, Key{1});
      CHECK(&*held == first);
      CHECK(use(tools, 1) != first);
    }
    CHECK(use(tools, 1) == first);  // used last
    CHECK(Tool::made == 2);
  }
  CHECK(Tool::alive == 0);
}

TEST_CASE("keys with the same hash stay apart, and those used longest ago go first") {
  Tools tools;
  const Tool* tool[10];
  for (int i = 0; i < Tools::ways; ++i) tool[i] = use(tools, i);
  Tool::made = 0;
  for (int i = 0; i < Tools::ways; ++i) CHECK(use(tools, i) == tool[i]);
  CHECK(use(tools, 0) == tool[0]);
  CHECK(Tool::made == 0);
  use(tools, 8);  // in the place of 1
  CHECK(Tool::alive == Tools::ways);
  CHECK(use(tools, 0) == tool[0]);
  CHECK(Tool::made == 1);
  CHECK(!Lease(tools, Key{1}));
  CHECK(Lease(tools, Key{2}));
  for (int i = 10; i < 100000; i += 10) use(tools, i);  // hashes 1, 2, 3…
  CHECK(Tool::alive <= Tools::sets * Tools::ways);
}

TEST_CASE("an object that cannot be made leaves the cache as it was") {
  Tools tools;
  const Tool* const first = use(tools, 1);
  CHECK_THROWS(Lease(tools, Key{2}, [&]() -> Tool* { throw 0; }));
  CHECK(!Lease(tools, Key{2}));
  CHECK(use(tools, 1) == first);
}

TEST_CASE("threads never share an object, and make no more than there are threads for a key", "[threads]") {
  Tool::made = Tool::shared = 0;
  constexpr int threads = 4, keys = 3;
  {
    Tools tools;
    std::vector<std::thread> running;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&] {
        for (int i = 0; i < 3000; ++i) {
          const Key key{i % keys * 10};
          const Lease lease(tools, key, [&] { return new Tool(key); });
          lease->use();
          wrong += !(lease->key() == key);
        }
      });
    for (std::thread& thread : running) thread.join();
    CHECK(wrong == 0);
    CHECK(Tool::shared == 0);
    CHECK(Tool::made <= threads * keys);
  }
  CHECK(Tool::alive == 0);
}

TEST_CASE("all fields count in a hash") {
  struct Fields {
    bool a, b;
    std::uint16_t c;
    int d;
    std::int64_t e;
  };
  const Fields fields{true, false, 3, 4, 5};
  const std::uint64_t hash = tern::detail::hash_fields(fields);
  CHECK(tern::detail::hash_fields(Fields{true, false, 3, 4, 5}) == hash);
  for (const Fields& other :
       {Fields{false, false, 3, 4, 5}, Fields{true, true, 3, 4, 5}, Fields{true, false, 4, 4, 5},
        Fields{true, false, 3, 5, 5}, Fields{true, false, 3, 4, 6}, Fields{true, false, 3, 4, -5}})
    CHECK(tern::detail::hash_fields(other) != hash);
}

}  // namespace core_keyed_cache
