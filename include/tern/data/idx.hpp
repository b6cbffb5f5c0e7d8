// The idx format of MNIST and similar data sets: two zero bytes, the element type, the number of dimensions, the sizes
// as big-endian 32-bit numbers, the elements. Described at http://yann.lecun.com/exdb/mnist/.
#pragma once
#include "../io/gzip.hpp"
#include "../tensor/map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Reads an idx file of unsigned bytes, plain or gzip. It must have the sizes `expected`, where -1 stands for any size
/// up to max_size. Error that names the file on anything else.
TERN_API Tensor<Cpu, std::uint8_t> read_idx(const std::string& path, const tern::detail::Shape& expected,
                                            Index max_size = 1'000'000, CallSite here = {});

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "idx.ipp"
#endif
