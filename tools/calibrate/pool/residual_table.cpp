#include "tools/calibrate/pool/residual_table.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "models/experiments/table.hpp"
#include "tools/calibrate/pool/held_out_errors.hpp"

namespace athanor {

namespace {

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names{
      "hold_out", "table", "stack",       "collective",   "ranks", "bytes", "measured_time_us",
      "time_us",  "error", "time_low_us", "time_high_us", "spike", "noisy"};
  return names;
}

/// By what was held out and row: an error of the kind that its interval is made of.
using Intervals = std::map<std::pair<HeldOut, std::size_t>, PredictionError>;

Intervals intervals_of(const Tables& tables, const std::vector<StackCase>& cases, const HeldOutResiduals& residuals) {
  ErrorsOfOtherStacks others(tables, cases, residuals);
  Intervals intervals;
  for (const HeldOutRow& row : others.rows()) {
    const PredictionError* const found = others.of(row.error.stack, row.kind);
    if (found != nullptr) { intervals.emplace(std::pair(held_out_of(row.kind.knowledge), row.row), *found); }
  }
  return intervals;
}

JsonValue record_of(const Tables& tables, const TableRow& row, const std::string& stack, double residual) {
  const CollectiveSetup& setup = tables.cases[row.in_case].setup;
  return {{"table", tables.name(row)},
          {"stack", stack},
          {"collective", name(setup.kind)},
          {"ranks", setup.ranks},
          {"bytes", row.size.count()},
          {"measured_time_us", row.measured_us},
          {"time_us", row.measured_us * std::exp(residual)},
          {"error", std::expm1(residual)},
          {"spike", row.spike},
          {"noisy", tables.noisy(tables.name(row))}};
}

}  // namespace

std::string residual_table(const Tables& tables, const std::vector<StackCase>& cases,
                           const HeldOutResiduals& residuals) {
  const Intervals intervals = intervals_of(tables, cases, residuals);
  std::vector<JsonValue> records;
  for (std::size_t what = 0; what < kHeldOuts; ++what) {
    for (std::size_t i = 0; i < residuals.at(what).size(); ++i) {
      const double residual = residuals.at(what)[i];
      if (std::isnan(residual)) { continue; }
      const TableRow& row = tables.rows[i];
      JsonValue& record = records.emplace_back(record_of(tables, row, cases[row.in_case].stack, residual));
      record["hold_out"] = name(static_cast<HeldOut>(what));
      const auto interval = intervals.find({static_cast<HeldOut>(what), i});
      if (interval == intervals.end()) { continue; }
      const double time = row.measured_us * std::exp(residual);
      record["time_low_us"] = time * interval->second.low;
      record["time_high_us"] = time * interval->second.high;
    }
  }
  return csv_document(columns(), records);
}

}  // namespace athanor
