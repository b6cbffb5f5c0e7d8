#include "capture.hpp"

#include <algorithm>

#include "call.hpp"

namespace emulator {

namespace {

int invalidate(Capture& capture, int code, const std::string& reason, const char* page) {
  capture.invalid = true;
  return refuse(code, reason, page);
}

void join(std::vector<std::size_t>& tail, const std::vector<std::size_t>& more) {
  for (const std::size_t node : more)
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
}

}  // namespace

int add_node(Stream& stream, Work work) {
  Capture& capture = *stream.capture;
  if (capture.invalid)
    return refuse(abi::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has been invalidated", page::capture);
  capture.graph->nodes.push_back({std::move(work), stream.tail});
  stream.tail = {capture.graph->nodes.size() - 1};
  return abi::CUDA_SUCCESS;
}

int refuse_if_unsafe() {
  const std::thread::id thread = std::this_thread::get_id();
  int status = abi::CUDA_SUCCESS;
  for (auto& capture : state().captures) {
    const bool own = capture->thread == thread && capture->mode != abi::CU_STREAM_CAPTURE_MODE_RELAXED;
    if (own || capture->mode == abi::CU_STREAM_CAPTURE_MODE_GLOBAL)
      status = invalidate(*capture, abi::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "potentially unsafe while a stream is captured, see cuThreadExchangeStreamCaptureMode",
                          page::stream);
  }
  return status;
}

int refuse_implicit_dependency(const Stream& stream) {
  if (&stream != stream.context->legacy) return abi::CUDA_SUCCESS;
  for (auto& capture : state().captures)
    for (const Stream* captured : capture->streams)
      if (captured->blocking && captured->context == stream.context)
        return invalidate(*capture, abi::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                          "the legacy stream is used while a blocking stream is captured", page::capture);
  return abi::CUDA_SUCCESS;
}

int refuse_if_captured(const Stream& stream) {
  if (stream.capture)
    return invalidate(*stream.capture, abi::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      "a stream in capture has nothing to wait for or to query", page::capture);
  if (const int status = refuse_implicit_dependency(stream)) return status;
  return refuse_if_unsafe();
}

int refuse_if_captured(const Event& event) {
  if (event.capture) {
    if (is_active(event.capture)) event.capture->invalid = true;
    return refuse(abi::CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a stream in capture", page::capture);
  }
  return refuse_if_unsafe();
}

int wait_in_capture(Stream& stream, const Event& event, bool& handled) {
  handled = event.capture || (stream.capture && event.recorded);
  if (!handled) return abi::CUDA_SUCCESS;
  if (!event.capture)
    return invalidate(*stream.capture, abi::CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                      "a stream in capture waits for an event recorded outside the capture", page::capture);
  if (!is_active(event.capture))
    return refuse(abi::CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture that has ended",
                  page::errors);
  if (stream.capture && stream.capture != event.capture) {
    stream.capture->invalid = true;
    return invalidate(*event.capture, abi::CUDA_ERROR_STREAM_CAPTURE_MERGE,
                      "a stream in one capture waits for an event of another", page::capture);
  }
  if (&stream == stream.context->legacy)
    return invalidate(*event.capture, abi::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                      "the legacy stream waits for an event in a capture", page::capture);
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.tail.clear();
    event.capture->streams.push_back(&stream);
  }
  join(stream.tail, event.tail);
  return abi::CUDA_SUCCESS;
}

bool is_active(const Capture* capture) {
  for (const auto& active : state().captures)
    if (active.get() == capture) return true;
  return false;
}

}  // namespace emulator
