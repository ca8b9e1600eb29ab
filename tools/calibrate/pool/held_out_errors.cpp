#include "tools/calibrate/pool/held_out_errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
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

/// Whether a held-out row is where the errors of others have it, and how wide that is.
struct Covered {
  bool inside = false;
  double width = 0;
};

std::optional<Covered> covered(const HeldOutRow& row, const std::vector<PredictionError>& others) {
  const auto found = std::find_if(others.begin(), others.end(),
                                  [&](const PredictionError& each) { return key_of(each) == key_of(row.kind); });
  if (found == others.end()) { return std::nullopt; }
  const double factor = std::exp(row.row.error);
  return Covered{found->low <= factor && factor <= found->high, found->high / found->low - 1};
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
  std::map<Alike, std::map<std::size_t, std::pair<double, double>>> inside;  // of each table: rows inside, and all
  std::map<Alike, std::vector<double>> widths;
  std::map<std::string, std::vector<PredictionError>> without;
  for (const HeldOutRow& row : rows) {
    const auto [others, is_new] = without.try_emplace(row.row.stack);
    if (is_new) {
      others->second = errors_of(rows, [&](const HeldOutRow& each) { return each.row.stack != row.row.stack; });
    }
    const std::optional<Covered> found = covered(row, others->second);
    if (!found) { continue; }
    const Alike alike{row.kind.knowledge, row.kind.band};
    auto& [within, all] = inside[alike][row.row.table];
    within += found->inside ? 1 : 0;
    ++all;
    widths[alike].push_back(found->width);
  }
  std::vector<Coverage> result;
  for (auto& [alike, of_tables] : inside) {
    Coverage each{.knowledge = alike.first, .band = alike.second, .tables = of_tables.size()};
    for (const auto& [table, counts] : of_tables) {
      each.share += counts.first / counts.second / static_cast<double>(of_tables.size());
    }
    std::vector<double>& all = widths[alike];
    std::nth_element(all.begin(), all.begin() + std::ssize(all) / 2, all.end());
    each.median_width = all[all.size() / 2];
    result.push_back(each);
  }
  return result;
}

}  // namespace athanor
