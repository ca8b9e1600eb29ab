#include "tools/calibrate/pool/scatter.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr double kOutside = 0.2;  // of measured times, half on each side

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

/// The mean product of two rows of two tables of one stack, over the mean square. Of every table its mean counts, so
/// that long ones do not count more.
double shared_of(const std::vector<HeldOutError>& rows) {
  std::map<std::string, std::map<std::size_t, std::pair<double, double>>> sums;  // by stack and table: errors, rows
  double squares = 0;
  for (const HeldOutError& each : rows) {
    auto& [sum, count] = sums[each.stack][each.table];
    sum += each.error;
    ++count;
    squares += each.error * each.error / static_cast<double>(rows.size());
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

}  // namespace

Scatter scatter_of(const std::vector<HeldOutError>& rows) {
  require(!rows.empty(), "rows that were held out");
  std::map<std::size_t, double> of_table;
  for (const HeldOutError& each : rows) { ++of_table[each.table]; }
  std::vector<std::pair<double, double>> up;
  std::vector<std::pair<double, double>> down;
  for (const HeldOutError& each : rows) {
    const double weight = 1 / of_table[each.table];
    up.emplace_back(each.error, weight);
    down.emplace_back(-each.error, weight);
  }
  return {std::exp(-quantile(down, 1 - kOutside / 2)), std::exp(quantile(up, 1 - kOutside / 2)), shared_of(rows),
          static_cast<std::uint32_t>(of_table.size())};
}

void CoverageCount::add(std::size_t table, double error, double low, double high) {
  const double factor = std::exp(error);
  auto& [within, all] = counts_[table];
  within += low <= factor && factor <= high ? 1 : 0;
  ++all;
  widths_.push_back(high / low - 1);
}

double CoverageCount::share() const {
  double sum = 0;
  for (const auto& [table, counts] : counts_) { sum += counts.first / counts.second; }
  return sum / static_cast<double>(counts_.size());
}

double CoverageCount::median_width() const {
  std::vector<double> all = widths_;
  std::nth_element(all.begin(), all.begin() + std::ssize(all) / 2, all.end());
  return all[all.size() / 2];
}

}  // namespace athanor
