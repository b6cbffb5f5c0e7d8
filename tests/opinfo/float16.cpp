#include "all.hpp"

template opinfo::Outcome opinfo::run<tern::Cpu, tern::half>(const Bank&, const Case&, Layout,
                                                            std::optional<tern::DType>);
