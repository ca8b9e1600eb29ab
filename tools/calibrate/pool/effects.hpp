#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/software/pooled_figure.hpp"
#include "tools/calibrate/pool/posterior.hpp"

namespace athanor {

/// Where an effect stands: of all stacks, of those with a part, of one.
enum class EffectLevel : std::uint8_t { all, part, stack };
constexpr std::size_t kEffectLevels = 3;

/// Standard deviations of effects, which are logarithms of factors, by level and group of figures.
using EffectSpreads = std::array<std::vector<double>, kEffectLevels>;

/// What figures are changed by on some stacks.
struct Effect {
  std::vector<std::size_t> figures;  ///< several: of a family, which it changes all alike
  std::size_t group = 0;             ///< of figures that differ from stack to stack by like factors
  EffectLevel level = EffectLevel::all;
  std::string name;  ///< "" of all; a part; a stack

  double spread(const EffectSpreads& spreads) const { return spreads.at(static_cast<std::size_t>(level)).at(group); }
};

/// Effects in the order in which they were first asked for: the unknowns of a fit.
class Effects {
 public:
  /// The place of the effect; of one that is new, behind all others.
  std::size_t place(Effect effect);
  const std::vector<Effect>& all() const { return effects_; }
  /// The effect of the same name and level on the whole family of this one's figure.
  std::optional<std::size_t> of_family(std::size_t effect) const;

 private:
  std::vector<Effect> effects_;
  std::map<std::pair<std::vector<std::size_t>, std::string>, std::size_t> places_;  // by figures and name
};

/// Of every effect, by its level and group.
Spreads spreads_of(const std::vector<Effect>& effects, const EffectSpreads& spreads);

/// Puts what was found of an effect, its logarithm and the variance of that, into its figure; effects of one stack are
/// in no pool.
void take(const Effect& effect, double logarithm, double variance, PooledFigure& figure);

/// By expectation and maximisation: of each group and level the mean of what effects are and may be, squared, with four
/// of those assumed. Of all stacks there is one of each: these stay as assumed.
EffectSpreads updated(const std::vector<Effect>& effects, const EffectSpreads& assumed, const std::vector<double>& mode,
                      const std::vector<double>& variances);

}  // namespace athanor
