#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// Rows of a table that are looked up equally often.
struct AccessGroup {
  double rows = 0;
  double share = 0;  ///< of all look-ups, that each of these rows gets
  bool operator==(const AccessGroup&) const = default;
};

/// How look-ups are spread over the rows of a table, each independent of the others (the independent reference model).
class AccessLaw {
 public:
  /// Requires rows >= 1.
  static AccessLaw uniform(std::uint64_t rows);
  /// The k-th most popular row gets a share in proportion to 1 / k^exponent. Requires rows >= 1, exponent >= 0.
  static AccessLaw zipf(std::uint64_t rows, double exponent);
  /// In proportion to how often rows were looked up somewhere. Requires one count above 0 at least.
  static AccessLaw counted(std::vector<std::uint64_t> counts);

  /// Of groups, in any order, whose look-ups are shares of all. Requires rows >= 1.
  static AccessLaw stepped(std::uint64_t rows, std::vector<AccessGroup> groups);

  std::uint64_t rows() const { return rows_; }
  /// The share of look-ups that go to the most popular rows, so many. Exact: of Zipf's law H(k) / H(rows).
  double top_share(std::uint64_t hottest) const;
  /// How many different rows so many look-ups are expected to name: the sum over rows of 1 - (1 - share)^lookups.
  double distinct(double lookups) const;
  /// The same of rows beyond the most popular ones, so many.
  double distinct_beyond(double lookups, std::uint64_t hottest) const;
  /// From the most popular row on. Of Zipf's law the first 512 rows one by one, then rows whose popularity differs by
  /// 3 % at most, in the mean.
  const std::vector<AccessGroup>& groups() const { return groups_; }

  bool operator==(const AccessLaw&) const = default;

 private:
  enum class Kind : std::uint8_t { groups, zipf };
  Kind kind_ = Kind::groups;
  std::uint64_t rows_ = 1;
  double exponent_ = 0;
  std::vector<AccessGroup> groups_;
};

/// The sum of 1 / k^exponent for k from 1 to n: exact but for rounding (Euler and Maclaurin's formula beyond 64).
double generalized_harmonic(std::uint64_t n, double exponent);

}  // namespace athanor
