#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error.hpp"

namespace athanor {

/// Where the lines of a text begin: turns offsets, as parsers give them, into places.
class Lines {
 public:
  explicit Lines(std::string_view text) : starts_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') { starts_.push_back(i + 1); }
    }
  }

  /// Offsets below 0 are the beginning.
  SourceLocation place(const std::string& file, std::ptrdiff_t offset) const {
    const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, offset));
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), at);
    return {file, static_cast<int>(after - starts_.begin()), static_cast<int>(at - *(after - 1)) + 1, ""};
  }

 private:
  std::vector<std::size_t> starts_;
};

}  // namespace athanor
