#include "all.hpp"

template opinfo::Outcome opinfo::run<opinfo::Device, double>(const Bank&, const Case&, Layout,
                                                             std::optional<tern::DType>);
