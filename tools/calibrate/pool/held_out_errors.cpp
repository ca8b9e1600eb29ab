#include "tools/calibrate/pool/held_out_errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tools/calibrate/pool/scatter.hpp"

namespace athanor {

HeldOut held_out_of(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::sizes: return HeldOut::sizes;
    case Knowledge::tables: return HeldOut::table;
    case Knowledge::two_rows: return HeldOut::all_but_two;
    case Knowledge::nothing: return HeldOut::stack;
  }
  return HeldOut::nothing;
}

namespace {

std::vector<HeldOutRow> held_out_rows(const Tables& tables, const std::vector<StackCase>& cases,
                                      const HeldOutResiduals& residuals) {
  std::vector<HeldOutRow> rows;
  for (const Knowledge knowledge : kKnowledges) {
    const std::vector<double>& of_rows = residuals.at(static_cast<std::size_t>(held_out_of(knowledge)));
    for (std::size_t i = 0; i < of_rows.size(); ++i) {
      const TableRow& row = tables.rows[i];
      if (std::isnan(of_rows[i]) || row.spike || tables.noisy(tables.name(row))) { continue; }
      const Tables::MeasuredCase& measured = tables.cases[row.in_case];
      const bool several = nodes_of(*measured.platform.cluster, measured.setup.ranks) > 1;
      rows.push_back({i,
                      {row.table, cases[row.in_case].stack, -of_rows[i]},
                      {.knowledge = knowledge, .several_nodes = several, .band = band_of(row.size)}});
    }
  }
  return rows;
}

using Kind = std::tuple<Knowledge, bool, SizeBand>;
Kind key_of(const PredictionError& error) { return {error.knowledge, error.several_nodes, error.band}; }

std::vector<PredictionError> errors_of(const std::vector<HeldOutRow>& rows,
                                       const std::function<bool(const HeldOutRow&)>& counts) {
  std::map<Kind, std::vector<HeldOutError>> alike;
  for (const HeldOutRow& each : rows) {
    if (counts(each)) { alike[key_of(each.kind)].push_back(each.error); }
  }
  std::vector<PredictionError> result;
  for (const auto& [kind, some] : alike) {
    const Scatter scatter = scatter_of(some);
    const auto [knowledge, several_nodes, band] = kind;
    result.push_back({knowledge, several_nodes, band, scatter.low, scatter.high, scatter.shared, scatter.tables});
  }
  return result;
}

}  // namespace

std::vector<PredictionError> prediction_errors(const Tables& tables, const std::vector<StackCase>& cases,
                                               const HeldOutResiduals& residuals) {
  return errors_of(held_out_rows(tables, cases, residuals), [](const HeldOutRow&) { return true; });
}

ErrorsOfOtherStacks::ErrorsOfOtherStacks(const Tables& tables, const std::vector<StackCase>& cases,
                                         const HeldOutResiduals& residuals)
    : rows_(held_out_rows(tables, cases, residuals)) {}

const PredictionError* ErrorsOfOtherStacks::of(const std::string& stack, const PredictionError& kind) {
  const auto [others, is_new] = without_.try_emplace(stack);
  if (is_new) {
    others->second = errors_of(rows_, [&](const HeldOutRow& each) { return each.error.stack != stack; });
  }
  const auto found = std::find_if(others->second.begin(), others->second.end(),
                                  [&](const PredictionError& each) { return key_of(each) == key_of(kind); });
  return found == others->second.end() ? nullptr : &*found;
}

std::vector<Coverage> coverage(const Tables& tables, const std::vector<StackCase>& cases,
                               const HeldOutResiduals& residuals) {
  ErrorsOfOtherStacks others(tables, cases, residuals);
  using Alike = std::pair<Knowledge, SizeBand>;
  std::map<Alike, CoverageCount> counts;
  for (const HeldOutRow& row : others.rows()) {
    const PredictionError* const found = others.of(row.error.stack, row.kind);
    if (found == nullptr) { continue; }
    counts[{row.kind.knowledge, row.kind.band}].add(row.error.table, row.error.error, found->low, found->high);
  }
  std::vector<Coverage> result;
  for (const auto& [alike, count] : counts) {
    result.push_back({.knowledge = alike.first,
                      .band = alike.second,
                      .share = count.share(),
                      .median_width = count.median_width(),
                      .tables = count.tables()});
  }
  return result;
}

}  // namespace athanor
