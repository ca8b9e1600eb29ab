#include "sim/check.hpp"

namespace athanor {

void fail_invariant(fmt::string_view text, fmt::format_args values) {
  throw BrokenInvariant("broken invariant: " + fmt::vformat(text, values));
}

}  // namespace athanor
