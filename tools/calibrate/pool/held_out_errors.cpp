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

namespace {

/// A row that was held out, and what is like it.
struct HeldOutRow {
  HeldOutError row;
  PredictionError kind;
};

HeldOut held_out_of(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::sizes: return HeldOut::sizes;
    case Knowledge::tables: return HeldOut::table;
    case Knowledge::two_rows: return HeldOut::all_but_two;
    case Knowledge::nothing: return HeldOut::stack;
  }
  return HeldOut::nothing;
}

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
      rows.push_back({{row.table, cases[row.in_case].stack, -of_rows[i]},
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
    if (counts(each)) { alike[key_of(each.kind)].push_back(each.row); }
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

std::vector<Coverage> coverage(const Tables& tables, const std::vector<StackCase>& cases,
                               const HeldOutResiduals& residuals) {
  const std::vector<HeldOutRow> rows = held_out_rows(tables, cases, residuals);
  using Alike = std::pair<Knowledge, SizeBand>;
  std::map<Alike, CoverageCount> counts;
  std::map<std::string, std::vector<PredictionError>> without;
  for (const HeldOutRow& row : rows) {
    const auto [others, is_new] = without.try_emplace(row.row.stack);
    if (is_new) {
      others->second = errors_of(rows, [&](const HeldOutRow& each) { return each.row.stack != row.row.stack; });
    }
    const auto found = std::find_if(others->second.begin(), others->second.end(),
                                    [&](const PredictionError& each) { return key_of(each) == key_of(row.kind); });
    if (found == others->second.end()) { continue; }
    counts[{row.kind.knowledge, row.kind.band}].add(row.row.table, row.row.error, found->low, found->high);
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
