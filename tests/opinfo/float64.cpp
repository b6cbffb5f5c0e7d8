#include "all.hpp"

template opinfo::Outcome opinfo::run<tern::Cpu, double>(const Bank&, const Case&, Layout, std::optional<tern::DType>);
