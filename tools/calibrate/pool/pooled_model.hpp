#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/software/software_pool.hpp"
#include "tools/calibrate/pool/effects.hpp"
#include "tools/calibrate/pool/posterior.hpp"
#include "tools/calibrate/tables/table_rows.hpp"

namespace athanor {

/// What is believed of effects before any table is looked at: by FigureKind, then of effects on whole families.
EffectSpreads assumed_spreads();
/// Of effects on a family, which is not `none`.
std::size_t group_of(FigureFamily family);

/// A case of measured tables on its stack. Cases of a stack share its effects.
struct StackCase {
  std::string stack;
  StackParts parts;
  NcclChoosing choosing = NcclChoosing::algorithm;
  NcclVersion version{};      ///< of its tables
  std::string within_node{};  ///< the profile of what stays inside a node; "": its own
  /// Whose figures are what to expect, in place of those that a pool tells of such parts; null: there is none.
  std::shared_ptr<const Profile> begins_with{};
};

struct FigureAtBound {
  std::string stack;
  std::size_t figure = 0;  ///< of figures()
  double bound = 0;

  auto operator<=>(const FigureAtBound&) const = default;
};

/// The figures of all stacks as products: typical x effects of parts x effect of the stack, which the rows of all
/// tables tell together. The unknowns are logarithms, in the order of effects().
class PooledModel {
 public:
  /// Requires a StackCase for each of the tables' cases; rows of a case stand together.
  PooledModel(Tables tables, std::vector<StackCase> cases);
  /// One stack, of which a pool tells what to expect: its figures are what the pool expects, or what the stack begins
  /// with, x an effect of the stack, which spreads as the pool says.
  PooledModel(Tables tables, std::vector<StackCase> cases, const SoftwarePool& pool);

  const std::vector<Effect>& effects() const { return effects_.all(); }
  std::optional<std::size_t> effect_of_family(std::size_t effect) const { return effects_.of_family(effect); }
  const std::vector<StackCase>& cases() const { return cases_; }
  /// By name, each once.
  std::set<std::string> stacks() const;
  std::vector<std::size_t> cases_of(const std::string& stack) const;
  const Tables& tables() const { return tables_; }
  /// Of effects by their level and kind; of one stack, what the pool says.
  Spreads prior(const EffectSpreads& spreads) const;

  /// Figures of stacks that are at a bound, or would be beyond it, each once; not shares that are all of the hardware.
  std::vector<FigureAtBound> at_bounds(const std::vector<double>& unknowns) const;

  /// The profile of a case.
  Profile profile(std::size_t in_case, const std::vector<double>& unknowns) const;
  void choose(std::size_t in_case, NcclChoosing choosing) { cases_.at(in_case).choosing = choosing; }

  /// log(simulated / measured) of all rows, simulated on as many threads as there are processors.
  std::vector<double> residuals(const std::vector<double>& unknowns);
  /// The same of the rows of some cases alone, put into their places in `residuals`.
  void simulate(const std::vector<double>& unknowns, const std::vector<std::size_t>& of_cases,
                std::vector<double>& residuals);
  /// Of the rows of these cases, by differences: here, or where they were taken lately and hardly anything differs.
  std::vector<Slopes> slopes(const std::vector<double>& unknowns, const std::vector<double>& residuals,
                             const std::vector<std::size_t>& of_cases);
  /// All of them.
  std::vector<std::size_t> every_case() const;
  /// By effect: whether other cases than these have it.
  std::vector<bool> shared_with_others(const std::vector<std::size_t>& of_cases) const;

 private:
  /// A case whose rows are to be simulated with a profile.
  struct Task {
    std::size_t in_case;
    Profile profile;
    std::vector<double> residuals;
  };

  /// What a case was simulated with lately: most evaluations change few stacks, and hold-outs return to the fit of all.
  struct Simulated {
    std::vector<double> values;
    NcclChoosing choosing = NcclChoosing::algorithm;
    std::vector<double> residuals;
  };

  /// By how much the rows of a case change with each of its figures that matter, and where.
  struct Differences {
    std::vector<double> values;
    NcclChoosing choosing = NcclChoosing::algorithm;
    std::vector<std::vector<double>> of_figures;
  };

  void find_rows();
  void add_effects(std::size_t in_case);
  std::size_t effect(std::size_t figure, EffectLevel level, const std::string& name);
  std::size_t effect_on_family(FigureFamily family, EffectLevel level, const std::string& name);
  double figure_value(std::size_t in_case, std::size_t figure, const std::vector<double>& unknowns) const;
  Profile profile_with(std::size_t in_case, const std::vector<double>& values) const;
  std::vector<double> values(std::size_t in_case, const std::vector<double>& unknowns) const;
  std::vector<Task> changed(std::size_t in_case, const std::vector<double>& here, std::vector<double>& steps) const;
  const Simulated* known_residuals(std::size_t in_case, const std::vector<double>& here) const;
  const Differences* known_differences(std::size_t in_case, const std::vector<double>& here) const;
  void take_differences(const std::vector<double>& unknowns, const std::vector<double>& residuals,
                        const std::vector<std::size_t>& of_cases);
  void run(std::vector<Task>& tasks) const;
  std::vector<double> residuals_of(std::size_t in_case, const Profile& profile) const;

  Tables tables_;
  std::vector<StackCase> cases_;
  std::vector<std::pair<std::size_t, std::size_t>> rows_;  // of each case: first, and how many
  std::vector<std::vector<Simulated>> simulated_;          // by case: the latest first
  std::vector<std::vector<Differences>> differences_;      // by case: the latest
  std::vector<std::vector<double>> base_;                  // by case and figure: what effects change
  Spreads expected_;                                       // by effect, where a pool tells
  Effects effects_;
  std::vector<std::vector<std::vector<std::size_t>>> effects_of_;  // by case and figure; empty: it does not matter
};

}  // namespace athanor
