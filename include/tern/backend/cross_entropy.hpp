// The contract: cross entropy with class indices. All arrays are dense, but for rows of x and dx [N, C] with the gaps
// that results of products have on the device (row_pitch); both have the same then. x and dx have the classes in
// dimension 1; the rows along it are the samples. A target out of range is an Error that names it. Cuda waits for no
// kernel: it gives such a row the loss NaN, the weight 0 and the gradient 0, and throws the Error when the host next
// waits for the device.
#pragma once
#include "../core/array.hpp"
#include "../core/reduction.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: for each row, with l = log(sum of e^x), t its target, w = weight and s = smoothing,
/// loss = (1 - s) w[t] (l - x[t]) + s / C · sum over c of w[c] (l - x[c]), and 0 where t is ignore_index.
struct CrossEntropy {
  struct Options {
    const char* op;  // the Error's op
    Index ignore_index;
    double smoothing;
    Reduction reduction;
    bool normalised;  // x holds log-probabilities, so l is 0
  };
  const Array& y;        // the losses, their sum, or their sum over total
  const Array& log_sum;  // l of each row, of type compute_t<T>
  const Array& total;    // one number of type compute_t<T>: the sum of w[t] for a mean, else 1
  const Array& x;
  const Array& target;  // int64
  const Array* weight;  // for each class; null: ones
  Options options;
};

/// run<D, T>: dx from y's gradient g and the arrays log_sum and total of CrossEntropy.
struct CrossEntropyGradient {
  const Array& dx;
  const Array& g;
  const Array& log_sum;
  const Array& total;
  const Array& x;
  const Array& target;
  const Array* weight;
  CrossEntropy::Options options;
};

}}}  // namespace tern::detail::backend
