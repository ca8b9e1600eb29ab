#include "tools/cli/columns.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "sim/printable.hpp"

namespace athanor {

std::string about(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}g} {}", bytes, bytes < 1000 ? 3 : 4, units.at(unit));
}

namespace {

/// Heads and cells are names out of files.
std::vector<std::string> all_printable(std::vector<std::string> texts) {
  for (std::string& text : texts) { text = printable(text); }
  return texts;
}

}  // namespace

Columns::Columns(std::vector<std::string> heads) : words_(heads.size()), heads_(all_printable(std::move(heads))) {}

void Columns::add(std::vector<std::string> line) { lines_.push_back(all_printable(std::move(line))); }

void Columns::put(std::vector<std::string>& line, std::string_view head, std::string text) {
  auto found = std::find(heads_.begin() + static_cast<std::ptrdiff_t>(words_), heads_.end(), head);
  if (found == heads_.end()) { found = heads_.insert(heads_.end(), std::string(head)); }
  const auto column = static_cast<std::size_t>(found - heads_.begin());
  line.resize(std::max(line.size(), column + 1));
  line[column] = std::move(text);
}

bool Columns::ends_in_remark(const std::vector<std::string>& line) const {
  return line.size() == words_ + 1 && heads_.size() != line.size();
}

std::vector<std::size_t> Columns::widths() const {
  std::vector<std::size_t> widths;
  for (const std::string& head : heads_) { widths.push_back(head.size()); }
  for (const auto& line : lines_) {
    for (std::size_t i = 0; i < line.size() - (ends_in_remark(line) ? 1 : 0); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  return widths;
}

std::string Columns::text_of_line(const std::vector<std::string>& line, const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (i < words_) {
      text += fmt::format(" {:<{}}", line[i], widths[i]);
    } else {
      text += fmt::format("  {:>{}}", line[i], ends_in_remark(line) ? 0 : widths[i]);
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Columns::text() const {
  const std::vector<std::size_t> wide = widths();
  std::string text = "#" + text_of_line(heads_, wide) + "\n";
  for (const auto& line : lines_) { text += " " + text_of_line(line, wide) + "\n"; }
  return text;
}

}  // namespace athanor
