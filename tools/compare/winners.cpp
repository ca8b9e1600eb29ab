#include <algorithm>

#include "models/experiments/interval.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "tools/compare/comparison.hpp"

namespace athanor {

namespace {

std::vector<std::size_t> best_of(const ComparisonLine& line, bool more) {
  std::vector<std::size_t> winners;
  std::size_t present = 0;
  for (std::size_t i = 0; i < line.entries.size(); ++i) {
    if (!line.entries[i]) { continue; }
    ++present;
    const double value = line.entries[i]->value;
    const double best = winners.empty() ? value : line.entries[winners.front()]->value;
    if (more ? value > best : value < best) { winners.clear(); }
    if (winners.empty() || value == best) { winners.push_back(i); }
  }
  return winners.size() < present ? winners : std::vector<std::size_t>{};
}

/// That `a` is better than `b`; times of one profile err together.
std::optional<double> certainty_of(const ComparisonEntry& a, const ComparisonEntry& b) {
  if (!a.spread || a.value <= 0 || b.value <= 0) { return std::nullopt; }
  if (!b.counts_software()) { return certainty(a.value / b.value, *a.spread, 0, 0); }
  if (!b.spread) { return std::nullopt; }
  const double shared = a.profile == b.profile ? std::min(a.shared, b.shared) : 0;
  return certainty(a.value / b.value, *a.spread, *b.spread, shared);
}

/// Of the one winner against each of the others that something is known of, the least.
std::optional<double> certainty_of(const ComparisonLine& line) {
  if (line.winners.size() != 1) { return std::nullopt; }
  const ComparisonEntry& best = *line.entries[line.winners.front()];
  std::optional<double> least;
  for (std::size_t i = 0; i < line.entries.size(); ++i) {
    if (i == line.winners.front() || !line.entries[i]) { continue; }
    const std::optional<double> own = certainty_of(best, *line.entries[i]);
    if (own) { least = std::min(least.value_or(*own), *own); }
  }
  return least;
}

}  // namespace

bool ComparisonEntry::counts_software() const { return profile != kIdealProfile; }

bool ComparisonLine::mixes_software() const {
  const auto is = [&](bool software) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const auto& entry) { return entry && entry->counts_software() == software; });
  };
  return is(true) && is(false);
}

void find_winners(ComparisonLine& line, bool more_is_better) {
  line.winners = best_of(line, more_is_better);
  const bool hardware_alone = std::any_of(line.winners.begin(), line.winners.end(),
                                          [&](std::size_t i) { return !line.entries[i]->counts_software(); });
  if (hardware_alone && line.mixes_software()) { line.winners.clear(); }
  line.certainty = certainty_of(line);
}

std::vector<std::size_t> Comparison::without_software() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    const bool any = std::any_of(lines.begin(), lines.end(), [&](const ComparisonLine& line) {
      return line.entries[i] && !line.entries[i]->counts_software() && line.mixes_software();
    });
    if (any) { found.push_back(i); }
  }
  return found;
}

}  // namespace athanor
