#include "tools/plot/shown_figures.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/record.hpp"
#include "models/experiments/scenario/experiment_kinds.hpp"

namespace athanor {

namespace {

bool is_share(const Column& column) {
  return column.format == Format::percent || column.format == Format::signed_percent;
}

std::string head_of(const Column& column) {
  if (!column.shown.report_head.empty()) { return std::string(column.shown.report_head); }
  if (column.head.empty()) { return std::string(column.key); }
  const std::string_view unit = column.unit == "(us)" ? "(µs)" : column.unit;
  return fmt::format("{}{}{}", column.head, unit.empty() ? "" : " ", unit);
}

/// From the unit of the key to that of the head.
int factor_of(const Column& column) {
  if (is_share(column)) { return 100; }
  return column.format == Format::milliseconds ? 1000 : 1;
}

int decimals_of(const Column& column) {
  if (column.shown.decimals) { return *column.shown.decimals; }
  switch (column.format) {
    case Format::text:
    case Format::word:
    case Format::count:
    case Format::size: return 0;
    case Format::one_decimal:
    case Format::signed_percent: return 1;
    case Format::figure:
    case Format::two_decimals:
    case Format::percent:
    case Format::milliseconds: return 2;
  }
  return 0;
}

std::optional<double> microseconds_of(const Column& column) {
  if (column.format == Format::milliseconds) { return 1e6; }  // the key has seconds
  return column.unit == "(us)" ? std::optional<double>(1) : std::nullopt;
}

const char* name(Shown::Report report) {
  switch (report) {
    case Shown::Report::not_at_all: return "";
    case Shown::Report::word: return "word";
    case Shown::Report::figure: return "figure";
    case Shown::Report::remark: return "remark";
  }
  return "";
}

/// The time whose interval tells that of a figure: itself, or the one that a rate is in inverse proportion to.
const Column* time_behind(const Column& column) {
  if (column.role == ColumnRole::time) { return &column; }
  return column.role == ColumnRole::rate ? column.of : nullptr;
}

/// Of what has an interval: the keys of its time and of that one's ends.
void put_interval(const Column& column, JsonValue& shown) {
  const Column* time = time_behind(column);
  for (const Column* each : figures_of_all_kinds()) {
    if (time == nullptr || each->of != time) { continue; }
    if (each->role == ColumnRole::low_end) { shown["low"] = each->key; }
    if (each->role == ColumnRole::high_end) { shown["high"] = each->key; }
  }
  if (shown.contains("low")) { shown["of"] = time->key; }
}

}  // namespace

JsonValue shown_figures() {
  JsonValue figures = JsonValue::list();
  for (const Column* each : figures_of_all_kinds()) {
    JsonValue shown = {{"key", each->key},
                       {"report", name(each->shown.in_reports)},
                       {"head", head_of(*each)},
                       {"factor", factor_of(*each)},
                       {"decimals", decimals_of(*each)},
                       {"axis", each->shown.axis.empty() ? each->key : each->shown.axis},
                       {"share", is_share(*each)},
                       {"time", each->role == ColumnRole::time},
                       {"rate", each->role == ColumnRole::rate},
                       {"beside_time", each->shown.beside_time}};
    if (const auto microseconds = microseconds_of(*each)) { shown["microseconds"] = *microseconds; }
    put_interval(*each, shown);
    figures.push_back(std::move(shown));
  }
  return figures;
}

}  // namespace athanor
