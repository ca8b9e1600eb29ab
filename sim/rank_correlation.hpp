#pragma once

#include <vector>

namespace athanor {

/// Spearman's: whether two lists of values are in the same order, from -1 (the reverse) to 1. Values that are equal
/// share the mean of their ranks; 0 where one side tells none apart. Requires lists of equal length.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace athanor
