#include "sim/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "sim/printable.hpp"

namespace athanor {

std::string describe(const Problem& problem) {
  std::string text = printable(problem.place.file);
  if (problem.place.line > 0) { text += fmt::format(":{}:{}", problem.place.line, problem.place.column); }
  if (!text.empty()) { text += ": "; }
  text += printable_message(problem.message);
  if (!problem.place.pointer.empty()) { text += fmt::format(" (at {})", printable(problem.place.pointer)); }
  if (!problem.hint.empty()) { text += "; " + printable(problem.hint); }
  return text;
}

namespace {

std::string describe_all(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) { text += '\n'; }
    text += describe(problem);
  }
  return text;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> two_up(b.size() + 1);
  std::vector<std::size_t> up(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_up.swap(up);
    up.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) { row[j] = std::min(row[j], two_up[j - 2] + 1); }
    }
  }
  return row.back();
}

}  // namespace

ScenarioError::ScenarioError(std::vector<Problem> problems)
    : std::runtime_error(describe_all(problems)), problems_(std::move(problems)) {}

ScenarioError::ScenarioError(Problem problem) : ScenarioError(std::vector<Problem>{std::move(problem)}) {}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace athanor
