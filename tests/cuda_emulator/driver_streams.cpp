// libcuda: streams, events, host functions.
#include "call.hpp"
#include "capture.hpp"
#include "exports.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

int no_such_event() {
  return refuse(CUDA_ERROR_INVALID_HANDLE, "no such event, or it has been destroyed", page::event);
}

CUresult elapsed(float* ms, CUevent start, CUevent end) {
  if (!is_live(start) || !is_live(end)) return no_such_event();
  for (const Event* event : {start, end}) {
    if (!event->timed)
      return refuse(CUDA_ERROR_INVALID_HANDLE, "an event made with CU_EVENT_DISABLE_TIMING", page::event);
    if (event->capture)
      return refuse(CUDA_ERROR_CAPTURED_EVENT, "an event recorded in a capture has no time", page::errors);
    if (!event->recorded) return refuse(CUDA_ERROR_INVALID_HANDLE, "an event that was never recorded", page::event);
  }
  for (const Event* event : {start, end})
    if (event->point.stream->done < event->point.count) return CUDA_ERROR_NOT_READY;
  const double from = static_cast<double>(start->point.time), to = static_cast<double>(end->point.time);
  *ms = static_cast<float>((to - from) * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  if (flags > CU_STREAM_NON_BLOCKING) return refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags", page::stream);
  auto& s = state().streams.emplace_back(std::make_unique<Stream>());
  s->context = current_context();
  s->blocking = !(flags & CU_STREAM_NON_BLOCKING);
  add_live("stream", s.get(), s->context);
  *stream = s.get();
  return CUDA_SUCCESS;
}

// The object stays: its work may still be waited for.
CUresult cuStreamDestroy_v2(CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  if (!is_live(stream))
    return refuse(CUDA_ERROR_INVALID_HANDLE, "no such stream, or it has been destroyed", page::stream);
  if (stream->capture) stream->capture->invalid = true;
  remove_live(stream);
  return call.finish(CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if ((status = refuse_if_captured(*s))) return status;
  wait_for(end_of(*s));
  return s->context->sticky;
}

CUresult cuStreamQuery(CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if ((status = refuse_if_captured(*s))) return status;
  const bool done = advance_towards(end_of(*s));
  return s->context->sticky ? s->context->sticky : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (!is_live(event)) return no_such_event();
  if (flags) return refuse(CUDA_ERROR_INVALID_VALUE, "CU_EVENT_WAIT_EXTERNAL is not emulated", page::stream);
  bool handled;
  status = wait_in_capture(*s, *event, handled);
  if (handled || !event->recorded) return status;
  return enqueue(*s, {.run = [] { return CUDA_SUCCESS; }}, {event->point});
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  Work work;
  work.calls_host = true;
  work.run = [function, data] { return function(data), CUDA_SUCCESS; };
  return enqueue(*s, std::move(work));
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  if (flags & ~unsigned{CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING})
    return refuse(CUDA_ERROR_INVALID_VALUE, "flags that are unknown or not emulated", page::event);
  *event = new Event;
  (*event)->context = current_context();
  (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
  add_live("event", *event, (*event)->context);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  if (!is_live(event)) return no_such_event();
  remove_live(event);
  delete event;
  return call.finish(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (!is_live(event)) return no_such_event();
  if (event->context != s->context)
    return refuse(CUDA_ERROR_INVALID_HANDLE, "the event and the stream are of different contexts", page::event);
  event->capture = s->capture;
  if (s->capture) {
    event->tail = s->tail;
    return CUDA_SUCCESS;
  }
  const std::uint64_t ns = event->timed ? static_cast<std::uint64_t>(settings().event_ns) : 0;
  status = enqueue(*s, {.run = [] { return CUDA_SUCCESS; }, .ns = ns});
  event->recorded = true;
  event->point = end_of(*s);
  return status;
}

CUresult cuEventQuery(CUevent event) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  if (!is_live(event)) return no_such_event();
  if (const int status = refuse_if_captured(*event)) return status;
  const bool done = advance_towards(event->point);
  return event->context->sticky ? event->context->sticky : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  if (!is_live(event)) return no_such_event();
  if (const int status = refuse_if_captured(*event)) return status;
  wait_for(event->point);
  return event->context->sticky;
}

CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  return elapsed(ms, start, end);
}

// CUDA 12.8's and 13's name: the same for events of one process.
CUresult cuEventElapsedTime_v2(float* ms, CUevent start, CUevent end) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  return elapsed(ms, start, end);
}

}  // extern "C"
