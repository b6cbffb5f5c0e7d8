// What every function of the emulated libraries begins with, and how it refuses.
#pragma once
#include <mutex>
#include <string>

#include "activity.hpp"
#include "pages.hpp"
#include "state.hpp"

namespace emulator {

/// What a driver function needs, and how it fails when a test makes it fail.
enum Trait : unsigned {
  plain = 0,
  initialised = 1,  // cuInit was called
  context = 2,      // the thread has a current context, which has no sticky error
  releases = 4,     // does its work even where it fails, so that a failed release is no leak of the client's
};

/// One call: takes the lock, counts, decides whether the call fails before it begins.
class Call {
 public:
  /// `failure`: what the function gives when a test makes it fail.
  Call(const char* function, int failure, unsigned traits = plain);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Not 0: to be returned at once.
  int status() const { return status_; }
  /// What a releasing function returns: its result, unless it was to fail.
  int finish(int result) const { return late_ ? late_ : result; }

  static const char* current_function();

 private:
  int prerequisites(unsigned traits) const;

  TracedCall traced_;
  std::unique_lock<std::mutex> lock_;
  std::unique_lock<std::mutex>* outer_;
  int status_ = 0, late_ = 0;
};

/// Explains why the current call gives `code`; `page` is the documentation's that says so. Returns code.
int refuse(int code, const std::string& reason, const char* page, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());
/// The same of what goes wrong while queued work runs: the error is sticky.
int fault(int code, const std::string& reason, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The text of the last refusal or fault.
const std::string& last_message();

/// Makes the nth call from now of `function` (any, if "*") give `code` (its own failure, if 0). nth = 0: none.
void fail_call(const char* function, unsigned long nth, int code);
/// Calls of `function` (of all, if null) since the last fail_call.
unsigned long call_count(const char* function);

/// In a host function, which must not call the driver.
bool& in_host_function();

/// A readable version of a pointer.
std::string hex(std::uintptr_t address);

}  // namespace emulator

/// The beginning of an exported function. Further argument: traits.
#define EMULATED_CALL(failure, ...)                                  \
  emulator::Call call(__func__, failure __VA_OPT__(, ) __VA_ARGS__); \
  if (const int status = call.status()) return status
