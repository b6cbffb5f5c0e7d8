// The functions of exchange.hpp that are not templates.
#pragma once
#include "exchange.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

TERN_COLD void Exchange::tell(tern::detail::Work work, const char* name, Index bytes, int caller) {
  position_ = listener_->begin({work, false, cuda::detail::on_host, nullptr, name,
                                tern::detail::site(CallSite::unknown), std::size_t(bytes), caller});
}

}}}  // namespace tern::distributed::detail
