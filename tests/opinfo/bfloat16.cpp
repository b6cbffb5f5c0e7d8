#include "all.hpp"

template opinfo::Outcome opinfo::run<tern::Cpu, tern::bfloat16>(const Bank&, const Case&, Layout,
                                                                std::optional<tern::DType>);
