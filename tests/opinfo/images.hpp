// Layers of images: pooling, normalisation of channels.
#pragma once
#include "table.hpp"

namespace opinfo {

/// The pooling itself, or with the places it chose.
template <class D, class T, class F, class G>
Results with_places(const Call<D, T>& c, int position, F pool, G with_indices) {
  if (!c.flag(position, "return_indices", false)) return {pool()};
  const auto result = with_indices();
  return {result.values, result.indices};
}

#define TERN_MAX_POOL(name)                                                                                        \
  {"nn.functional." #name, [](C& c) {                                                                              \
     const auto x = c.x(0);                                                                                        \
     const tern::detail::Dims kernel = c.dims(1, "kernel_size");                                                   \
     const tern::MaxPoolOptions options = c.max_pool_options();                                                    \
     return with_places(                                                                                           \
         c, 6, [&] { return name(x, kernel, options); }, [&] { return name##_with_indices(x, kernel, options); }); \
   }}
#define TERN_AVG_POOL(name) \
  {"nn.functional." #name, [](C& c) { return Results{name(c.x(0), c.dims(1, "kernel_size"), c.avg_pool_options())}; }}

template <class D, class T>
Table<D, T> images() {
  using C = Call<D, T>;
  return {
      TERN_MAX_POOL(max_pool1d),
      TERN_MAX_POOL(max_pool2d),
      TERN_AVG_POOL(avg_pool1d),
      TERN_AVG_POOL(avg_pool2d),
      {"nn.functional.adaptive_avg_pool1d",
       [](C& c) { return Results{adaptive_avg_pool1d(c.x(0), c.output_size(1))}; }},
      {"nn.functional.adaptive_avg_pool2d",
       [](C& c) { return Results{adaptive_avg_pool2d(c.x(0), c.output_size(1))}; }},
      {"nn.functional.adaptive_max_pool2d",
       [](C& c) {
         const auto x = c.x(0);
         const tern::detail::Dims size = c.output_size(1);
         return with_places(
             c, 2, [&] { return adaptive_max_pool2d(x, size); },
             [&] { return adaptive_max_pool2d_with_indices(x, size); });
       }},
      {"nn.functional.batch_norm",
       [](C& c) {
         return Results{batch_norm(c.x(0), c.statistics(1, "running_mean"), c.statistics(2, "running_var"),
                                   c.optional_x(3, "weight"), c.optional_x(4, "bias"), c.flag("training", false),
                                   c.number("momentum", 0.1), c.number("eps", 1e-5))};
       }},
      {"nn.functional.group_norm",
       [](C& c) {
         return Results{group_norm(c.x(0), c.integer(1, "num_groups"), c.optional_x(2, "weight"),
                                   c.optional_x(3, "bias"), c.number(4, "eps", 1e-5))};
       }},
      {"nn.functional.instance_norm",
       [](C& c) {
         return Results{instance_norm(c.x(0), c.statistics(1, "running_mean"), c.statistics(2, "running_var"),
                                      c.optional_x(3, "weight"), c.optional_x(4, "bias"),
                                      c.flag("use_input_stats", true), c.number("momentum", 0.1),
                                      c.number("eps", 1e-5))};
       }},
      {"nn.functional.local_response_norm",
       [](C& c) {
         return Results{local_response_norm(c.x(0), c.integer(1, "size"), c.number(2, "alpha", 1e-4),
                                            c.number(3, "beta", 0.75), c.number(4, "k", 1))};
       }},
  };
}

}  // namespace opinfo
