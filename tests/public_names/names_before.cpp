// A program's names come before all headers of tern, which then find their own.
enum Outcome { ok, fail };
const char* backend = "tern";
const int kernel = 3;

#include <tern/tern.hpp>
#include <tern/data/csv.hpp>
#include <tern/distributed/distributed.hpp>
#include <tern/distributions.hpp>
#include <tern/io/io.hpp>
#include <tern/linalg/linalg.hpp>
#include <tern/models/models.hpp>
#include <tern/profile/placement.hpp>
#include <tern/train/train.hpp>
using namespace tern;

Outcome use(const Tensor<Cpu>& x) {
  const auto y = conv2d(x, ones<Cpu>({1, 1, kernel, kernel}), {}, {.padding = kernel / 2});
  const auto z = linalg::cholesky(y);
  return *backend && softmax(z, -1).sum().item() > 0 ? ok : fail;
}
