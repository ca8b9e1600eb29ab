#include "models/jobs/logs/table.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::size_t kAtOnce = std::size_t{1} << 18U;
constexpr Bytes kMostBytes{std::int64_t{1} << 36};  // 64 GiB: a year of jobs has some hundred MB

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) { text.remove_prefix(kMark.size()); }
  return text;
}

LogTable::LogTable(std::string path, const TableShape& shape)
    : source_(std::move(path), kMostBytes), shape_(shape), columns_(shape.columns) {
  if (columns_.empty()) {
    if (!next()) {
      throw ScenarioError(
          {"no-header", "the file is empty", {source_.path(), 1, 0, ""}, "its first line names columns"});
    }
    for (const std::string_view name : fields_) { columns_.emplace_back(name); }
  }
  refuse_duplicates();
}

void LogTable::refuse_duplicates() const {
  for (auto at = columns_.begin(); at != columns_.end(); ++at) {
    if (at->empty() || std::find(columns_.begin(), at, *at) == at) { continue; }
    throw ScenarioError({"duplicate-column",
                         fmt::format("two columns are called '{}'", *at),
                         {source_.path(), 1, 0, ""},
                         "which of them counts cannot be known: take one away, or rename it"});
  }
}

std::string LogTable::hint_of_missing() const {
  const std::string there = fmt::format("the file has {}", joined(columns_, ", "));
  if (columns_.size() != 1) { return there; }
  for (const char other : std::string_view("|;\t,")) {
    if (other == shape_.separator || columns_.front().find(other) == std::string::npos) { continue; }
    const std::string shown = other == '\t' ? "\\t" : std::string(1, other);
    if (shape_.separator_key.empty()) {
      return fmt::format("the fields of this format stand between '{}', those of the file between '{}'",
                         shape_.separator, shown);
    }
    return fmt::format(R"(the fields of the file seem to stand between '{0}': write "{1}": "{0}")", shown,
                       shape_.separator_key);
  }
  return there;
}

std::optional<std::size_t> LogTable::find(std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  if (at == columns_.end()) { return {}; }
  return static_cast<std::size_t>(at - columns_.begin());
}

std::size_t LogTable::column(std::string_view column) const {
  if (const auto at = find(column)) { return *at; }
  throw ScenarioError({"missing-column",
                       fmt::format("there is no column '{}'", column),
                       {source_.path(), 1, 0, ""},
                       hint_of_missing()});
}

bool LogTable::next() {
  do {
    line_ = next_line_;
    if (!read_line()) { return false; }
  } while (text_.empty() || (shape_.comment != '\0' && text_.front() == shape_.comment));
  split();
  return true;
}

/// The next row into text_. Within quotes a line goes on behind its end.
bool LogTable::read_line() {
  text_.clear();
  bool inside = false;
  while (true) {
    const std::size_t end = buffer_.find('\n', at_);
    if (end == std::string::npos && !ended_) {
      buffer_.erase(0, at_);
      at_ = 0;
      const std::size_t had = buffer_.size();
      buffer_.resize(had + kAtOnce);
      const std::size_t got = source_.read(buffer_.data() + had, kAtOnce);
      buffer_.resize(had + got);
      ended_ = got == 0;
      continue;
    }
    const bool last = end == std::string::npos;
    std::string_view line = std::string_view(buffer_).substr(at_, last ? std::string::npos : end - at_);
    at_ = last ? buffer_.size() : end + 1;
    if (next_line_ == 1) { line = without_byte_order_mark(line); }
    if (last && line.empty() && text_.empty()) { return false; }
    ++next_line_;
    text_ += line;
    if (text_.ends_with('\r')) { text_.pop_back(); }
    const auto quotes = static_cast<std::size_t>(std::count(line.begin(), line.end(), '"'));
    inside = shape_.quoted && (inside != (quotes % 2 == 1));
    if (!inside) { return true; }
    if (last) {
      throw ScenarioError({"open-quote", "a quote is never closed", place(), "quotes within a field are doubled"});
    }
    text_ += '\n';
  }
}

void LogTable::split_plain() {
  std::string_view left = text_;
  for (std::size_t end = 0; (end = left.find(shape_.separator)) != std::string_view::npos;) {
    fields_.push_back(left.substr(0, end));
    left.remove_prefix(end + 1);
  }
  fields_.push_back(left);
}

/// Quotes and separators fall out of the text, and fields move together in their place.
void LogTable::split() {
  if (shape_.separator == ' ') {
    fields_ = words_of_line(text_);
    return;
  }
  fields_.clear();
  if (!shape_.quoted || text_.find('"') == std::string::npos) { return split_plain(); }
  bool inside = false;
  std::size_t begin = 0;
  std::size_t end = 0;
  const auto close = [&] {
    fields_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  };
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"') {
      const bool doubled = inside && at + 1 < text_.size() && text_[at + 1] == '"';
      if (doubled) { text_[end++] = text_[++at]; }
      inside = doubled || !inside;
    } else if (c == shape_.separator && !inside) {
      close();
    } else {
      text_[end++] = c;
    }
  }
  close();
}

}  // namespace athanor
