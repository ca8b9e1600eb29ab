#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace athanor {

/// Where a value and the key before it begin: offsets into the text.
struct Offsets {
  std::size_t value = 0;
  std::size_t key = 0;  ///< that of the value where there is no key
};

struct Locations {
  std::unordered_map<std::string, Offsets> values;                 ///< by JSON pointer
  std::vector<std::pair<std::string, std::size_t>> repeated_keys;  ///< pointer and offset of each key but the first
};

/// The offsets of every value of a JSON text (comments allowed). Requires valid JSON. Meant for the moment when
/// something is wrong: a document without a problem has no need of it.
Locations locate_values(std::string_view text);

/// A key as a JSON pointer spells it: '~' and '/' escaped.
std::string pointer_token(std::string_view key);

/// Line and column, from 1, of an offset; columns count bytes.
struct LineColumn {
  int line = 1;
  int column = 1;
};
LineColumn line_column(std::string_view text, std::size_t offset);

}  // namespace athanor
