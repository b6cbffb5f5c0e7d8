// libnccl: collectives, transfers and groups of them, as work on the streams of all ranks.
#include <algorithm>
#include <functional>

#include "call.hpp"
#include "exports.hpp"
#include "heap.hpp"
#include "nccl.hpp"
#include "settings.hpp"
#include "streams.hpp"

using namespace emulator;
using namespace emulator::nccl;
using namespace abi;

namespace {

constexpr const char* names[] = {"ncclAllReduce",     "ncclBroadcast", "ncclAllGather",
                                 "ncclReduceScatter", "ncclSend",      "ncclRecv"};

const char* page_of(const Request& r) { return r.is_transfer() ? page::nccl_transfer : page::nccl_collective; }

int check_buffer(const Request& r, const void* buffer, std::size_t bytes) {
  if (!bytes) return ncclSuccess;
  const Allocation* a = device_heap().find(reinterpret_cast<std::uintptr_t>(buffer), bytes);
  if (a && !a->doomed && a->context == r.comm->context) return ncclSuccess;
  return refuse(ncclInvalidArgument,
                std::to_string(bytes) + " bytes at " + hex(reinterpret_cast<std::uintptr_t>(buffer)) +
                    " are not inside one allocation of the communicator's device",
                page_of(r));
}

// A result may lie where the documentation says, and nowhere else in what is sent.
int check_place(const Request& r) {
  const auto send = reinterpret_cast<std::uintptr_t>(r.send), receive = reinterpret_cast<std::uintptr_t>(r.receive);
  const std::size_t part = static_cast<std::size_t>(r.rank) * r.count * element_bytes(r.type);
  const bool in_place = r.kind == Kind::all_gather       ? send == receive + part
                        : r.kind == Kind::reduce_scatter ? receive == send + part
                                                         : send == receive;
  const bool apart =
      !r.send_bytes() || !r.receive_bytes() || send + r.send_bytes() <= receive || receive + r.receive_bytes() <= send;
  if (in_place || apart) return ncclSuccess;
  return refuse(ncclInvalidArgument, "the result overlaps with what is sent, and not as a result in place does",
                page::nccl_in_place);
}

int check(Request& r, CUstream stream) {
  if (!is_live(r.comm))
    return refuse(ncclInvalidArgument, "no such communicator, or it has been destroyed", page_of(r));
  if (r.comm->clique->misses_one(r.comm->rank))
    return refuse(ncclRemoteError, "a rank has left the communicator", page::nccl_communicator);
  r.rank = r.comm->rank;
  r.ranks = r.comm->clique->ranks();
  if (!element_bytes(r.type))
    return refuse(ncclInvalidArgument, "an element type that does not exist, or is not emulated", page::nccl_types);
  if (r.op < ncclSum || r.op > ncclAvg) return refuse(ncclInvalidArgument, "no such reduction", page::nccl_types);
  if (r.peer < 0 || r.peer >= r.ranks)
    return refuse(ncclInvalidArgument, "rank " + std::to_string(r.peer) + " is none of " + std::to_string(r.ranks),
                  page_of(r));
  const bool is_legacy = reinterpret_cast<std::uintptr_t>(stream) <= 1;
  if (!is_legacy && (!is_live(stream) || stream->context != r.comm->context))
    return refuse(ncclInvalidArgument, "no stream of the communicator's device", page_of(r));
  r.stream = is_legacy ? r.comm->context->legacy : stream;
  if (r.stream->context->sticky) return ncclUnhandledCudaError;
  if (r.stream->capture) return refuse(ncclInvalidUsage, "a captured collective is not emulated", page_of(r));
  if (const int status = check_buffer(r, r.send, r.send_bytes())) return status;
  if (const int status = check_buffer(r, r.receive, r.receive_bytes())) return status;
  return check_place(r);
}

// Ranks of one process use each other's memory directly. That of the driver's pool must have been opened to their
// devices.
bool is_open_to_others(const Request& r, const void* buffer) {
  const Allocation* a = device_heap().find(reinterpret_cast<std::uintptr_t>(buffer));
  if (!a || !a->stream_ordered || !settings().peers) return true;
  const std::vector<int> others = r.comm->clique->devices_beside(r);
  return std::all_of(others.begin(), others.end(),
                     [&](int device) { return a->context->reachable_from.count(device) != 0; });
}

// Whether the rank's memory can be used now. Returns a CUresult, with a text.
int check_memory(const Request& r, std::string& text) {
  text.clear();
  for (const auto& [buffer, bytes] :
       {std::pair(r.send, r.send_bytes()), std::pair<const void*, std::size_t>(r.receive, r.receive_bytes())}) {
    if (!bytes) continue;
    if (!reach(reinterpret_cast<std::uintptr_t>(buffer), bytes, "what nccl sends or receives")) text = last_message();
    else if (!is_open_to_others(r, buffer))
      text = "the pool of nccl's rank " + std::to_string(r.rank) + " is not open to the device of another";
  }
  return text.empty() ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

// What an operation of a stream does: all of a group's calls on it, which go on together.
class Attendance final : public Meeting {
 public:
  explicit Attendance(std::vector<std::shared_ptr<Part>> parts) : parts_(std::move(parts)) {}

  void queued() override {
    for (const auto& part : parts_) part->time = part->request.stream->time;
    for (const auto& part : parts_) part->request.comm->clique->queued(*part);
  }
  void arrive(int error) override {
    for (const auto& part : parts_) {
      if (part->arrived || part->over) continue;
      if (error) part->text = "rank " + std::to_string(part->request.rank) + " of nccl's has lost its device";
      const int status = error ? CUDA_ERROR_LAUNCH_FAILED : check_memory(part->request, part->text);
      part->request.comm->clique->arrive(*part, status);
    }
  }
  void hasten() override {
    for (const auto& part : parts_)
      if (!part->over) part->request.comm->clique->hasten(*part);
  }
  bool is_over() override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->over || part->request.comm->clique->is_over(*part); });
  }

  // Returns a CUresult.
  int end() {
    int status = CUDA_SUCCESS;
    for (const auto& part : parts_) {
      part->request.stream->time = std::max(part->request.stream->time, part->time);
      if (part->status) status = fault(part->status, part->text);
    }
    return status;
  }

 private:
  std::vector<std::shared_ptr<Part>> parts_;
};

// The bytes that a rank sends or receives, whichever are more: of a ring for collectives.
double bytes_on_the_way(const Request& r) {
  const double all = static_cast<double>(std::max(r.send_bytes(), r.receive_bytes()));
  if (r.is_transfer()) return r.peer == r.rank ? 0 : all;
  const double others = static_cast<double>(r.ranks - 1) / r.ranks;
  return all * others * (r.kind == Kind::all_reduce ? 2 : 1);
}

// The rank's part of an exchange, at the end of its stream.
std::shared_ptr<Part> part_of(const Request& r) {
  const auto part = std::make_shared<Part>();
  part->request = r;
  part->way = !r.is_transfer() ? Way(-1, -1) : r.kind == Kind::send ? Way(r.rank, r.peer) : Way(r.peer, r.rank);
  part->number = ++r.comm->calls[{part->way, r.kind == Kind::send}];
  part->place = r.stream->enqueued;
  auto& parts = r.comm->parts;
  std::erase_if(parts, [](const std::shared_ptr<Part>& known) { return known->over; });
  parts.push_back(part);
  return part;
}

// One operation of a stream: all of a group's calls on it, which go on together.
int queue(Stream& stream, const std::vector<Request>& requests) {
  Work work;
  double sent = 0, received = 0;
  std::vector<std::shared_ptr<Part>> parts;
  for (const Request& r : requests) {
    if (r.stream != &stream) continue;
    parts.push_back(part_of(r));
    if (r.kind != Kind::receive) sent += bytes_on_the_way(r);
    if (r.kind != Kind::send) received += bytes_on_the_way(r);
    for (const auto& [buffer, bytes] :
         {std::pair(r.send, r.send_bytes()), std::pair<const void*, std::size_t>(r.receive, r.receive_bytes())})
      if (bytes) work.uses.push_back(device_heap().find(reinterpret_cast<std::uintptr_t>(buffer))->address);
  }
  const auto attendance = std::make_shared<Attendance>(std::move(parts));
  work.ns = transfer_ns(static_cast<std::size_t>(std::max(sent, received)), settings().peer, settings().kernel_ns);
  work.meeting = attendance;
  work.run = [attendance] { return attendance->end(); };
  return enqueue(stream, std::move(work)) ? ncclUnhandledCudaError : ncclSuccess;
}

// Checks a call, and queues it or adds it to the group. A call of no elements does nothing.
int request(Request r, CUstream stream) {
  const int status = check(r, stream);
  if (group().depth) {
    if (status) group().failure = status;
    else if (r.count) group().requests.push_back(r);
    return status;
  }
  return status || !r.count ? status : submit({r});
}

}  // namespace

namespace emulator::nccl {

std::string difference(const std::vector<Operand>& operands) {
  const auto described = [](const Request& r) {
    return "rank " + std::to_string(r.rank) + ": " + names[static_cast<int>(r.kind)] + " of " +
           std::to_string(r.count) + " elements of type " + std::to_string(r.type) + ", reduction " +
           std::to_string(r.op) + ", rank " + std::to_string(r.peer);
  };
  const Request& a = operands[0].request;
  for (const auto& [b, send, receive] : operands)
    if (a.count != b.count || a.type != b.type ||
        (!a.is_transfer() && (a.kind != b.kind || a.op != b.op || a.peer != b.peer)))
      return "nccl's ranks do not call the same: " + described(a) + "; " + described(b);
  return "";
}

Group& group() {
  thread_local Group g;
  return g;
}

int submit(const std::vector<Request>& requests) {
  std::vector<Stream*> streams;
  for (const Request& r : requests)
    if (std::find(streams.begin(), streams.end(), r.stream) == streams.end()) streams.push_back(r.stream);
  for (Stream* stream : streams)
    if (const int status = queue(*stream, requests)) return status;
  return ncclSuccess;
}

}  // namespace emulator::nccl

extern "C" {

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op, ncclComm_t comm,
                           CUstream stream) {
  EMULATED_CALL(ncclInternalError);
  return request({Kind::all_reduce, send, receive, count, type, op, 0, comm}, stream);
}

ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, ncclComm_t comm,
                           CUstream stream) {
  EMULATED_CALL(ncclInternalError);
  return request({Kind::broadcast, send, receive, count, type, ncclSum, root, comm}, stream);
}

ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, int type, ncclComm_t comm,
                           CUstream stream) {
  EMULATED_CALL(ncclInternalError);
  return request({Kind::all_gather, send, receive, count, type, ncclSum, 0, comm}, stream);
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int op, ncclComm_t comm,
                               CUstream stream) {
  EMULATED_CALL(ncclInternalError);
  return request({Kind::reduce_scatter, send, receive, count, type, op, 0, comm}, stream);
}

ncclResult_t ncclSend(const void* send, std::size_t count, int type, int peer, ncclComm_t comm, CUstream stream) {
  EMULATED_CALL(ncclInternalError);
  return request({Kind::send, send, nullptr, count, type, ncclSum, peer, comm}, stream);
}

ncclResult_t ncclRecv(void* receive, std::size_t count, int type, int peer, ncclComm_t comm, CUstream stream) {
  EMULATED_CALL(ncclInternalError);
  return request({Kind::receive, nullptr, receive, count, type, ncclSum, peer, comm}, stream);
}

ncclResult_t ncclGroupStart() {
  EMULATED_CALL(ncclInternalError);
  ++group().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  EMULATED_CALL(ncclInternalError, releases);
  if (!group().depth) return refuse(ncclInvalidUsage, "no group has been started", page::nccl_group);
  if (--group().depth) return call.finish(ncclSuccess);
  const Group ended = std::move(group());
  group() = {};
  if (ended.failure)
    return refuse(ended.failure, "a call of the group has failed, so none of it is done", page::nccl_group);
  for (const auto& clique : ended.initialisations)
    if (const int status = clique->await()) return status;
  return call.finish(submit(ended.requests));
}

}  // extern "C"
