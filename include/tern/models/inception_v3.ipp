// The functions of inception_v3.hpp that are not templates.
#pragma once
#include "inception_v3.hpp"

namespace tern { inline namespace TERN_BUILD { namespace models::detail {

TERN_COLD std::vector<BlockStep> inception_a(Index pooled) {
  return {{"branch1x1", From::input, 64},
          {"branch5x5_1", From::input, 48},
          {"branch5x5_2", From::previous, 64, 5},
          {"branch3x3dbl_1", From::input, 64},
          {"branch3x3dbl_2", From::previous, 96, 3},
          {"branch3x3dbl_3", From::previous, 96, 3},
          {"branch_pool", From::average, pooled}};
}

TERN_COLD std::vector<BlockStep> inception_b() {
  return {{"branch3x3", From::input, 384, 3, 2},
          {"branch3x3dbl_1", From::input, 64},
          {"branch3x3dbl_2", From::previous, 96, 3},
          {"branch3x3dbl_3", From::previous, 96, 3, 2},
          {"", From::maximum, 0}};
}

TERN_COLD std::vector<BlockStep> inception_c(Index narrow) {
  return {{"branch1x1", From::input, 192},
          {"branch7x7_1", From::input, narrow},
          {"branch7x7_2", From::previous, narrow, {1, 7}},
          {"branch7x7_3", From::previous, 192, {7, 1}},
          {"branch7x7dbl_1", From::input, narrow},
          {"branch7x7dbl_2", From::previous, narrow, {7, 1}},
          {"branch7x7dbl_3", From::previous, narrow, {1, 7}},
          {"branch7x7dbl_4", From::previous, narrow, {7, 1}},
          {"branch7x7dbl_5", From::previous, 192, {1, 7}},
          {"branch_pool", From::average, 192}};
}

TERN_COLD std::vector<BlockStep> inception_d() {
  return {{"branch3x3_1", From::input, 192},
          {"branch3x3_2", From::previous, 320, 3, 2},
          {"branch7x7x3_1", From::input, 192},
          {"branch7x7x3_2", From::previous, 192, {1, 7}},
          {"branch7x7x3_3", From::previous, 192, {7, 1}},
          {"branch7x7x3_4", From::previous, 192, 3, 2},
          {"", From::maximum, 0}};
}

TERN_COLD std::vector<BlockStep> inception_e() {
  return {{"branch1x1", From::input, 320},
          {"branch3x3_1", From::input, 384},
          {"branch3x3_2a", From::previous, 384, {1, 3}},
          {"branch3x3_2b", From::second_last, 384, {3, 1}},
          {"branch3x3dbl_1", From::input, 448},
          {"branch3x3dbl_2", From::previous, 384, 3},
          {"branch3x3dbl_3a", From::previous, 384, {1, 3}},
          {"branch3x3dbl_3b", From::second_last, 384, {3, 1}},
          {"branch_pool", From::average, 192}};
}

}}}  // namespace tern::models::detail
