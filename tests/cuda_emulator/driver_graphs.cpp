// libcuda: stream capture and the graphs that come of it.
#include <algorithm>

#include "activity.hpp"
#include "call.hpp"
#include "capture.hpp"
#include "exports.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace abi;

namespace {

int no_such_graph() { return refuse(CUDA_ERROR_INVALID_VALUE, "no such graph, or it has been destroyed", page::graph); }

// True if every node is one of the streams' ends or before one.
bool is_joined(const Capture& capture) {
  const auto& nodes = capture.graph->nodes;
  std::vector<bool> reached(nodes.size());
  for (const std::size_t node : capture.origin->tail) reached[node] = true;
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (reached[i])
      for (const std::size_t before : nodes[i].after) reached[before] = true;
  for (const Stream* stream : capture.streams)
    for (const std::size_t node : stream->tail)
      if (!reached[node]) return false;
  return true;
}

// Why a capture that ends here fails.
int check_end(const Stream& stream, const Capture& capture) {
  if (capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture.thread != std::this_thread::get_id())
    return refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "another thread began the capture", page::stream);
  if (&stream != capture.origin)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began on another stream", page::stream);
  if (capture.invalid)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has been invalidated", page::stream);
  if (!is_joined(capture))
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                  "a stream that joined the capture has work that the first does not wait for", page::cross_stream);
  return CUDA_SUCCESS;
}

// When the nodes end, each as soon as what it waits for and its engine allow.
std::vector<std::uint64_t> schedule_ends(const std::vector<Node>& nodes) {
  std::uint64_t free[4] = {};
  std::vector<std::uint64_t> ends;
  for (const Node& node : nodes) {
    std::uint64_t start = 0;
    for (const std::size_t before : node.after) start = std::max(start, ends[before]);
    std::uint64_t& engine = free[static_cast<int>(node.work.engine)];
    if (node.work.engine != Engine::none) start = std::max(start, engine);
    ends.push_back(start + node.work.ns);
    engine = ends.back();
  }
  return ends;
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (s == s->context->legacy)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured", page::stream);
  if (s->capture) return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is in capture already", page::stream);
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return refuse(CUDA_ERROR_INVALID_VALUE, "unknown mode", page::stream);
  auto capture = std::make_unique<Capture>(Capture{s, new Graph, mode, std::this_thread::get_id(), {s}});
  s->capture = capture.get();
  s->tail.clear();
  state().captures.push_back(std::move(capture));
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context | releases);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  *graph = nullptr;
  if (!s->capture) return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not in capture", page::stream);
  Capture* capture = s->capture;
  status = check_end(*s, *capture);
  if (status == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD || status == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) {
    capture->invalid = true;
    return status;  // and the capture goes on
  }
  if (!status) status = call.finish(CUDA_SUCCESS);
  for (Stream* captured : capture->streams) captured->capture = nullptr;
  if (status) {
    delete capture->graph;
  } else {
    *graph = capture->graph;
    add_live("graph", *graph);
  }
  std::erase_if(state().captures, [&](const auto& c) { return c.get() == capture; });
  return status;
}

CUresult cuStreamIsCapturing(CUstream stream, int* capture_status) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if ((status = refuse_implicit_dependency(*s))) return status;
  *capture_status = !s->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
                    : s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  EMULATED_CALL(CUDA_ERROR_OUT_OF_MEMORY, context);
  if (!is_live(graph)) return no_such_graph();
  if (flags) return refuse(CUDA_ERROR_INVALID_VALUE, "instantiation flags are not emulated", page::graph);
  *executable = new GraphExec;
  (*executable)->nodes = graph->nodes;
  add_live("executable graph", *executable);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, context);
  int status = CUDA_SUCCESS;
  Stream* s = stream_of(stream, status);
  if (!s) return status;
  if (!is_live(executable)) return no_such_graph();
  Work work;
  work.engine = Engine::compute;
  const std::vector<std::uint64_t> ends = schedule_ends(executable->nodes);
  work.ns = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  work.activity.kind = activity_of_nodes;
  for (const Node& node : executable->nodes)
    work.uses.insert(work.uses.end(), node.work.uses.begin(), node.work.uses.end());
  // A copy of the nodes: the executable graph may be destroyed while it runs.
  work.run = [nodes = executable->nodes]() mutable {
    for (Node& node : nodes)
      if (const int failure = run_work(node.work)) return failure;
    return int{CUDA_SUCCESS};
  };
  std::vector<Point> after;
  if (executable->last_launch.stream && !s->capture) after.push_back(executable->last_launch);
  const std::uint64_t ns = work.ns;
  status = enqueue(*s, std::move(work), std::move(after));
  for (std::size_t i = 0; i < ends.size() && !s->capture; ++i) {
    const Work& node = executable->nodes[i].work;
    const std::uint64_t end = s->time - ns + ends[i];
    if (node.activity.kind) note_activity(*s, node, end - node.ns, end, s->enqueued);
  }
  if (!s->capture) executable->last_launch = end_of(*s);
  return status;
}

CUresult cuGraphDestroy(CUgraph graph) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised | releases);
  if (!is_live(graph)) return no_such_graph();
  remove_live(graph);
  delete graph;
  return call.finish(CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  EMULATED_CALL(CUDA_ERROR_UNKNOWN, initialised | releases);
  if (!is_live(executable)) return no_such_graph();
  remove_live(executable);
  delete executable;
  return call.finish(CUDA_SUCCESS);
}

}  // extern "C"
