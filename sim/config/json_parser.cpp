#include "sim/config/json_parser.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/config/json_value.hpp"
#include "sim/config/locator.hpp"
#include "sim/error.hpp"

namespace athanor {

using nlohmann::json;

namespace {

/// What stands between two marks of the library's message, up to its end when `after` is missing.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t mark = text.find(before);
  if (mark == std::string_view::npos) { return ""; }
  text.remove_prefix(mark + before.size());
  return text.substr(0, text.find(after));
}

/// Where the token begins that ends with the character before `end`.
std::size_t token_begin(std::string_view text, std::size_t end, std::string_view found) {
  if (found == "end of input" || end == 0) { return text.size(); }
  std::size_t begin = std::min(end, text.size()) - 1;
  if (found == "string literal") {
    while (begin > 0 && (text[begin - 1] != '"' || (begin > 1 && text[begin - 2] == '\\'))) { --begin; }
    return begin == 0 ? 0 : begin - 1;
  }
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.'; };
  while (begin > 0 && in_word(text[begin]) && in_word(text[begin - 1])) { --begin; }
  return begin;
}

std::string hint_for(std::string_view text, std::size_t offset, std::string_view found) {
  if (found == "end of input") { return "the file ends too early: a closing bracket or quote is missing"; }
  const std::size_t previous = offset == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", offset - 1);
  const bool after_comma = previous != std::string_view::npos && text[previous] == ',';
  const char here = offset < text.size() ? text[offset] : ' ';
  if (after_comma && (here == '}' || here == ']')) { return "remove the comma before it"; }
  if (here == '\'') { return "strings stand in double quotes"; }
  if (here == '"' && previous != std::string_view::npos && text[previous] != ':') {
    return "is a comma or a colon missing before it?";
  }
  return "";
}

Problem syntax_problem(const json::parse_error& error, std::string_view text, const std::string& file) {
  const std::string_view what = error.what();
  std::string_view found = between(what, "unexpected ", "; expected ");
  const std::string_view expected = between(what, "; expected ", "\n");
  std::string message;
  if (!found.empty()) {
    message = fmt::format("found {}", found);
    if (!expected.empty()) { message += fmt::format(", expected {}", expected); }
  } else {
    message = between(what, " - ", "; last read");
  }
  const bool ended = error.byte > text.size() || found == "end of input";
  if (ended) { found = "end of input"; }
  const std::size_t offset = token_begin(text, error.byte, found);
  const LineColumn at = line_column(text, offset);
  return {"syntax",
          message.empty() ? std::string(what) : message,
          {file, at.line, at.column, ""},
          hint_for(text, offset, found)};
}

/// Objects and lists within each other. Readers walk a tree recursively, so that it must not be as deep as a file can
/// make it; no scenario needs a tenth of this.
constexpr int kMostNested = 100;

/// More take more memory than a machine may have: a value takes up to a hundred bytes.
constexpr std::size_t kMostValues = 16'000'000;

/// The last character of the string that begins at `at`, or of the text.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) { at += text[at] == '\\' ? 1 : 0; }
  return at;
}

/// Likewise of a comment.
std::size_t comment_end(std::string_view text, std::size_t at) {
  const bool line = text.substr(at, 2) == "//";
  const std::size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + (line ? 0 : 1);
}

/// Ends parsing at a bracket that is nested too deeply.
struct TooDeep {};
/// Ends parsing at a value too many.
struct TooLarge {};

/// Makes the value, and notices that a key stands twice in one object, and what is nested too deeply or too much. In
/// place of the library's own tree, whose type costs every file that includes it two seconds to compile.
class ValueBuilder final : public json::json_sax_t {
 public:
  enum class Keys : std::uint8_t { as_written, in_order };

  explicit ValueBuilder(Keys keys) : keys_(keys) {}

  JsonValue take() { return std::move(root_); }
  bool repeated() const { return repeated_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in text
  bool start_object(std::size_t) override { return open(JsonValue::object()); }
  bool start_array(std::size_t) override { return open(JsonValue::list()); }
  bool end_object() override {
    close_object(open_.back()->members());
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(string_t& value) override {
    key_.swap(value);
    return true;
  }
  /// Throws json::parse_error or json::out_of_range.
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    if (const auto* syntax = dynamic_cast<const json::parse_error*>(&error)) { throw *syntax; }
    if (const auto* range = dynamic_cast<const json::out_of_range*>(&error)) { throw *range; }
    return false;
  }

 private:
  /// Where it stands now. Only the innermost list or object grows, so that what holds it stays where it is.
  JsonValue& place(JsonValue value) {
    if (++values_ > kMostValues) { throw TooLarge{}; }
    if (open_.empty()) { return root_ = std::move(value); }
    JsonValue& holder = *open_.back();
    if (holder.is_list()) { return holder.elements().emplace_back(std::move(value)); }
    return holder.members().emplace_back(std::move(key_), std::move(value)).second;
  }

  bool add(JsonValue value) {
    place(std::move(value));
    return true;
  }
  bool open(JsonValue value) {
    if (open_.size() >= static_cast<std::size_t>(kMostNested)) { throw TooDeep{}; }
    open_.push_back(&place(std::move(value)));
    return true;
  }

  /// Of a key that stands twice the last value counts, at the place of the first.
  void close_object(JsonValue::Object& members) {
    const auto equal = [](const JsonValue::Member& a, const JsonValue::Member& b) { return a.first == b.first; };
    if (keys_ == Keys::in_order) {
      const auto before = [](const JsonValue::Member& a, const JsonValue::Member& b) { return a.first < b.first; };
      std::stable_sort(members.begin(), members.end(), before);
      repeated_ = repeated_ || std::adjacent_find(members.begin(), members.end(), equal) != members.end();
    } else if (has_repeated_key(members)) {
      JsonValue once = JsonValue::object();
      for (JsonValue::Member& member : members) { once[member.first] = std::move(member.second); }
      members = std::move(once.members());
    }
  }

  static bool has_repeated_key(const JsonValue::Object& members) {
    std::vector<std::string_view> keys;
    keys.reserve(members.size());
    for (const JsonValue::Member& member : members) { keys.emplace_back(member.first); }
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
  }

  Keys keys_;
  JsonValue root_;
  std::vector<JsonValue*> open_;  ///< lists and objects that hold what comes next, the outermost first
  std::string key_;               ///< of what comes next
  std::size_t values_ = 0;
  bool repeated_ = false;
};

/// Follows the parser to the keys of the root object.
class RootKeys final : public json::json_sax_t {
 public:
  explicit RootKeys(const std::function<bool(std::string_view)>& go_on) : go_on_(go_on) {}

  bool is_object() const { return object_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    object_ = object_ || depth_ == 0;
    ++depth_;
    return true;
  }
  bool key(string_t& key) override { return depth_ > 1 || go_on_(key); }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_array() override { return --depth_ > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  const std::function<bool(std::string_view)>& go_on_;
  std::size_t depth_ = 0;
  bool object_ = false;
};

Problem too_deep_problem(const std::string& text, const std::string& file) {
  const LineColumn at = line_column(text, too_deep_at(text));
  return {"too-deep",
          fmt::format("more than {} objects and lists stand within each other", kMostNested),
          {file, at.line, at.column, ""},
          "nothing that athanor reads is nested so deeply"};
}

Problem too_large_problem(const std::string& file) {
  return {"too-large",
          fmt::format("more than {} million values", kMostValues / 1'000'000),
          {file, 0, 0, ""},
          "divide it into several files"};
}

/// The library tells the number, between quotes, and not where it stands.
Problem overflow_problem(const json::out_of_range& error, const std::string& text, const std::string& file) {
  const std::string_view message = error.what();
  const std::size_t first = message.find('\'');
  const std::size_t last = message.rfind('\'');
  const std::string_view number = first < last ? message.substr(first + 1, last - first - 1) : std::string_view();
  const std::size_t offset = text.find(number);
  const LineColumn at = line_column(text, offset == std::string::npos ? 0 : offset);
  return {"out-of-range",
          fmt::format("the number {} is larger than any that can be held", number),
          {file, at.line, at.column, ""},
          "write a smaller one"};
}

[[noreturn]] void fail_repeated_keys(const std::string& text, const std::string& file) {
  std::vector<Problem> problems;
  for (const auto& [pointer, offset] : locate_values(text).repeated_keys) {
    const LineColumn at = line_column(text, offset);
    problems.push_back({"duplicate-key",
                        "this key stands twice in its object",
                        {file, at.line, at.column, pointer},
                        "remove one of the two"});
  }
  throw ScenarioError(std::move(problems));
}

}  // namespace

std::size_t too_deep_at(std::string_view text) {
  int open = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char here = text[at];
    if (here == '/' && (text.substr(at, 2) == "//" || text.substr(at, 2) == "/*")) {
      at = comment_end(text, at);
    } else if (here == '"') {
      at = string_end(text, at);
    } else if (here == '{' || here == '[') {
      if (++open > kMostNested) { return at; }
    } else if (here == '}' || here == ']') {
      --open;
    }
  }
  return text.size();
}

JsonValue parse_json(const std::string& text, const std::string& file) {
  ValueBuilder value(ValueBuilder::Keys::in_order);
  try {
    json::sax_parse(text, &value, json::input_format_t::json, true, true);
  } catch (const json::parse_error& error) {
    throw ScenarioError(syntax_problem(error, text, file));
  } catch (const json::out_of_range& error) {
    throw ScenarioError(overflow_problem(error, text, file));
  } catch (const TooDeep&) { throw ScenarioError(too_deep_problem(text, file)); } catch (const TooLarge&) {
    throw ScenarioError(too_large_problem(file));
  }
  if (value.repeated()) { fail_repeated_keys(text, file); }
  return value.take();
}

std::optional<JsonValue> json_value_of(std::string_view text, Comments comments) {
  ValueBuilder value(ValueBuilder::Keys::as_written);
  try {
    json::sax_parse(text, &value, json::input_format_t::json, true, comments == Comments::allowed);
  } catch (const json::exception&) { return std::nullopt; } catch (const TooDeep&) {
    return std::nullopt;
  } catch (const TooLarge&) { return std::nullopt; }
  return value.take();
}

bool visit_root_keys(std::string_view text, const std::function<bool(std::string_view key)>& go_on) {
  RootKeys keys(go_on);
  json::sax_parse(text, &keys, json::input_format_t::json, false, true);
  return keys.is_object();
}

}  // namespace athanor
