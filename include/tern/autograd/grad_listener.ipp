// The functions of grad_listener.hpp that are not templates.
#pragma once
#include "grad_listener.hpp"

namespace tern { inline namespace TERN_BUILD {

TERN_INLINE GradListener::Listened::Listened(GradListener* listener, std::uint32_t place, const AnyTensor& leaf) {
  detail::Node* const own = leaf.defined() ? leaf.impl()->node : nullptr;
  if (!own || !own->leaf)
    Error::fail("GradListener", {"tensor ", Index(place), " is not a leaf that requires a gradient"});
  if (own->extra && own->extra->listener)
    Error::fail("GradListener", {"leaf ", Index(place), " has a listener already"});
  detail::NodeExtra& extra = detail::extra_of(own);
  extra.listener = listener;
  extra.place = place;
  own->refs.increase();
  node = own;
}

TERN_INLINE GradListener::Listened::~Listened() {
  if (!node) return;
  detail::NodeExtra& extra = *node->extra;
  extra.listener = nullptr;
  detail::release(std::exchange(extra.memory, nullptr));
  if (!extra.before && !extra.after_accumulate) delete std::exchange(node->extra, nullptr);
  detail::release_node(node);
}

TERN_INLINE GradListener::GradListener(std::vector<AnyTensor> leaves) : leaves_(std::move(leaves)) {
  listened_.reserve(leaves_.size());
  for (std::size_t i = 0; i < leaves_.size(); ++i) listened_.emplace_back(this, std::uint32_t(i), leaves_[i]);
}

TERN_INLINE GradListener::~GradListener() {}

TERN_INLINE void GradListener::accumulate_into(std::size_t leaf, const AnyTensor& memory) {
  if (leaf >= leaves_.size()) Error::fail("accumulate_into", {"no leaf ", Index(leaf), " of ", Index(leaves_.size())});
  if (memory.defined()) check_memory(leaves_[leaf], memory);
  detail::release(std::exchange(listened_[leaf].node->extra->memory,
                                memory.defined() ? detail::new_detached(memory.impl()) : nullptr));
}

TERN_INLINE void GradListener::adopt_memory(std::size_t leaf) {
  if (leaf >= leaves_.size()) Error::fail("adopt_memory", {"no leaf ", Index(leaf), " of ", Index(leaves_.size())});
  detail::Node* const node = listened_[leaf].node;
  detail::TensorImpl* const memory = node->extra->memory;
  if (!memory) Error::fail("adopt_memory", {"leaf ", Index(leaf), " has no memory for its gradient"});
  if (node->gradient == memory) return;
  detail::retain(memory);
  detail::release(std::exchange(node->gradient, memory));
}

TERN_INLINE void GradListener::check_memory(const AnyTensor& leaf, const AnyTensor& memory) {
  const detail::TensorImpl &x = *leaf.impl(), &y = *memory.impl();
  if (leaf.device_name() != memory.device_name() || x.dtype != y.dtype || x.ordinal != y.ordinal ||
      !detail::same_shape(x, y))
    Error::fail("accumulate_into", {"the memory is ", memory.device_name(), ":", Index(y.ordinal), " ",
                                    detail::name_of(y.dtype), " ", y.shape_ref(), ", the leaf ", leaf.device_name(),
                                    ":", Index(x.ordinal), " ", detail::name_of(x.dtype), " ", x.shape_ref()});
}

}}  // namespace tern
