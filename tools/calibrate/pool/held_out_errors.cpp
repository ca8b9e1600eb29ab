#include "tools/calibrate/pool/held_out_errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace athanor {

namespace {

constexpr double kOutside = 0.2;  // of measured times, half on each side

/// A row that was held out: log(measured / simulated), and what is like it.
struct HeldOutRow {
  std::size_t table = 0;
  std::string stack;
  PredictionError kind;
  double error = 0;
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
      rows.push_back({row.table,
                      cases[row.in_case].stack,
                      {.knowledge = knowledge, .several_nodes = several, .band = band_of(row.size)},
                      -of_rows[i]});
    }
  }
  return rows;
}

using Kind = std::tuple<Knowledge, bool, SizeBand>;
Kind key_of(const PredictionError& error) { return {error.knowledge, error.several_nodes, error.band}; }

/// The least value that so much of the weight does not exceed.
double quantile(std::vector<std::pair<double, double>> weighted, double share) {
  std::sort(weighted.begin(), weighted.end());
  double all = 0;
  for (const auto& [value, weight] : weighted) { all += weight; }
  double sum = 0;
  for (const auto& [value, weight] : weighted) {
    sum += weight;
    if (sum >= share * all) { return value; }
  }
  return weighted.back().first;
}

/// What two rows of two tables of one stack have in common, in the mean over such pairs: their product over the square.
/// Of every table its mean counts, so that long ones do not count more.
double shared_of(const std::vector<const HeldOutRow*>& rows) {
  std::map<std::string, std::map<std::size_t, std::pair<double, double>>> sums;  // by stack and table: errors, rows
  double squares = 0;
  for (const HeldOutRow* each : rows) {
    auto& [sum, count] = sums[each->stack][each->table];
    sum += each->error;
    ++count;
    squares += each->error * each->error / static_cast<double>(rows.size());
  }
  double products = 0;
  double pairs = 0;
  for (const auto& [stack, tables] : sums) {
    for (auto first = tables.begin(); first != tables.end(); ++first) {
      for (auto second = std::next(first); second != tables.end(); ++second) {
        products += first->second.first / first->second.second * second->second.first / second->second.second;
        ++pairs;
      }
    }
  }
  return pairs == 0 || squares == 0 ? 0 : std::clamp(products / pairs / squares, 0.0, 0.95);
}

PredictionError error_of(const std::vector<const HeldOutRow*>& rows) {
  std::map<std::size_t, double> of_table;
  for (const HeldOutRow* each : rows) { ++of_table[each->table]; }
  std::vector<std::pair<double, double>> up;
  std::vector<std::pair<double, double>> down;
  for (const HeldOutRow* each : rows) {
    const double weight = 1 / of_table[each->table];
    up.emplace_back(each->error, weight);
    down.emplace_back(-each->error, weight);
  }
  PredictionError result = rows.front()->kind;
  result.high = std::exp(quantile(up, 1 - kOutside / 2));
  result.low = std::exp(-quantile(down, 1 - kOutside / 2));
  result.shared = shared_of(rows);
  result.tables = static_cast<std::uint32_t>(of_table.size());
  return result;
}

std::vector<PredictionError> errors_of(const std::vector<HeldOutRow>& rows,
                                       const std::function<bool(const HeldOutRow&)>& counts) {
  std::map<Kind, std::vector<const HeldOutRow*>> alike;
  for (const HeldOutRow& each : rows) {
    if (counts(each)) { alike[key_of(each.kind)].push_back(&each); }
  }
  std::vector<PredictionError> result;
  for (const auto& [kind, some] : alike) { result.push_back(error_of(some)); }
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
  const double factor = std::exp(row.error);
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
    const auto [others, is_new] = without.try_emplace(row.stack);
    if (is_new) {
      others->second = errors_of(rows, [&](const HeldOutRow& each) { return each.stack != row.stack; });
    }
    const std::optional<Covered> found = covered(row, others->second);
    if (!found) { continue; }
    const Alike alike{row.kind.knowledge, row.kind.band};
    auto& [within, all] = inside[alike][row.table];
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
