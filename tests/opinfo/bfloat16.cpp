#include "all.hpp"

template opinfo::Outcome opinfo::run<opinfo::Device, tern::bfloat16>(const Bank&, const Case&, Layout,
                                                                     std::optional<tern::DType>);
