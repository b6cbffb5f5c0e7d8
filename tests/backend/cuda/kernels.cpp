// Every kernel written by hand compiles, by NVRTC, for each type of element that it is used with and for chips old and
// new.
#include "in_processes.hpp"
#include "support/catch.hpp"
#include "tern/device/cuda/graph.hpp"
#include "tern/tern.hpp"

using namespace tern;
namespace kernels = tern::backend::cuda_kernels;

namespace {

using Types = std::vector<DType>;
const Types floating{DType::float32, DType::float64, DType::bfloat16, DType::float16};
const Types carriers{DType::uint8, DType::bfloat16, DType::int32, DType::int64};
const Types integers{DType::int64, DType::int32, DType::uint8, DType::boolean};
const Types single{DType::float32};
const Types every_type{DType::float32, DType::float64, DType::bfloat16, DType::float16,
                       DType::int64,   DType::int32,   DType::uint8,    DType::boolean};

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
    {kernels::attention_kernel, single},
    {kernels::attention_means_kernel, single},
    {kernels::attention_query_gradient_kernel, single},
    {kernels::attention_key_gradient_kernel, single},
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
    {kernels::recurrence_kernel, floating},
    {kernels::recurrence_gradient_kernel, floating},
    {kernels::scan_rows_kernel, every_type},
    {kernels::scan_columns_kernel, every_type},
    {kernels::sort_keys_kernel, every_type},
    {kernels::take_sorted_kernel, every_type},
    {kernels::searchsorted_kernel, every_type},
};
const kernels::Kernel* const untyped[] = {
    &kernels::power_total_kernel,    &kernels::make_keys_kernel,      &kernels::sort_chunks_kernel, &kernels::radix_count_kernel,
    &kernels::radix_sums_kernel,     &kernels::radix_move_kernel,
    &kernels::last_moves_kernel,     &kernels::row_numbers_kernel, &kernels::count_parts_kernel,
    &kernels::true_positions_kernel, &kernels::check_range_kernel, &kernels::scatter_positions_kernel,
    &kernels::sort_order_kernel,     &kernels::refuse_if_kernel,
};

/// Sources that are compiled for the oldest chip that the compiler knows of those that the library serves, and for newer ones.
class Compilations {
 public:
  void add(const std::string& source, const std::string& name) {
    for (const int chip : {75, 90, 120}) all_.push_back({source, name, chip});
  }
  void add(const kernels::Kernel& kernel, std::initializer_list<DType> types) {
    add(kernels::typed_source(kernel, types), std::string(kernel.name) + (types.size() ? std::string(", ") + name_of(*types.begin()) : ""));
  }
  template <class P>
  void add(const kernels::PackedKernel<P>& kernel) {
    for (const auto* const variant : {&kernel.aligned_packs, &kernel.unaligned_packs, &kernel.single_elements})
      for (const DType type : floating) add(*variant, {type});
  }
  void check() const {
    REQUIRE(!all_.empty());
    CHECK(tern_test::failures_in_processes(all_.size(), [this](std::size_t k) { return all_[k].compiles(); }) == 0);
  }

 private:
  struct Compilation {
    std::string source, name;
    int chip;

    bool compiles() const {
      try {
        if (cuda::detail::compile(source, chip / 10, chip % 10).size() > 100) return true;
        std::printf("FAILED %s for sm_%d: next to nothing\n", name.c_str(), chip);
      } catch (const Error& error) { std::printf("FAILED %s for sm_%d: %s\n", name.c_str(), chip, error.what()); }
      return false;
    }
  };
  std::vector<Compilation> all_;
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
    all.add(kernels::range_kernel, {type, is_floating(type) ? DType::float64 : type});
  }
  const kernels::Kernel* const pooling[] = {&kernels::max_pool_kernel, &kernels::max_pool_gradient_kernel, &kernels::average_pool_kernel,
                                            &kernels::average_pool_gradient_kernel};
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
  const kernels::TracedUpdate update(Type<float>{}, rule, std::make_index_sequence<3>{});
  Array p{}, g{}, m{};
  p.dtype = m.dtype = DType::float32;
  g.dtype = DType::bfloat16;
  const Array* const arrays[] = {&p, &g, &m};
  for (const int room : {1, kernels::most_sets(update)}) {
    cuda::Grid grid;
    const kernels::ParameterList parameters = kernels::update_parameters(update, arrays, {0, 1, room}, grid);
    all.add(cuda::detail::live_source(kernels::update_source(update, arrays, 0b101, parameters)), "update");
  }
  all.check();
}
