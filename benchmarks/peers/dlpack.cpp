// What dlpack.py calls: tensors as handles, given and taken through DLPack.
#include <tern/io/dlpack.hpp>
#include <tern/tern.hpp>

using namespace tern;
using io::dlpack::DLManagedTensor;
using io::dlpack::DLManagedTensorVersioned;

extern "C" {

AnyTensor* take(void* given, bool versioned) {
  try {
    return new AnyTensor(versioned ? io::from_dlpack(static_cast<DLManagedTensorVersioned*>(given))
                                   : io::from_dlpack(static_cast<DLManagedTensor*>(given)));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return nullptr;
  }
}
void* give(const AnyTensor* tensor, bool versioned) {
  if (versioned) return io::to_dlpack(*tensor);
  return io::to_dlpack_unversioned(*tensor);
}
AnyTensor* transposed_range(Index rows, Index columns) {
  return new AnyTensor(arange<Cpu, float>(rows * columns).view({rows, columns}).t());
}
void* address(const AnyTensor* tensor) { return tensor->impl()->data; }
double sum(const AnyTensor* tensor) { return double(tensor->as<Cpu>().sum().item()); }
void add_one(const AnyTensor* tensor) { tensor->as<Cpu>().add_(1.); }
void drop(AnyTensor* tensor) { delete tensor; }
Index bytes_held() { return detail::cpu::memory_stats().current; }
}
