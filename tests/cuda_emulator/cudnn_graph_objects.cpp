// libcudnn: the functions that make descriptors of graphs and set and get their attributes.
#include <algorithm>
#include <cstring>

#include "call.hpp"
#include "cudnn_graph.hpp"
#include "exports.hpp"
#include "settings.hpp"

using namespace emulator;
using namespace emulator::dnn;
using namespace abi;

namespace emulator::dnn {

std::vector<std::int64_t> Part::integers(int attribute) const {
  const auto found = values.find(attribute);
  if (found == values.end() || found->second.count == 0) return {};
  const Value& v = found->second;
  std::vector<std::int64_t> out(static_cast<std::size_t>(v.count));
  const std::size_t width = v.bytes.size() / out.size();  // little endian
  for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], v.bytes.data() + i * width, width);
  return out;
}

std::int64_t Part::integer(int attribute, std::int64_t otherwise) const {
  const std::vector<std::int64_t> all = integers(attribute);
  return all.empty() ? otherwise : all[0];
}

double Part::number(int attribute, double otherwise) const {
  const auto found = values.find(attribute);
  if (found == values.end()) return otherwise;
  double wide;
  float narrow;
  if (found->second.type == CUDNN_TYPE_DOUBLE) return std::memcpy(&wide, found->second.bytes.data(), sizeof wide), wide;
  return std::memcpy(&narrow, found->second.bytes.data(), sizeof narrow), narrow;
}

const Part* Part::part(int attribute) const {
  const auto found = values.find(attribute);
  return found == values.end() || found->second.parts.empty() ? nullptr : found->second.parts[0].get();
}

}  // namespace emulator::dnn

namespace {

constexpr const char* kind_of_object = "backend desc";

PartPtr& part_of(cudnnBackendDescriptor_t desc) { return *static_cast<PartPtr*>(desc); }

bool is_descriptor(cudnnBackendDescriptor_t desc) {
  const auto found = state().live.find(desc);
  return found != state().live.end() && found->second.kind && !std::strcmp(found->second.kind, kind_of_object);
}

std::size_t bytes_of(int type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    default: return 4;
  }
}

// What setting and getting have in common. After it `a` is set.
int find(const Part& part, int name, int type, const char* page, const Attribute*& a) {
  a = find_attribute(part.kind, name);
  if (!a || a->since > settings().cudnn)
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "a descriptor of kind " + std::to_string(part.kind) + " has no attribute " + std::to_string(name) +
                      ", or not in this version, or it is not emulated",
                  page);
  if (type != a->type && type != a->other)
    return refuse(
        CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
        "attribute " + std::to_string(name) + " has type " + std::to_string(a->type) + ", not " + std::to_string(type),
        page);
  return CUDNN_STATUS_SUCCESS;
}

// Descriptors as an attribute.
int collect(const Attribute& a, std::int64_t count, const void* values, Value& value) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto desc = static_cast<const cudnnBackendDescriptor_t*>(values)[i];
    if (!is_descriptor(desc))
      return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or it was destroyed", page::graph_set);
    const PartPtr& part = part_of(desc);
    if (a.part >= 0 && part->kind != a.part)
      return refuse(CUDNN_STATUS_BAD_PARAM,
                    "attribute " + std::to_string(a.name) + " is a descriptor of kind " + std::to_string(a.part) +
                        ", not " + std::to_string(part->kind),
                    page::graph_set);
    value.parts.push_back(part);
  }
  return CUDNN_STATUS_SUCCESS;
}

// The first required attribute that is not set, or descriptor that is not finalised.
Refusal lacking(const Part& part) {
  for (const Attribute& a : attributes())
    if (a.kind == part.kind && a.flags & required && !part.has(a.name))
      return {CUDNN_STATUS_BAD_PARAM, "attribute " + std::to_string(a.name) + " is not set"};
  for (const auto& [name, value] : part.values)
    for (const PartPtr& p : value.parts)
      if (!p->finished)
        return {CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                "the descriptor that is attribute " + std::to_string(name) + " is not finalised"};
  return {};
}

}  // namespace

extern "C" {

void cudnnGetLastErrorString(char* message, std::size_t size) {
  const std::lock_guard lock(state().mutex);
  if (!message || !size) return;
  const std::string& last = last_message();
  const std::size_t n = std::min(size - 1, last.size());
  std::memcpy(message, last.data(), n);
  message[n] = 0;
}

cudnnStatus_t cudnnBackendCreateDescriptor(int kind, cudnnBackendDescriptor_t* desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  const int since = kind_since(kind);
  if (!since || since > settings().cudnn)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED,
                  "there are no descriptors of kind " + std::to_string(kind) +
                      ", or not in this version, or they are not emulated",
                  page::graph_create);
  PartPtr* made = nullptr;
  if (const int status = create(kind_of_object, desc ? &made : nullptr)) return status;
  *made = std::make_shared<Part>();
  (*made)->kind = kind;
  *desc = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR, releases);
  return call.finish(destroy(static_cast<PartPtr*>(desc)));
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t desc, int attribute, int type, std::int64_t count,
                                       const void* values) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_descriptor(desc) || !values)
    return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no such descriptor, or a null pointer", page::graph_set);
  Part& part = *part_of(desc);
  if (part.finished)
    return refuse(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalised and cannot be set", page::graph_set);
  const Attribute* a = nullptr;
  if (const int status = find(part, attribute, type, page::graph_set, a)) return status;
  if (a->flags & read_only || count < 1 || count > a->most)
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "attribute " + std::to_string(attribute) + " can only be read, or has not " + std::to_string(count) +
                      " elements",
                  page::graph_set);
  Value value{type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    if (const int status = collect(*a, count, values, value)) return status;
  } else {
    const char* const bytes = static_cast<const char*>(values);
    value.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * bytes_of(type));
  }
  part.values[attribute] = std::move(value);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const desc, int attribute, int type, std::int64_t most,
                                       std::int64_t* count, void* values) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_descriptor(desc) || !part_of(desc)->finished)
    return refuse(CUDNN_STATUS_NOT_INITIALIZED, "no such descriptor, or it is not finalised", page::graph_get);
  const Part& part = *part_of(desc);
  const Attribute* a = nullptr;
  if (const int status = find(part, attribute, type, page::graph_get, a)) return status;
  if (most < 0 || (most && !values) || (!most && !count))
    return refuse(CUDNN_STATUS_BAD_PARAM, "nowhere to put it", page::graph_get);
  const auto found = part.values.find(attribute);
  const bool is_set = found != part.values.end();
  const std::int64_t there = !is_set ? 0
                             : type == CUDNN_TYPE_BACKEND_DESCRIPTOR
                                 ? static_cast<std::int64_t>(found->second.parts.size())
                                 : found->second.count;
  const std::int64_t given = std::min(most, there);
  // Without room for any it says how many there are at most.
  if (count) *count = most ? given : is_set ? found->second.count : 0;
  for (std::int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < given; ++i) {
    const auto target = static_cast<cudnnBackendDescriptor_t*>(values)[i];
    const PartPtr& source = found->second.parts[static_cast<std::size_t>(i)];
    if (!is_descriptor(target) || part_of(target)->kind != source->kind)
      return refuse(CUDNN_STATUS_BAD_PARAM, "what is got is put in descriptors of its kind, which exist before",
                    page::graph_get);
    part_of(target) = source;
  }
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR && given)
    std::memcpy(values, found->second.bytes.data(), static_cast<std::size_t>(given) * bytes_of(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t desc) {
  EMULATED_CALL(CUDNN_STATUS_INTERNAL_ERROR);
  if (!is_descriptor(desc) || part_of(desc)->finished)
    return refuse(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or it is finalised", page::graph_finalize);
  Part& part = *part_of(desc);
  Refusal why = lacking(part);
  if (!why.status) why = finalize(part);
  if (why.status)
    return refuse(why.status, "a descriptor of kind " + std::to_string(part.kind) + ": " + why.reason,
                  page::graph_finalize);
  part.finished = true;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
