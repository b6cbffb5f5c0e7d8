#include "all.hpp"

template opinfo::Outcome opinfo::run<tern::Cpu, float>(const Bank&, const Case&, Layout, std::optional<tern::DType>);
