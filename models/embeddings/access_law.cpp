#include "models/embeddings/access_law.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kSummed = 64;  ///< terms, before the formula takes over
constexpr std::uint64_t kSingle = 512;
constexpr double kPopularity = 1.03;  ///< of rows in one group, at most

/// The sum of x^-s from m + 1 to n by the first terms of Euler and Maclaurin's formula.
double tail_of_harmonic(double m, double n, double s) {
  const double integral = s == 1 ? std::log(n / m) : (std::pow(n, 1 - s) - std::pow(m, 1 - s)) / (1 - s);
  const double ends = (std::pow(n, -s) - std::pow(m, -s)) / 2;
  const double first = -s / 12 * (std::pow(n, -s - 1) - std::pow(m, -s - 1));
  const double third = s * (s + 1) * (s + 2) / 720 * (std::pow(n, -s - 3) - std::pow(m, -s - 3));
  return integral + ends + first + third;
}

double distinct_of(double share, double lookups) {
  return share >= 1 ? std::min(1.0, lookups) : -std::expm1(lookups * std::log1p(-share));
}

}  // namespace

double generalized_harmonic(std::uint64_t n, double exponent) {
  double sum = 0;
  const std::uint64_t summed = std::min(n, kSummed);
  for (std::uint64_t k = summed; k > 0; --k) { sum += std::pow(static_cast<double>(k), -exponent); }
  if (n <= kSummed) { return sum; }
  return sum + tail_of_harmonic(static_cast<double>(kSummed), static_cast<double>(n), exponent);
}

AccessLaw AccessLaw::uniform(std::uint64_t rows) {
  require(rows > 0, "a table without rows");
  AccessLaw law;
  law.rows_ = rows;
  law.groups_ = {{static_cast<double>(rows), 1 / static_cast<double>(rows)}};
  return law;
}

AccessLaw AccessLaw::zipf(std::uint64_t rows, double exponent) {
  if (exponent == 0) { return uniform(rows); }
  require(rows > 0, "a table without rows");
  AccessLaw law;
  law.kind_ = Kind::zipf;
  law.rows_ = rows;
  law.exponent_ = exponent;
  const double all = generalized_harmonic(rows, exponent);
  double below = 0;
  for (std::uint64_t k = 1; k <= std::min(rows, kSingle); ++k) {
    law.groups_.push_back({1, std::pow(static_cast<double>(k), -exponent) / all});
    below = generalized_harmonic(k, exponent);
  }
  const double step = std::max(1.0 / 256, std::min(1.0, std::pow(kPopularity, 1 / exponent) - 1));
  for (std::uint64_t k = kSingle; k < rows;) {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(k) * step));
    const std::uint64_t next = k + std::min(rows - k, std::max<std::uint64_t>(1, wanted));
    const double upto = generalized_harmonic(next, exponent);
    const auto count = static_cast<double>(next - k);
    law.groups_.push_back({count, (upto - below) / all / count});
    below = upto;
    k = next;
  }
  return law;
}

AccessLaw AccessLaw::counted(std::vector<std::uint64_t> counts) {
  std::sort(counts.begin(), counts.end(), std::greater<>());
  double all = 0;
  for (const std::uint64_t count : counts) { all += static_cast<double>(count); }
  require(all > 0, "a table that nobody looks up");
  AccessLaw law;
  law.rows_ = counts.size();
  std::uint64_t last = 0;
  for (const std::uint64_t count : counts) {
    if (law.groups_.empty() || count != last) { law.groups_.push_back({0, static_cast<double>(count) / all}); }
    law.groups_.back().rows += 1;
    last = count;
  }
  return law;
}

AccessLaw AccessLaw::stepped(std::uint64_t rows, std::vector<AccessGroup> groups) {
  require(rows > 0, "a table without rows");
  std::stable_sort(groups.begin(), groups.end(),
                   [](const AccessGroup& a, const AccessGroup& b) { return a.share > b.share; });
  AccessLaw law;
  law.rows_ = rows;
  law.groups_ = std::move(groups);
  return law;
}

double AccessLaw::top_share(std::uint64_t hottest) const {
  if (hottest >= rows_) { return 1; }
  if (kind_ == Kind::zipf) { return generalized_harmonic(hottest, exponent_) / generalized_harmonic(rows_, exponent_); }
  double share = 0;
  auto left = static_cast<double>(hottest);
  for (const AccessGroup& group : groups_) {
    const double taken = std::min(left, group.rows);
    share += taken * group.share;
    left -= taken;
  }
  return share;
}

double AccessLaw::distinct(double lookups) const { return distinct_beyond(lookups, 0); }

double AccessLaw::distinct_beyond(double lookups, std::uint64_t hottest) const {
  double sum = 0;
  auto skipped = static_cast<double>(hottest);
  for (const AccessGroup& group : groups_) {
    const double out = std::min(skipped, group.rows);
    skipped -= out;
    sum += (group.rows - out) * distinct_of(group.share, lookups);
  }
  return sum;
}

}  // namespace athanor
