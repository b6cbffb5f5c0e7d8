// Where every live module and parameter is, so that a member that its module does not list can be found.
#pragma once
#include <mutex>

#include "../core/error.hpp"

namespace tern::inline TERN_BUILD::detail {

/// A stretch of memory: an object.
struct Extent {
  const void* begin;
  std::size_t bytes;
  bool contains(const void* p) const {
    return static_cast<const char*>(p) >= static_cast<const char*>(begin) &&
           static_cast<const char*>(p) < static_cast<const char*>(begin) + bytes;
  }
};

/// True if a module lists a member that contains the address.
using Lists = bool(const void* module, const void* address);

/// A base of everything that a module must list: knows all its live instances.
class TERN_API Registered {
 public:
  Registered() noexcept { enter(); }
  Registered(const Registered&) noexcept { enter(); }
  Registered& operator=(const Registered&) noexcept { return *this; }
  ~Registered();

  /// An instance in `module`, other than the module itself, that it does not list; null if there is none.
  static const Registered* find_unlisted(const Extent& module, Lists* lists);

 private:
  // Never destroyed: modules may be static.
  static std::mutex& mutex() {
    static std::mutex* const instance = new std::mutex;
    return *instance;
  }
  static Registered*& first() {
    static Registered* instance = nullptr;
    return instance;
  }
  void enter() noexcept;

  Registered* previous_ = nullptr;
  Registered* next_ = nullptr;
};

/// Error if a registered object is a member of the module but not listed.
TERN_API void check_members(const char* type, const Extent& module, Lists* lists);

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "registry.ipp"
#endif
