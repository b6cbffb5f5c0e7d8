// libcupti: one subscriber, its callbacks, and records of activity.
#include <algorithm>
#include <cstring>

#include "activity.hpp"
#include "call.hpp"
#include "exports.hpp"
#include "settings.hpp"

using namespace emulator;
using namespace abi;

namespace {

constexpr int known_kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_KERNEL,
                               CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY2};

std::size_t size_of(const CUpti_Activity& record) {
  const bool old = settings().cupti < 130000;
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return old ? 200 : 224;
    case CUPTI_ACTIVITY_KIND_MEMCPY: return old ? 88 : 96;
    case CUPTI_ACTIVITY_KIND_MEMSET: return 88;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return 96;
    default: return 0;
  }
}

// Hands the records over in buffers of the client's, the last ones first: the documentation promises no order. The
// client is called without the lock.
CUptiResult hand_over(std::vector<PendingRecord> records) {
  const auto request = cupti().request;
  const auto complete = cupti().complete;
  std::unique_lock<std::mutex>& lock = *current_lock();
  CUptiResult status = CUPTI_SUCCESS;
  while (!records.empty() && !status) {
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0, most = 0, used = 0, count = 0;
    lock.unlock();
    request(&buffer, &bytes, &most);
    lock.lock();
    if (!buffer || reinterpret_cast<std::uintptr_t>(buffer) % 8)
      return refuse(CUPTI_ERROR_UNKNOWN, "a buffer must be aligned to 8 bytes; the records are dropped",
                    page::cupti_activity);
    while (!records.empty() && used + records.back().bytes.size() <= bytes && (!most || count < most)) {
      std::memcpy(buffer + used, records.back().bytes.data(), records.back().bytes.size());
      used += records.back().bytes.size();
      ++count;
      records.pop_back();
    }
    if (!count)
      status =
          refuse(CUPTI_ERROR_UNKNOWN, "no record fits into the buffer; the records are dropped", page::cupti_activity);
    lock.unlock();
    complete(nullptr, 0, buffer, bytes, used);
    lock.lock();
  }
  return status;
}

CUptiResult set_kind(int kind, bool on) {
  auto& kinds = cupti().kinds;
  if (std::find(std::begin(known_kinds), std::end(known_kinds), kind) == std::end(known_kinds))
    return refuse(CUPTI_ERROR_INVALID_KIND, "activity of kind " + std::to_string(kind) + " is unknown or not emulated",
                  page::cupti_activity);
  const int other = kind == CUPTI_ACTIVITY_KIND_KERNEL              ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                    : kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? CUPTI_ACTIVITY_KIND_KERNEL
                                                                    : 0;
  if (on && std::find(kinds.begin(), kinds.end(), other) != kinds.end())
    return refuse(CUPTI_ERROR_NOT_COMPATIBLE, "KERNEL and CONCURRENT_KERNEL exclude each other", page::cupti_activity);
  std::erase(kinds, kind);
  if (on) kinds.push_back(kind), cupti().used = true;
  return CUPTI_SUCCESS;
}

CUptiResult no_such_subscriber() {
  return refuse(CUPTI_ERROR_INVALID_PARAMETER, "not the handle of the subscriber", page::cupti_callback);
}

}  // namespace

struct abi::CUpti_Subscriber_st {};

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  *version = static_cast<std::uint32_t>(settings().cupti);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  switch (result) {
#define TEXT(name, value, what) \
  case name: *text = what; return CUPTI_SUCCESS;
    ABI_CUPTI_ERRORS(TEXT)
#undef TEXT
    default: return refuse(CUPTI_ERROR_INVALID_PARAMETER, "no result", page::cupti_activity);
  }
}

CUptiResult cuptiGetTimestamp(std::uint64_t* ns) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  *ns = state().now;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  if (!subscriber) return refuse(CUPTI_ERROR_INVALID_PARAMETER, "no place for the handle", page::cupti_callback);
  Cupti& c = cupti();
  if (c.subscriber)
    return refuse(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "there is a subscriber already",
                  page::cupti_callback);
  c.subscriber = *subscriber = new CUpti_Subscriber_st;
  c.callback = callback;
  c.user = user;
  c.used = true;
  add_live("cupti subscriber", c.subscriber);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN, releases);
  Cupti& c = cupti();
  if (!subscriber || subscriber != c.subscriber) return no_such_subscriber();
  remove_live(subscriber);
  delete subscriber;
  c.subscriber = nullptr;
  for (auto& domain : c.told)
    for (auto& one : domain) one = false;
  return call.finish(CUPTI_SUCCESS);
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle subscriber, int domain,
                                std::uint32_t cbid) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  Cupti& c = cupti();
  if (!subscriber || subscriber != c.subscriber) return no_such_subscriber();
  if (domain < CUPTI_CB_DOMAIN_DRIVER_API || domain > CUPTI_CB_DOMAIN_RUNTIME_API || !cbid || cbid >= Cupti::most_cbids)
    return refuse(CUPTI_ERROR_INVALID_PARAMETER, "a domain or a callback's number that is unknown or not emulated",
                  page::cupti_callback);
  c.told[domain - 1][cbid] = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  if (!request || !complete)
    return refuse(CUPTI_ERROR_INVALID_PARAMETER, "both callbacks are needed", page::cupti_activity);
  cupti().request = request;
  cupti().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(int kind) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  return set_kind(kind, true);
}

CUptiResult cuptiActivityDisable(int kind) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  return set_kind(kind, false);
}

// Forced, it hands over records of work that has not ended, without their times.
CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  if (flag > 1) return refuse(CUPTI_ERROR_INVALID_PARAMETER, "unknown flags", page::cupti_activity);
  Cupti& c = cupti();
  if (!c.complete)
    return refuse(CUPTI_ERROR_INVALID_OPERATION, "cuptiActivityRegisterCallbacks has not been called",
                  page::cupti_activity);
  std::vector<PendingRecord> ended;
  std::deque<PendingRecord> pending;
  for (PendingRecord& record : c.pending) {
    const bool has_ended = record.stream->done >= record.count;
    if (!has_ended && flag) std::memset(record.bytes.data() + offsetof(CUpti_ActivityMemcpy, start), 0, 16);
    if (has_ended || flag) ended.push_back(std::move(record));
    else pending.push_back(std::move(record));
  }
  c.pending = std::move(pending);
  return hand_over(std::move(ended));
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  EMULATED_CALL(CUPTI_ERROR_UNKNOWN);
  if (!buffer) return refuse(CUPTI_ERROR_INVALID_PARAMETER, "no buffer", page::cupti_activity);
  std::uint8_t* next = buffer;
  if (*record) next = reinterpret_cast<std::uint8_t*>(*record) + size_of(**record);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

}  // extern "C"
