#include "all.hpp"

#define RUN(T) \
  template opinfo::Outcome opinfo::run<opinfo::Device, T>(const Bank&, const Case&, Layout, std::optional<tern::DType>);
RUN(std::int64_t)
RUN(std::int32_t)
RUN(std::uint8_t)
RUN(bool)
