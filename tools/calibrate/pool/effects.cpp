#include "tools/calibrate/pool/effects.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

std::size_t Effects::place(Effect effect) {
  const auto [found, is_new] = places_.try_emplace({effect.figures, effect.name}, effects_.size());
  if (is_new) { effects_.push_back(std::move(effect)); }
  return found->second;
}

std::optional<std::size_t> Effects::of_family(std::size_t effect) const {
  const Effect& own = effects_[effect];
  for (std::size_t i = 0; i < effects_.size(); ++i) {
    const Effect& each = effects_[i];
    if (i == effect || each.figures.size() < 2 || each.level != own.level || each.name != own.name) { continue; }
    if (std::count(each.figures.begin(), each.figures.end(), own.figures.front()) > 0) { return i; }
  }
  return std::nullopt;
}

Spreads spreads_of(const std::vector<Effect>& effects, const EffectSpreads& spreads) {
  Spreads result;
  for (const Effect& each : effects) { result.push_back(each.spread(spreads)); }
  return result;
}

void take(const Effect& effect, double logarithm, double variance, PooledFigure& figure) {
  const double factor = std::exp(logarithm);
  const double spread = std::sqrt(variance);
  switch (effect.level) {
    case EffectLevel::all:
      figure.typical *= factor;
      figure.spread = spread;
      break;
    case EffectLevel::part: figure.parts.push_back({effect.name, factor, spread}); break;
    case EffectLevel::stack: break;
  }
}

EffectSpreads updated(const std::vector<Effect>& effects, const EffectSpreads& assumed, const std::vector<double>& mode,
                      const std::vector<double>& variances) {
  constexpr double kAssumed = 4;
  EffectSpreads result = assumed;
  for (std::size_t level = 1; level < kEffectLevels; ++level) {
    for (std::size_t group = 0; group < assumed.at(level).size(); ++group) {
      double sum = kAssumed * assumed.at(level)[group] * assumed.at(level)[group];
      double count = kAssumed;
      for (std::size_t i = 0; i < effects.size(); ++i) {
        if (static_cast<std::size_t>(effects[i].level) != level || effects[i].group != group) { continue; }
        sum += mode[i] * mode[i] + variances[i];
        ++count;
      }
      result.at(level)[group] = std::sqrt(sum / count);
    }
  }
  return result;
}

}  // namespace athanor
