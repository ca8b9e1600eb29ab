#pragma once

#include <string_view>

namespace athanor {

/// Whether a word names a file, from the folder of the scenario on, and no thing of the library: it has a '/', or ends
/// in .json.
inline bool names_file(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.ends_with(".json");
}
/// The same for schemas.
constexpr const char* kFilePattern = "/|\\.json$";

}  // namespace athanor
