// Every kernel written by hand compiles, by NVRTC, for each type of element that it is used with and for chips old and
// new. With TERN_TEST_ALL_CHIPS=1 for seven chips, with a table of what ptxas reports, and none keeps registers in
// memory.
#include <sys/mman.h>

#include <cstdlib>

#include "in_processes.hpp"
#include "support/catch.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/tern.hpp"

using namespace tern;
namespace kernels = tern::detail::backend::cuda_kernels;

namespace {

using Types = std::vector<DType>;
const Types floating{DType::float32, DType::float64, DType::bfloat16, DType::float16};
const Types carriers{DType::uint8, DType::bfloat16, DType::int32, DType::int64};
const Types integers{DType::int64, DType::int32, DType::uint8, DType::bool_};
const Types single_and_half{DType::float32, DType::bfloat16, DType::float16};
const Types single{DType::float32};
const Types masks{DType::bool_};
const Types every_type{DType::float32, DType::float64, DType::bfloat16, DType::float16,
                       DType::int64,   DType::int32,   DType::uint8,    DType::bool_};

struct Use {
  const kernels::Kernel& kernel;
  const Types& types;
};
const Use uses[] = {
    {kernels::loss_sums_kernel, floating},
    {kernels::loss_total_kernel, floating},
    {kernels::power_sum_kernel, floating},
    {kernels::scale_gradients_kernel, floating},
    {kernels::layer_norm_columns_kernel, floating},
    {kernels::batch_norm_statistics_kernel, floating},
    {kernels::batch_norm_gradient_sums_kernel, floating},
    {kernels::attention_kernel, single_and_half},
    {kernels::attention_means_kernel, single_and_half},
    {kernels::attention_query_gradient_kernel, single_and_half},
    {kernels::attention_key_gradient_kernel, single_and_half},
    {kernels::arg_extreme_kernel, every_type},
    {kernels::integer_matmul_kernel, integers},
    {kernels::index_select_kernel, carriers},
    {kernels::gather_kernel, carriers},
    {kernels::embedding_bag_kernel, floating},
    {kernels::bag_factors_kernel, floating},
    {kernels::copy_rows_kernel, carriers},
    {kernels::transpose_kernel, carriers},
    {kernels::uniform_kernel, floating},
    {kernels::normal_kernel, floating},
    {kernels::integers_kernel, every_type},
    {kernels::dropout_kernel, floating},
    {kernels::true_positions_kernel, masks},
    {kernels::sort_keys_kernel, every_type},
    {kernels::take_sorted_kernel, every_type},
    {kernels::select_kernel, every_type},
    {kernels::searchsorted_kernel, every_type},
};
const kernels::Kernel* const untyped[] = {
    &kernels::power_total_kernel,       &kernels::make_keys_kernel,   &kernels::sort_chunks_kernel,
    &kernels::radix_count_kernel,       &kernels::radix_sweep_kernel, &kernels::last_moves_kernel,
    &kernels::row_numbers_kernel,       &kernels::count_true_kernel,  &kernels::check_range_kernel,
    &kernels::scatter_positions_kernel, &kernels::sort_order_kernel,  &kernels::refuse_if_kernel,
};

bool on_all_chips() { return std::getenv("TERN_TEST_ALL_CHIPS"); }

/// What ptxas reports: a thread's registers, a block's shared memory, and the bytes of registers that a thread keeps in
/// memory.
struct Resources {
  int registers, shared, spilled;
};

/// Compiles for one chip and reads ptxas' report. Error with the compiler's log.
Resources resources_of(const std::string& source, int chip) {
  const cuda::NvrtcFunctions& rtc = cuda::nvrtc().functions;
  const std::string target = detail::text({"--gpu-architecture=sm_", chip});
  const char* const options[] = {target.c_str(), "--std=c++17", "-default-device", "--ptxas-options=--verbose"};
  cuda::NvrtcProgram program = nullptr;
  TERN_NVRTC(nvrtcCreateProgram, &program, source.c_str(), "tern", 0, nullptr, nullptr);
  const int status = rtc.nvrtcCompileProgram(program, 4, options);
  std::size_t bytes = 0;
  TERN_NVRTC(nvrtcGetProgramLogSize, program, &bytes);
  std::string log(bytes, 0);
  TERN_NVRTC(nvrtcGetProgramLog, program, log.data());
  rtc.nvrtcDestroyProgram(&program);
  /// The number before a word, 0 without it.
  const auto number_before = [&](const char* word) {
    const std::size_t end = log.find(word),
                      begin = end == std::string::npos ? end : log.find_last_not_of("0123456789", end - 1);
    return begin == std::string::npos ? 0 : std::atoi(log.c_str() + begin + 1);
  };
  const Resources found{number_before(" registers"), number_before(" bytes smem"),
                        number_before(" bytes spill stores") + number_before(" bytes spill loads")};
  if (status || !found.registers) Error::fail("ptxas", {log});
  return found;
}

/// Memory that forks share.
template <class T>
struct Shared {
  T* const data;
  const std::size_t bytes;
  explicit Shared(std::size_t count)
      : data(static_cast<T*>(
            mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        bytes(count * sizeof(T)) {}
  ~Shared() { munmap(data, bytes); }
};

/// Sources that are compiled for the oldest chip that the compiler knows of those that the library serves, and for
/// newer ones.
class Compilations {
 public:
  void add(const std::string& source, const std::string& name, int oldest = 75) {
    for (const int chip : chips())
      if (chip >= oldest) all_.push_back({source, name, chip});
  }
  void add(const kernels::Kernel& kernel, std::initializer_list<DType> types, int oldest = 75) {
    std::string name = kernel.name;
    for (const DType type : types) name += detail::text({", ", detail::name_of(type)});
    add(kernels::typed_source(kernel, types), name, oldest);
  }
  template <class P>
  void add(const kernels::PackedKernel<P>& kernel) {
    for (const auto* const variant : {&kernel.aligned_packs, &kernel.unaligned_packs, &kernel.single_elements})
      for (const DType type : floating) add(*variant, {type});
  }
  void check() const {
    REQUIRE(!all_.empty());
    const Shared<Resources> found(all_.size());
    REQUIRE(found.data != MAP_FAILED);
    CHECK(tern_test::failures_in_processes(all_.size(),
                                           [&](std::size_t k) { return all_[k].compiles(found.data[k]); }) == 0);
    if (on_all_chips()) print(found.data);
  }

 private:
  struct Compilation {
    std::string source, name;
    int chip;

    bool compiles(Resources& found) const {
      try {
        if (on_all_chips()) {
          found = resources_of(source, chip);
          if (!found.spilled) return true;
          std::printf("FAILED %s for sm_%d: %d bytes of registers are kept in memory\n", name.c_str(), chip,
                      found.spilled);
          return false;
        }
        if (cuda::detail::compile(source, chip / 10, chip % 10).size() > 100) return true;
        std::printf("FAILED %s for sm_%d: next to nothing\n", name.c_str(), chip);
      } catch (const Error& error) { std::printf("FAILED %s for sm_%d: %s\n", name.c_str(), chip, error.what()); }
      return false;
    }
  };
  std::vector<Compilation> all_;

  static const std::vector<int>& chips() {
    static const std::vector<int> all{75, 80, 86, 89, 90, 100, 120}, few{75, 90, 120};
    return on_all_chips() ? all : few;
  }
  /// A line for each kernel: registers, spilled bytes and bytes of shared memory for each chip.
  void print(const Resources* found) const {
    std::printf("%-48s", "registers/spilled/shared");
    for (const int chip : chips()) std::printf(" %13s", detail::text({"sm_", chip}).c_str());
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (k % chips().size() == 0) std::printf("\n%-48s", all_[k].name.c_str());
      std::printf(" %13s", detail::text({found[k].registers, "/", found[k].spilled, "/", found[k].shared}).c_str());
    }
    std::printf("\n");
  }
};

bool has_compiler() {
  try {
    cuda::nvrtc();
  } catch (const Error&) { return false; }
  return true;
}

}  // namespace

TEST_CASE("kernels on elements compile") {
  if (!has_compiler()) SKIP_TEST("needs NVRTC");
  Compilations all;
  for (const Use& use : uses)
    for (const DType type : use.types) all.add(use.kernel, {type});
  for (const kernels::ScanKernels* const layout :
       {&kernels::scan_packs_kernels, &kernels::scan_rows_kernels, &kernels::scan_columns_kernels})
    for (const auto& kernel : layout->of_kind)
      for (const DType type : every_type) all.add(kernel, {type});
  all.check();
}

TEST_CASE("kernels on tensor cores compile") {
  if (!has_compiler()) SKIP_TEST("needs NVRTC");
  Compilations all;
  const auto add = [&](const auto& table) {
    for (const auto& kernel : table)
      for (const DType type : single_and_half)
        if (detail::size_of(type) == kernel.shape.bytes) all.add(kernel, {type}, 80);
  };
  add(kernels::attention_tile_kernels);
  add(kernels::attention_tile_query_kernels);
  add(kernels::attention_tile_key_kernels);
  all.check();
}

TEST_CASE("kernels on packs compile, and for single elements") {
  if (!has_compiler()) SKIP_TEST("needs NVRTC");
  Compilations all;
  all.add(kernels::softmax_kernel);
  all.add(kernels::softmax_gradient_kernel);
  all.add(kernels::cross_entropy_kernel);
  all.add(kernels::cross_entropy_gradient_kernel);
  all.add(kernels::layer_norm_kernel);
  all.add(kernels::layer_norm_gradient_kernel);
  all.add(kernels::layer_norm_parts_kernel);
  all.add(kernels::batch_norm_parts_kernel);
  all.add(kernels::batch_norm_kernel);
  all.add(kernels::batch_norm_gradient_parts_kernel);
  all.add(kernels::batch_norm_gradient_kernel);
  all.check();
}

TEST_CASE("kernels of two types compile") {
  if (!has_compiler()) SKIP_TEST("needs NVRTC");
  Compilations all;
  const kernels::Kernel* const rows[] = {&kernels::add_rows_kernel, &kernels::add_parts_kernel};
  for (const DType type : every_type) {
    const bool half = type == DType::bfloat16 || type == DType::float16;
    for (const kernels::Kernel* kernel : rows) {
      all.add(*kernel, {half ? DType::float32 : type, type});
      all.add(*kernel, {type, type});
    }
    all.add(kernels::range_kernel, {type, detail::is_floating(type) ? DType::float64 : type});
  }
  const kernels::Kernel* const pooling[] = {&kernels::max_pool_kernel, &kernels::max_pool_gradient_kernel,
                                            &kernels::average_pool_kernel, &kernels::average_pool_gradient_kernel};
  for (const DType type : floating)
    for (const kernels::Kernel* kernel : pooling)
      for (const DType places : {DType::int32, DType::int64}) all.add(*kernel, {type, places});
  all.check();
}

TEST_CASE("kernels on numbers compile") {
  if (!has_compiler()) SKIP_TEST("needs NVRTC");
  Compilations all;
  for (const kernels::Kernel* kernel : untyped) all.add(*kernel, {});
  all.check();
}

TEST_CASE("kernels that a graph replays with new words compile") {
  if (!has_compiler()) SKIP_TEST("needs NVRTC");
  Compilations all;
  const kernels::Kernel* const drawn[] = {&kernels::uniform_kernel, &kernels::normal_kernel, &kernels::integers_kernel,
                                          &kernels::dropout_kernel};
  for (const kernels::Kernel* kernel : drawn)
    all.add(cuda::detail::live_source(kernels::typed_source(*kernel, {DType::float32})), kernel->name);
  const auto rule = []<class V>(V& p, V g, V& m) {
    m = V(0.9) * m + g;
    p = p - V(0.1) * m;
  };
  const kernels::TracedUpdate update(detail::Type<float>{}, rule, std::make_index_sequence<3>{});
  detail::Array p{}, g{}, m{};
  p.dtype = m.dtype = DType::float32;
  g.dtype = DType::bfloat16;
  const detail::Array* const arrays[] = {&p, &g, &m};
  for (const int room : {1, kernels::most_sets(update)}) {
    cuda::Grid grid;
    const kernels::KernelParameters parameters = kernels::update_parameters(update, arrays, {0, 1, room}, grid);
    all.add(cuda::detail::live_source(kernels::update_source(update, arrays, 0b101, parameters)), "update");
  }
  all.check();
}
