// The place in the user's program where an operation was called.
#pragma once
#include <cstdint>
#include <source_location>

#include "config.hpp"

namespace tern { inline namespace TERN_BUILD {

/// A line of the user's program, and the operation that it called. As a default argument it is the caller's line,
/// without an operation; `{"name", here}` adds one. An Error, a node of the tape and a row of the ledger name both.
class CallSite {
  struct Default {};  // the first parameter, so that no text or number converts to a CallSite

 public:
  constexpr CallSite(Default = {}, std::source_location location = std::source_location::current())
      : location_(location) {}
  constexpr CallSite(const char* name, const CallSite& here) : location_(here.location_), name_(name) {}
  /// No line and no operation.
  static const CallSite unknown;

  /// The operation, or null.
  constexpr const char* name() const { return name_; }
  /// "" where the line is not known.
  constexpr const char* file() const { return location_.file_name(); }
  /// 0 where it is not known.
  constexpr std::uint32_t line() const { return location_.line(); }

 private:
  std::source_location location_;
  const char* name_ = nullptr;
};

inline constexpr CallSite CallSite::unknown{{}, std::source_location()};

namespace detail {
/// The outermost call in progress: its line and its operation, which may be those of two sites. Null without one.
struct Outermost {
  const CallSite* line;
  const CallSite* operation;
};
extern TERN_API constinit thread_local Outermost outermost;

/// The site that an operation called at `here` is accounted to.
inline const CallSite& site(const CallSite& here) { return outermost.line ? *outermost.line : here; }

/// The operation in whose name one of this name fails.
inline const char* outermost_name(const char* name) { return outermost.operation ? outermost.operation->name() : name; }

/// Both: what an operation is accounted to after its call.
inline CallSite accounted(const CallSite& op) { return {outermost_name(op.name()), site(op)}; }

/// While alive, this thread works for another call: one of another thread, or one that has returned.
class OutermostScope {
 public:
  explicit OutermostScope(const Outermost& other) : own_(outermost) { outermost = other; }
  ~OutermostScope() { outermost = own_; }
  OutermostScope(const OutermostScope&) = delete;
  OutermostScope& operator=(const OutermostScope&) = delete;

 private:
  Outermost own_;
};

/// An operand of an operator, with the operator's source line. Operators cannot have default arguments, so the line
/// comes with the operand.
template <class X>
struct At {
  const X& tensor;
  CallSite here;
  At(const X& t, CallSite h = {}) : tensor(t), here(h) {}
};
}  // namespace detail

/// While alive, what this thread calls is accounted to this site, and fails in its operation's name, unless a CallScope
/// around it has said so before. So an op that is made of other ops, a layer and an optimiser show the user's call.
class CallScope {
 public:
  explicit CallScope(const CallSite& site) : site_(site), outer_(detail::outermost) {
    if (!outer_.line && site.line()) detail::outermost.line = &site_;
    if (!outer_.operation && site.name()) detail::outermost.operation = &site_;
  }
  ~CallScope() { detail::outermost = outer_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CallSite site_;
  detail::Outermost outer_;
};

}}  // namespace tern

#ifndef TERN_COMPILED
#include "call_site.ipp"
#endif
