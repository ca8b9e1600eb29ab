#include "tools/calibrate/pool/scatter.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

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

/// As how many independent rows these count, since those of one stack are off alike: by the design effect of cluster
/// sampling (Kish, "Survey Sampling", 1965), 1 + (rows of a stack - 1) x the share of the variance that its rows have
/// in common, by one-way analysis of variance.
double independent_rows(const std::vector<HeldOutError>& rows) {
  std::map<std::string, std::pair<double, double>> sums;  // by stack: errors, rows
  double total = 0;
  for (const HeldOutError& each : rows) {
    auto& [sum, count] = sums[each.stack];
    sum += each.error;
    ++count;
    total += each.error;
  }
  const auto all = static_cast<double>(rows.size());
  const auto stacks = static_cast<double>(sums.size());
  double between = 0;
  double squared_counts = 0;
  for (const auto& [stack, of] : sums) {
    between += of.second * std::pow(of.first / of.second - total / all, 2);
    squared_counts += of.second * of.second;
  }
  double within = 0;
  for (const HeldOutError& each : rows) {
    const auto& [sum, count] = sums.at(each.stack);
    within += std::pow(each.error - sum / count, 2);
  }
  if (stacks < 2 || all == stacks || between + within == 0) { return stacks; }
  const double mean_count = (all - squared_counts / all) / (stacks - 1);
  between /= stacks - 1;
  within /= all - stacks;
  const double shared = std::clamp((between - within) / (between + (mean_count - 1) * within), 0.0, 1.0);
  return all / (1 + (squared_counts / all - 1) * shared);
}

/// How much wider than the scatter of so many independent rows an interval has to be in which a further one is to lie:
/// Student's t beside the normal distribution, and the uncertainty of the middle.
double widened(double rows) {
  constexpr double kShare = 1 - kOutside / 2;
  const double count = std::max(rows, 2.0);
  const double student = boost::math::quantile(boost::math::students_t(count - 1), kShare);
  return student * std::sqrt(1 + 1 / count) / boost::math::quantile(boost::math::normal(), kShare);
}

}  // namespace

Scatter scatter_of(const std::vector<HeldOutError>& rows) {
  require(!rows.empty(), "rows that were held out");
  std::map<std::size_t, double> of_table;
  for (const HeldOutError& each : rows) { ++of_table[each.table]; }
  std::vector<std::pair<double, double>> weighted;
  for (const HeldOutError& each : rows) { weighted.emplace_back(each.error, 1 / of_table[each.table]); }
  const double middle = quantile(weighted, 0.5);
  const double width = widened(independent_rows(rows));
  const double high = quantile(weighted, 1 - kOutside / 2);
  for (auto& [value, weight] : weighted) { value = -value; }
  const double low = -quantile(weighted, 1 - kOutside / 2);
  return {std::exp(middle - (middle - low) * width), std::exp(middle + (high - middle) * width), shared_of(rows),
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
