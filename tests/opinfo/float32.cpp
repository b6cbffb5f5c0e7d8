#include "all.hpp"

template opinfo::Outcome opinfo::run<opinfo::Device, float>(const Bank&, const Case&, Layout,
                                                            std::optional<tern::DType>);

bool opinfo::offered_for_floats(const std::string& name) { return operators<Device, float>().count(name) > 0; }
