// A profiler of its own, which the driver loads where CUDA_INJECTION64_PATH names it: takes CUPTI's only subscription,
// and at the program's end writes the durations in ns of each kernel, by name, and each copy, by direction and bytes,
// to the file INJECTED_OUT. It has nothing of tern, so that tern's ledger can be compared with it. INJECTED_CUPTI is
// libcupti's path.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../cuda_emulator/abi_functions.hpp"

namespace {

using namespace abi;

#define POINTER(name, result, parameters) result(*name) parameters = nullptr;
struct Functions {
  ABI_CUPTI_FUNCTIONS(POINTER)
} cupti;

// Never destroyed: the program's end writes them.
std::map<std::string, std::vector<unsigned long long>>& durations =
    *new std::map<std::string, std::vector<unsigned long long>>;
std::mutex& mutex = *new std::mutex;

void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *bytes = 1 << 22;
  *records = 0;
  *buffer = static_cast<std::uint8_t*>(std::malloc(*bytes));
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (valid && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpy*>(record);
      const bool in = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
                 out = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
      const std::string key = in ? "to device " : out ? "to host " : "on device ";
      durations[key + std::to_string(copy.bytes)].push_back(copy.end - copy.start);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto& fill = *reinterpret_cast<const CUpti_ActivityMemset*>(record);
      durations["fill " + std::to_string(fill.bytes)].push_back(fill.end - fill.start);
    } else {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel*>(record);
      durations[std::string("kernel ") + kernel.name].push_back(kernel.end - kernel.start);
    }
  }
  std::free(buffer);
}

void write() {
  cupti.cuptiActivityFlushAll(1);
  std::FILE* const out = std::fopen(std::getenv("INJECTED_OUT"), "w");
  if (!out) return;
  const char* separator = "{\n";
  for (const auto& [key, all] : durations) {
    std::fprintf(out, "%s\"%s\": [", separator, key.c_str());
    for (std::size_t i = 0; i < all.size(); ++i) std::fprintf(out, "%s%llu", i ? ", " : "", all[i]);
    std::fputs("]", out);
    separator = ",\n";
  }
  std::fputs(durations.empty() ? "{}\n" : "}\n", out);
  std::fclose(out);
}

void ignore(void*, int, std::uint32_t, const void*) {}

}  // namespace

extern "C" int InitializeInjection() {
  const char* const path = std::getenv("INJECTED_CUPTI");
  void* const library = path && std::getenv("INJECTED_OUT") ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) return 0;
#define LOAD(name, result, parameters) cupti.name = reinterpret_cast<result(*) parameters>(dlsym(library, #name));
  ABI_CUPTI_FUNCTIONS(LOAD)
  static CUpti_SubscriberHandle subscriber = nullptr;
  if (cupti.cuptiSubscribe(&subscriber, ignore, nullptr)) return 0;
  cupti.cuptiActivityRegisterCallbacks(request, complete);
  for (const int kind : {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL})
    cupti.cuptiActivityEnable(kind);
  std::atexit(write);
  return 1;
}
