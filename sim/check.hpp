#pragma once

#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace athanor {

/// A defect of the program, never of its input: some invariant does not hold.
class BrokenInvariant : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_invariant(fmt::string_view text, fmt::format_args values);

/// Throws BrokenInvariant with the formatted text unless `holds`. Stays on in every build.
template <class... Values>
void require(bool holds, fmt::format_string<Values...> text, Values&&... values) {
  if (!holds) [[unlikely]] { fail_invariant(text, fmt::make_format_args(values...)); }
}

}  // namespace athanor
