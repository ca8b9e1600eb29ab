#include "tools/list/columns.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

std::string in_columns(const std::vector<ColumnHead>& heads, const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const ColumnHead& head : heads) {
    widths.push_back(head.title.size());
    titles.push_back(head.title);
  }
  for (const std::vector<std::string>& line : lines) {
    const std::size_t aligned = line.size() < heads.size() ? line.size() - 1 : line.size();
    for (std::size_t i = 0; i < aligned; ++i) { widths[i] = std::max(widths[i], line[i].size()); }
  }
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += heads[i].side == Side::right && cells.size() == heads.size()
                  ? fmt::format("{:>{}}  ", cells[i], widths[i])
                  : fmt::format("{:<{}}  ", cells[i], widths[i]);
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = row(titles);
  for (const std::vector<std::string>& line : lines) { text += row(line); }
  return text;
}

}  // namespace athanor
