// The addresses of all live modules and parameters, to find a member that its module does not list.
#pragma once
#include <mutex>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The memory of an object.
struct Extent {
  const void* begin;
  std::size_t bytes;
  bool contains(const void* p) const {
    return static_cast<const char*>(p) >= static_cast<const char*>(begin) &&
           static_cast<const char*>(p) < static_cast<const char*>(begin) + bytes;
  }
};

/// Whether a module lists a layer or tensor at an address.
using Lists = bool(const void* module, const void* address);

/// A base of all members that a module must list. It knows all its live instances.
class TERN_API Registered {
 public:
  Registered() noexcept { enter(); }
  Registered(const Registered&) noexcept { enter(); }
  Registered& operator=(const Registered&) noexcept { return *this; }
  ~Registered();

  /// An instance inside `module`, but outside its base, that is not listed. Null if there is none.
  static const Registered* find_unlisted(const Extent& module, const Extent& base, Lists* lists);
  /// An instance inside an object that lists none. Null if there is none.
  static const Registered* find_in(const Extent& object) {
    return find_unlisted(object, {nullptr, 0}, [](const void*, const void*) { return false; });
  }

 private:
  // Never destroyed, because modules may be static.
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

/// Error if a registered object is a member of the module and not listed.
TERN_API void check_members(const char* type, const Extent& module, const Extent& base, Lists* lists);

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "registry.ipp"
#endif
