#include "tools/list/columns.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

using Cells = std::vector<std::string>;

/// Of each column, as wide as its widest cell; a text that goes on over the rest widens none.
std::vector<std::size_t> widths_of(std::size_t columns, const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(columns);
  for (const Cells& line : lines) {
    const std::size_t aligned = line.size() < columns ? line.size() - 1 : line.size();
    for (std::size_t i = 0; i < aligned; ++i) { widths[i] = std::max(widths[i], line[i].size()); }
  }
  return widths;
}

std::string line_of(const Cells& cells, const std::vector<ColumnHead>& heads, const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += heads[i].side == Side::right && cells.size() == heads.size() ? fmt::format("{:>{}}  ", cells[i], widths[i])
                                                                         : fmt::format("{:<{}}  ", cells[i], widths[i]);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string laid_out(const std::vector<Cells>& lines, const std::vector<ColumnHead>& heads) {
  const std::vector<std::size_t> widths = widths_of(heads.size(), lines);
  std::string text;
  for (const Cells& line : lines) { text += line_of(line, heads, widths); }
  return text;
}

}  // namespace

std::string in_columns(const std::vector<ColumnHead>& heads, const std::vector<std::vector<std::string>>& lines) {
  std::vector<Cells> all{{}};
  for (const ColumnHead& head : heads) { all.front().push_back(head.title); }
  all.insert(all.end(), lines.begin(), lines.end());
  return laid_out(all, heads);
}

std::string in_columns(const std::vector<std::vector<std::string>>& lines) {
  return lines.empty() ? "" : laid_out(lines, std::vector<ColumnHead>(lines.front().size()));
}

std::string words_of(const JsonValue& list) {
  std::vector<std::string> words;
  for (const JsonValue& each : list.elements()) { words.push_back(each.string()); }
  return joined(words, ", ");
}

}  // namespace athanor
