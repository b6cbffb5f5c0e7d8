// Which convolutions cudnn computes, and by which algorithms: the tables of its documentation, as far as they are
// emulated.
#include <algorithm>
#include <cstdlib>

#include "call.hpp"
#include "cudnn.hpp"
#include "settings.hpp"

using namespace abi;

namespace emulator::dnn {

const std::vector<Algorithm>& algorithms(Pass pass) {
  constexpr std::size_t kilobyte = 1 << 10;
  // number, deterministic, NHWC filter, NHWC 5-d, NCHW 5-d, dilated, strided, doubles, kernel, tensor cores, workspace;
  // fastest first
  static const std::vector<Algorithm> forward{
      {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, true, true, true, true, true, true, true, 0, true,
       4 * kilobyte},
      {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, true, false, false, false, false, false, false, 3, false,
       256 * kilobyte},
      {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, true, true, false, true, true, true, true, 0, false, 0},
      {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, true, false, false, false, false, true, true, 0, false, 128 * kilobyte}};
  static const std::vector<Algorithm> data{
      {CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, false, true, false, true, true, true, true, 0, false, 0},
      {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, true, true, true, true, true, true, true, 0, true, 64 * kilobyte},
      {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, true, false, false, false, false, false, false, 3, false,
       256 * kilobyte}};
  static const std::vector<Algorithm> filter{
      {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, false, true, false, true, true, true, true, 0, false, 0},
      {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, true, true, true, true, true, true, true, 0, true, 64 * kilobyte},
      {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, false, false, false, true, false, true, true, 0, false, 16 * kilobyte},
      {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, true, false, false, false, false, false, false, 3, false,
       256 * kilobyte}};
  return pass == Pass::forward ? forward : pass == Pass::data ? data : filter;
}

const Algorithm* find_algorithm(Pass pass, int number) {
  for (const Algorithm& a : algorithms(pass))
    if (a.number == number) return &a;
  return nullptr;
}

const char* page_of(Pass pass) {
  return pass == Pass::forward ? page::convolution_forward
         : pass == Pass::data  ? page::convolution_data
                               : page::convolution_filter;
}

bool rounds_to_tf32(const Convolution& c, const Algorithm& algorithm) {
  return c.x.type == CUDNN_DATA_FLOAT && algorithm.tensor_cores && c.conv.math != CUDNN_FMA_MATH &&
         settings().capability >= 80;
}

int check_convolution(const Convolution& c, Pass pass) {
  const int nd = c.x.nd;
  if (!nd || c.y.nd != nd || c.w.nd != nd || c.conv.nd != nd - 2)
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "x, y, w and the convolution have " + std::to_string(nd) + ", " + std::to_string(c.y.nd) + ", " +
                      std::to_string(c.w.nd) + " and " + std::to_string(c.conv.nd) +
                      " dimensions (a convolution two less, 0: never set)",
                  page_of(pass));
  if (nd > 5) return refuse(CUDNN_STATUS_BAD_PARAM, "more than 5 dimensions", page_of(pass));
  if (c.y.type != c.x.type || c.w.type != c.x.type ||
      (c.x.type == CUDNN_DATA_DOUBLE) != (c.conv.compute == CUDNN_DATA_DOUBLE))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "x, y and w have types " + std::to_string(c.x.type) + ", " + std::to_string(c.y.type) + ", " +
                      std::to_string(c.w.type) + ", computed in type " + std::to_string(c.conv.compute),
                  page_of(pass));
  const int groups = c.conv.groups;
  bool fits = c.y.dims[0] == c.x.dims[0] && c.y.dims[1] == c.w.dims[0] && c.x.dims[1] == c.w.dims[1] * groups &&
              c.w.dims[0] % groups == 0;
  for (int i = 0; i < nd - 2; ++i) {
    const int room = c.x.dims[i + 2] + 2 * c.conv.pads[i] - (c.w.dims[i + 2] - 1) * c.conv.dilations[i] - 1;
    fits = fits && room >= 0 && c.y.dims[i + 2] == room / c.conv.strides[i] + 1;
  }
  if (fits) return CUDNN_STATUS_SUCCESS;
  return refuse(CUDNN_STATUS_BAD_PARAM,
                "the convolution of " + describe(c.x.dims, nd) + " and " + describe(c.w.dims, nd) + " in " +
                    std::to_string(groups) + " groups, padding " + describe(c.conv.pads, nd - 2) + ", stride " +
                    describe(c.conv.strides, nd - 2) + ", dilation " + describe(c.conv.dilations, nd - 2) +
                    ", is not " + describe(c.y.dims, nd),
                page_of(pass));
}

namespace {

// Of everything that a convolution is.
std::uint64_t hash_of(const Convolution& c, Pass pass, int number, unsigned seed) {
  std::uint64_t hash = seed;
  const auto mix = [&](const int* values, int n) {
    for (int i = 0; i < n; ++i) hash = (hash ^ static_cast<std::uint64_t>(values[i] + 1)) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  };
  const int kind[] = {static_cast<int>(pass), number, c.x.type, c.w.format, c.conv.groups};
  mix(kind, 5);
  for (const int* sizes : {c.x.dims, c.w.dims}) mix(sizes, c.x.nd);
  for (const int* sizes : {c.conv.pads, c.conv.strides, c.conv.dilations}) mix(sizes, c.conv.nd);
  return hash;
}

// Whether the setting `refuse` takes the algorithm away.
bool is_refused(const Convolution& c, Pass pass, int number, Stage stage) {
  const std::string& refuse = settings().refuse;
  if (refuse.rfind("random:", 0) == 0) {
    if (number == 0 && c.w.format == CUDNN_TENSOR_NCHW) return false;
    const std::uint64_t kind = hash_of(c, pass, number, static_cast<unsigned>(std::atoi(refuse.c_str() + 7))) % 8;
    return stage == Stage::choice ? kind < 2 : stage == Stage::run ? kind < 4 : kind < 6;
  }
  const char* const passes[] = {"forward", "data", "filter"};
  return names_refusal(passes[static_cast<int>(pass)], number) ||
         (stage == Stage::fused && names_refusal("fused", number));
}

}  // namespace

bool names_refusal(const std::string& pass, int number) {
  const std::string all = "+" + settings().refuse + "+";
  return all.find("+" + pass + ":" + std::to_string(number) + "+") != std::string::npos;
}

std::string unsupported(const Convolution& c, Pass pass, int number, Stage stage) {
  const Algorithm* a = find_algorithm(pass, number);
  if (!a) return "algorithm " + std::to_string(number) + " is not implemented, or not emulated";
  const std::string name = "algorithm " + std::to_string(number);
  if (is_refused(c, pass, number, stage)) return name + " is refused, as the setting says";
  const int nd = c.x.nd;
  const auto all = [&](const int* values, int wanted) {
    return std::all_of(values, values + nd - 2, [&](int value) { return value == wanted; });
  };
  if (c.w.format == CUDNN_TENSOR_NHWC) {
    if (!(nd == 4 ? a->nhwc : a->nhwc_5d))
      return name + " takes no NHWC filter of " + std::to_string(nd) + " dimensions";
    if (c.x.type == CUDNN_DATA_DOUBLE) return "doubles have no NHWC filter";
    for (const Tensor* t : {&c.x, &c.y}) {
      int packed[CUDNN_DIM_MAX];
      pack(CUDNN_TENSOR_NHWC, nd, t->dims, packed);
      for (int i = 0; i < nd; ++i)
        if (t->dims[i] > 1 && t->strides[i] != packed[i])
          return "with an NHWC filter x and y are NHWC without gaps, not " + describe(t->dims, nd) + " with strides " +
                 describe(t->strides, nd);
    }
  } else if (nd == 5 && !a->nchw_5d) {
    return name + " is for 4 dimensions";
  }
  if (!a->dilated && !all(c.conv.dilations, 1)) return name + " takes no dilation";
  if (!a->strided && !all(c.conv.strides, 1)) return name + " takes no stride";
  if (!a->doubles && c.x.type == CUDNN_DATA_DOUBLE) return name + " takes no doubles";
  if (a->kernel && !all(c.w.dims + 2, a->kernel)) return name + " is for filters of size " + std::to_string(a->kernel);
  return "";
}

}  // namespace emulator::dnn
