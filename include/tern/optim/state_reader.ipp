// The functions of state_reader.hpp that are not templates.
#pragma once
#include "state_reader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

TERN_COLD StateReader::StateReader(const char* op, const StateDict& dict, const char* owner)
    : op_(op), dict_(dict), owner_(owner), used_(dict.size()) {}

TERN_COLD const AnyTensor* StateReader::find(std::initializer_list<tern::detail::Piece> pieces,
                                             const AnyTensor& parameter) {
  const std::string name = tern::detail::text(pieces);
  const AnyTensor* const x = find(name);
  if (x && !(x->shape() == parameter.shape()))
    Error::fail(op_, {"the ", owner_, "'s ", name, " has shape ", x->shape(), ", the parameter ", parameter.shape()});
  if (x && !tern::detail::is_floating(x->dtype()))
    Error::fail(op_, {"the ", owner_, "'s ", name, " is of ", tern::detail::name_of(x->dtype())});
  return x;
}

TERN_COLD double StateReader::number_or(std::initializer_list<tern::detail::Piece> pieces, double other) {
  return find(tern::detail::text(pieces)) ? number<double>(pieces) : other;
}

TERN_COLD Index StateReader::count(std::initializer_list<tern::detail::Piece> pieces) {
  const Index value = number<Index>(pieces);
  if (value < 0)
    Error::fail(op_, {"the ", owner_, "'s ", tern::detail::text(pieces), " must not be negative: ", value});
  return value;
}

TERN_COLD void StateReader::expect_end() const {
  for (std::size_t i = 0; i < dict_.size(); ++i)
    if (!used_[i]) Error::fail(op_, {"nothing in this ", owner_, " is called ", dict_[i].name});
}

TERN_COLD const AnyTensor* StateReader::find(const std::string& name) {
  for (std::size_t i = 0; i < dict_.size(); ++i) {
    if (dict_[i].name != name) continue;
    used_[i] = true;
    return &dict_[i].tensor;
  }
  return nullptr;
}

TERN_COLD const AnyTensor& StateReader::find_number(std::initializer_list<tern::detail::Piece> pieces) {
  const std::string name = tern::detail::text(pieces);
  const AnyTensor* const x = find(name);
  if (!x) Error::fail(op_, {"the ", owner_, "'s ", name, " is missing"});
  if (x->numel() != 1) Error::fail(op_, {"the ", owner_, "'s ", name, " is not a number, but has shape ", x->shape()});
  return *x;
}

}}}  // namespace tern::optim::detail
