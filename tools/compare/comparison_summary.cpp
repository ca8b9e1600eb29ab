#include <algorithm>
#include <cmath>
#include <map>

#include "models/experiments/collective.hpp"
#include "tools/compare/comparison.hpp"

namespace athanor {

namespace {

using Key = std::vector<std::string>;

/// Where the straight lines through two points each, in logarithms, meet.
double crossing(const ComparisonLine& a, const ComparisonLine& b, std::size_t first, std::size_t second) {
  const double low = std::log(a.entries[first]->value / a.entries[second]->value);
  const double high = std::log(b.entries[first]->value / b.entries[second]->value);
  const double share = low == high ? 0.5 : std::clamp(low / (low - high), 0.0, 1.0);
  return a.size * std::pow(b.size / a.size, share);
}

}  // namespace

double Comparison::mean_ratio(std::size_t alternative) const {
  double sum = 0;
  std::size_t count = 0;
  for (const ComparisonLine& line : lines) {
    const auto& own = line.entries[alternative];
    const auto& other = line.entries[base];
    if (!own || !other || own->value <= 0 || other->value <= 0) { continue; }
    sum += std::log(own->value / other->value);
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / static_cast<double>(count));
}

std::vector<std::size_t> Comparison::front(const ComparisonLine& line) const {
  const auto beats = [&](const ComparisonEntry& a, const ComparisonEntry& b) {
    const bool no_worse = (more_is_better ? a.value >= b.value : a.value <= b.value) && *a.against <= *b.against;
    return no_worse && (a.value != b.value || *a.against != *b.against);
  };
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < line.entries.size(); ++i) {
    const auto& own = line.entries[i];
    if (!own || !own->against) { continue; }
    const bool beaten = std::any_of(line.entries.begin(), line.entries.end(),
                                    [&](const auto& other) { return other && other->against && beats(*other, *own); });
    if (!beaten) { front.push_back(i); }
  }
  return front;
}

std::vector<std::size_t> Comparison::wins() const {
  std::vector<std::size_t> wins(alternatives.size());
  for (const ComparisonLine& line : lines) {
    for (const std::size_t each : line.winners) { ++wins[each]; }
  }
  return wins;
}

std::vector<Crossover> Comparison::crossovers() const {
  const auto size = std::find(conditions.begin(), conditions.end(), kBytes.key);
  if (size == conditions.end()) { return {}; }
  const auto without_size = [&](Key key) {
    key.erase(key.begin() + (size - conditions.begin()));
    return key;
  };
  std::map<Key, std::vector<const ComparisonLine*>> series;
  for (const ComparisonLine& line : lines) {
    if (!line.winners.empty()) { series[without_size(line.conditions)].push_back(&line); }
  }
  std::vector<Crossover> crossovers;
  for (auto& [key, points] : series) {
    std::stable_sort(points.begin(), points.end(), [](const auto* a, const auto* b) { return a->size < b->size; });
    for (std::size_t i = 1; i < points.size(); ++i) {
      const ComparisonLine& a = *points[i - 1];
      const ComparisonLine& b = *points[i];
      const std::size_t before = a.winners.front();
      const std::size_t after = b.winners.front();
      const auto wins_both = std::find_first_of(a.winners.begin(), a.winners.end(), b.winners.begin(), b.winners.end());
      if (wins_both != a.winners.end() || a.size <= 0 || !a.entries[after] || !b.entries[before]) { continue; }
      crossovers.push_back({key, before, after, a.size, b.size, crossing(a, b, before, after)});
    }
  }
  return crossovers;
}

}  // namespace athanor
