// Waits of the host for a device whose work waits for something outside of it: other ranks, which may be lost
// meanwhile.
#pragma once
#include <functional>

#include "context.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// While alive, a thread that waits for a device calls check(ordinal) once a millisecond. That is an Error if the
/// device waits for what does not come; then it waits for it no more.
class TERN_API Watch {
 public:
  explicit Watch(std::function<void(int ordinal)> check);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void check(int ordinal) const { check_(ordinal); }

 private:
  std::function<void(int ordinal)> check_;
};

/// cuStreamSynchronize and cuEventSynchronize, but Errors of what the device waits for.
TERN_API DriverStatus wait_for_work(int ordinal, StreamHandle stream);
TERN_API DriverStatus wait_for_event(int ordinal, Event event);

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "watch.ipp"
#endif
