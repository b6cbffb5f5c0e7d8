// Objects that are costly to make and that only one thread at a time may use, found by key.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A hash of `count` words of 64 bits.
inline std::uint64_t hash_words(const void* words, std::size_t count) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const char*>(words) + i * sizeof word, sizeof word);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

/// A hash of all fields of a structure.
template <class T>
std::uint64_t hash_fields(const T& fields) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would be hashed, and equal objects differ in it");
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);
  return hash_words(&fields, sizeof(T) / sizeof(std::uint64_t));
}

/// The objects that no thread is using. A thread takes an object out and puts it back, so two threads never use the
/// same one at once. The cache is bounded: the hash of the key chooses one of 128 sets, and a set holds at most 8
/// objects; a ninth one displaces the least recently used.
///
/// A Value has key(); a Key has hash() and ==. Different keys with the same hash are told apart.
template <class Value, class Key>
class KeyedCache {
 public:
  static constexpr int sets = 128, ways = 8;

  KeyedCache() = default;
  ~KeyedCache() {
    for (auto& set : entries_)
      for (const Entry& entry : set) delete entry.value;
  }
  KeyedCache(const KeyedCache&) = delete;
  KeyedCache& operator=(const KeyedCache&) = delete;

  /// An object for this key, or null. The caller then owns it.
  [[gnu::noinline]] Value* take(const Key& key, std::uint64_t hash) {
    const std::lock_guard lock(mutex_);
    Entry* const set = entries_[hash % sets];
    for (int i = ways; i-- > 0;) {
      Value* const found = set[i].value;
      if (!found || set[i].hash != hash || !(found->key() == key)) continue;
      for (; i + 1 < ways; ++i) set[i] = set[i + 1];
      set[ways - 1] = {};
      return found;
    }
    return nullptr;
  }

  /// Returns ownership to the cache. hash is that of the value's key.
  [[gnu::noinline]] void put(Value* value, std::uint64_t hash) {
    Value* oldest = nullptr;
    {
      const std::lock_guard lock(mutex_);
      Entry* const set = entries_[hash % sets];
      int free = 0;
      while (free < ways && set[free].value) ++free;
      if (free == ways) {
        oldest = set[0].value;
        for (free = 0; free + 1 < ways; ++free) set[free] = set[free + 1];
      }
      set[free] = {hash, value};
    }
    delete oldest;
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Value* value = nullptr;
  };

  std::mutex mutex_;
  Entry entries_[sets][ways];  // in each set, the most recently used comes last
};

/// Exclusive use of an object of a cache, for as long as this lives.
template <class Value, class Key>
class Lease {
 public:
  /// The object for this key; null if the cache has none.
  Lease(KeyedCache<Value, Key>& cache, const Key& key)
      : cache_(cache), hash_(key.hash()), value_(cache.take(key, hash_)) {}
  /// The object for this key, from the cache or from make(), which returns a new one.
  template <class Make>
  Lease(KeyedCache<Value, Key>& cache, const Key& key, const Make& make) : Lease(cache, key) {
    if (!value_) value_ = make();
  }
  ~Lease() {
    if (value_) cache_.put(value_, hash_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  explicit operator bool() const { return value_; }
  Value* operator->() const { return value_; }
  Value& operator*() const { return *value_; }

 private:
  KeyedCache<Value, Key>& cache_;
  std::uint64_t hash_;
  Value* value_;
};

}}}  // namespace tern::detail
