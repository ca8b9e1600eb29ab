#include "tools/list/wrapped_text.hpp"

#include <algorithm>

namespace athanor {

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (column > indent && column + 1 + word.size() > kWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return result;
}

}  // namespace athanor
