#include "all.hpp"

template opinfo::Outcome opinfo::run<opinfo::Device, tern::half>(const Bank&, const Case&, Layout,
                                                                 std::optional<tern::DType>);
