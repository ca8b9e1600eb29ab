#include "models/experiments/scenario/sweep/values.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/core.h>

#include "sim/config/json_value.hpp"
#include "sim/parse.hpp"

namespace athanor {

namespace {

/// "100Gb/s" is 100 of the unit "Gb/s".
struct Measure {
  double number = 0;
  std::string unit;
};

std::optional<Measure> measure_of(std::string_view text) {
  Measure measure;
  const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), measure.number);
  if (mistake != std::errc() || !std::isfinite(measure.number)) { return std::nullopt; }
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.starts_with(' ')) { unit.remove_prefix(1); }
  measure.unit = unit;
  return measure;
}

/// The same in the base unit of its kind.
std::optional<Measure> in_base_unit(std::string_view text) {
  if (const auto size = parse_bytes(text).value) { return Measure{static_cast<double>(size->count()), "B"}; }
  if (const auto time = parse_time(text).value) { return Measure{static_cast<double>(time->count()), "ps"}; }
  if (const auto rate = parse_bandwidth(text).value) { return Measure{static_cast<double>(rate->count()), "B/s"}; }
  return std::nullopt;
}

Measure known_measure(const std::string& text) {
  const std::optional<Measure> measure = measure_of(text);
  if (!measure) { throw std::invalid_argument(fmt::format("'{}' is neither a number nor a quantity", text)); }
  if (!measure->unit.empty() && !in_base_unit(text)) {
    throw std::invalid_argument(fmt::format("'{}' has no unit of sizes, times or rates", text));
  }
  return *measure;
}

/// All of them in one unit.
void agree(const std::vector<std::string>& texts, std::vector<Measure>& measures) {
  bool same = true;
  for (const Measure& each : measures) { same = same && each.unit == measures.front().unit; }
  if (same) { return; }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::optional<Measure> base = in_base_unit(texts[i]);
    if (!base || (i > 0 && base->unit != measures.front().unit)) {
      throw std::invalid_argument(
          fmt::format("'{}' and '{}' are of different kinds; give both the same unit", texts.front(), texts[i]));
    }
    measures[i] = *base;
  }
}

/// As JSON. Base units have no fractions.
std::string text_of_value(double number, const std::string& unit) {
  if (unit.empty()) { return fmt::format("{:.12g}", number); }
  const bool whole = unit == "B" || unit == "ps" || unit == "B/s";
  return whole ? fmt::format("\"{:.0f}{}\"", number, unit) : fmt::format("\"{:.12g}{}\"", number, unit);
}

/// What rounding may add up to, as a share of a step.
constexpr double kSlack = 1e-9;

std::size_t steps_within(double steps) {
  if (!(steps + kSlack < static_cast<double>(kMostValues))) {
    throw std::invalid_argument(fmt::format("a range of more than {} values", kMostValues));
  }
  return static_cast<std::size_t>(std::floor(steps + kSlack));
}

std::vector<std::string> linear(const Measure& from, double to, double step) {
  if (!(step > 0)) { throw std::invalid_argument("the step of a range is above 0"); }
  const std::size_t steps = steps_within((to - from.number) / step);
  std::vector<std::string> values;
  for (std::size_t i = 0; i <= steps; ++i) {
    values.push_back(text_of_value(from.number + static_cast<double>(i) * step, from.unit));
  }
  return values;
}

std::vector<std::string> powers(const Measure& from, double to, double factor) {
  if (!(from.number > 0)) { throw std::invalid_argument("a range of powers starts above 0; give it a step instead"); }
  if (!(factor > 1)) { throw std::invalid_argument("the factor of a range is above 1"); }
  const std::size_t steps = steps_within(std::log(to / from.number) / std::log(factor));
  std::vector<std::string> values;
  for (std::size_t i = 0; i <= steps; ++i) {
    values.push_back(text_of_value(from.number * std::pow(factor, static_cast<double>(i)), from.unit));
  }
  return values;
}

/// A value that is written alone. JSON as it stands, all else a string.
std::string literal(std::string_view text) {
  JsonValue value = json_value_of(text, Comments::refused).value_or(JsonValue(text));
  value.sort_keys();
  return text_of(value);
}

/// "8..1000*10".
ValueRange range_of(std::string_view text, std::size_t dots) {
  const std::string_view last = text.substr(dots + 2);
  const std::size_t sign = last.find_first_of("*+");
  ValueRange range{std::string(text.substr(0, dots)), std::string(last.substr(0, sign)), "", 2};
  if (sign == std::string_view::npos) { return range; }
  const std::string by(last.substr(sign + 1));
  if (last[sign] == '+') {
    range.step = by;
    if (by.empty()) { throw std::invalid_argument("a step is missing behind '+'"); }
  } else {
    const std::optional<Measure> factor = measure_of(by);
    if (!factor || !factor->unit.empty()) { throw std::invalid_argument(fmt::format("'{}' is no factor", by)); }
    range.factor = factor->number;
  }
  return range;
}

/// Where the part of a list ends that begins the text: a comma within brackets, braces or quotes ends nothing.
std::size_t end_of_part(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) { quoted = !quoted; }
    if (quoted) { continue; }
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == ',' && depth == 0) { return i; }
  }
  return text.size();
}

}  // namespace

std::vector<std::string> expand(const ValueRange& range) {
  std::vector<std::string> texts{range.from, range.to};
  if (!range.step.empty()) { texts.push_back(range.step); }
  std::vector<Measure> measures;
  for (const std::string& text : texts) { measures.push_back(known_measure(text)); }
  agree(texts, measures);
  const double to = measures[1].number;
  if (to < measures[0].number) {
    throw std::invalid_argument(
        fmt::format("the range {}..{} is empty; write the smaller one first", range.from, range.to));
  }
  return range.step.empty() ? powers(measures[0], to, range.factor) : linear(measures[0], to, measures[2].number);
}

std::vector<std::string> parse_values(std::string_view text) {
  std::vector<std::string> values;
  for (;;) {
    const std::size_t end = end_of_part(text);
    const std::string_view part = text.substr(0, end);
    if (part.empty()) { throw std::invalid_argument("a value is missing"); }
    const std::size_t dots = part.find("..");
    if (dots == std::string_view::npos || part.front() == '"' || part.front() == '{' || part.front() == '[') {
      values.push_back(literal(part));
    } else {
      for (std::string& value : expand(range_of(part, dots))) { values.push_back(std::move(value)); }
    }
    if (end == text.size()) { return values; }
    text.remove_prefix(end + 1);
  }
}

}  // namespace athanor
