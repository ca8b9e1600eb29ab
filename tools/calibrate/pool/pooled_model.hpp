#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/software/software_pool.hpp"
#include "tools/calibrate/pool/posterior.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

/// Where an effect stands: of all stacks, of those with a part, of one.
enum class EffectLevel : std::uint8_t { all, part, stack };
constexpr std::size_t kEffectLevels = 3;

/// Standard deviations of effects, which are logarithms of factors, by level and kind of figure.
using EffectSpreads = std::array<std::array<double, kFigureKinds>, kEffectLevels>;
/// What is believed of them before any table is looked at.
EffectSpreads assumed_spreads();

/// What a figure is changed by on some stacks.
struct Effect {
  std::size_t figure = 0;  ///< of figures()
  EffectLevel level = EffectLevel::all;
  std::string name;  ///< "" of all; a part; a stack, of GPUs' figures with their generation
};

/// A case of measured tables on its stack. Cases of a stack share its effects.
struct StackCase {
  std::string stack;
  StackParts parts;
  NcclChoosing choosing = NcclChoosing::algorithm;
};

/// The figures of all stacks as products: typical x effects of parts x effect of the stack, which the rows of all
/// tables tell together. The unknowns are logarithms, in the order of effects().
class PooledModel {
 public:
  /// Requires a StackCase for each of the tables' cases; rows of a case stand together.
  PooledModel(Tables tables, std::vector<StackCase> cases);
  /// One stack, of which a pool tells what to expect: its figures are what the pool expects x an effect of the stack.
  PooledModel(Tables tables, std::vector<StackCase> cases, const SoftwarePool& pool);

  const std::vector<Effect>& effects() const { return effects_; }
  const std::vector<StackCase>& cases() const { return cases_; }
  const Tables& tables() const { return tables_; }
  /// Of effects by their level and kind; of one stack, what the pool says.
  Spreads prior(const EffectSpreads& spreads) const;

  /// The profile of a case.
  Profile profile(std::size_t in_case, const std::vector<double>& unknowns) const;
  void choose(std::size_t in_case, NcclChoosing choosing) { cases_.at(in_case).choosing = choosing; }

  /// log(simulated / measured) of all rows, simulated on as many threads as there are processors.
  std::vector<double> residuals(const std::vector<double>& unknowns);
  /// The same of the rows of some cases alone, put into their places in `residuals`.
  void simulate(const std::vector<double>& unknowns, const std::vector<std::size_t>& of_cases,
                std::vector<double>& residuals);
  /// Of the rows of these cases, by differences.
  std::vector<Slopes> slopes(const std::vector<double>& unknowns, const std::vector<double>& residuals,
                             const std::vector<std::size_t>& of_cases);
  /// All of them.
  std::vector<std::size_t> every_case() const;

 private:
  using Key = std::pair<std::size_t, std::string>;  // figure and name of the effect
  /// A case whose rows are to be simulated with a profile.
  struct Task {
    std::size_t in_case;
    Profile profile;
    std::vector<double> residuals;
  };

  /// What a case was simulated with last: most evaluations change few stacks.
  struct Simulated {
    std::vector<double> values;
    NcclChoosing choosing = NcclChoosing::algorithm;
    std::vector<double> residuals;
  };

  void find_rows();
  void add_effects(std::size_t in_case);
  std::size_t effect(std::size_t figure, EffectLevel level, const std::string& name);
  double figure_value(std::size_t in_case, std::size_t figure, const std::vector<double>& unknowns) const;
  Profile profile_with(std::size_t in_case, const std::vector<double>& values) const;
  std::vector<double> values(std::size_t in_case, const std::vector<double>& unknowns) const;
  std::vector<Task> changed(std::size_t in_case, const std::vector<double>& unknowns, std::vector<double>& steps) const;
  void run(std::vector<Task>& tasks);
  std::vector<double> residuals_of(std::size_t in_case, const Profile& profile);

  Tables tables_;
  std::vector<StackCase> cases_;
  std::vector<std::pair<std::size_t, std::size_t>> rows_;  // of each case: first, and how many
  std::vector<Simulated> last_;                            // by case
  std::vector<std::vector<double>> base_;                  // by case and figure: what effects change
  Spreads expected_;                                       // by effect, where a pool tells
  std::vector<Effect> effects_;
  std::map<Key, std::size_t> known_;                               // effects by what they are
  std::vector<std::vector<std::vector<std::size_t>>> effects_of_;  // by case and figure; empty: it does not matter
};

}  // namespace athanor
