#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/training/compute_pool.hpp"
#include "tools/calibrate/pool/effects.hpp"
#include "tools/calibrate/pool/posterior.hpp"
#include "tools/calibrate/training/measured_steps.hpp"

namespace athanor {

/// By ComputeFigure.
EffectSpreads assumed_step_spreads();

/// The figures of all compute profiles as products: typical x effects of parts x effect of the table, which the
/// measured steps of all tables tell together. The unknowns are logarithms, in the order of effects().
class PooledSteps {
 public:
  /// Requires steps of a table to stand together.
  explicit PooledSteps(MeasuredSteps steps);

  const MeasuredSteps& steps() const { return steps_; }
  const std::vector<Effect>& effects() const { return effects_.all(); }
  const ComputeParts& parts(std::size_t step) const { return cases_[case_of_[step]].parts; }
  /// The stem of its scenario's file: what steps of one software on one kind of GPU are called here.
  const std::string& table(std::size_t step) const { return cases_[case_of_[step]].table; }

  ComputeProfile profile(std::size_t step, const std::vector<double>& unknowns) const;

  /// Simulates all steps; from here estimates are made.
  void simulate(const std::vector<double>& unknowns);
  /// log(simulated / measured) of these steps alone, simulated anew; of the others NaN.
  std::vector<double> simulated(const std::vector<std::size_t>& some, const std::vector<double>& unknowns) const;

  /// log(estimated / measured) of all steps, by estimated_seconds() from the last simulate(); `weights`, `anchors`: as
  /// RowModel has them. Keeps a reference to this.
  RowModel estimates(std::vector<double> weights, std::vector<bool> anchors = {}) const;

 private:
  /// Steps of one table on GPUs alike share all figures.
  struct StepCase {
    std::size_t first = 0;
    std::size_t count = 0;
    std::string table;
    ComputeParts parts;
    std::array<std::vector<std::size_t>, kComputeFigures> effects;  ///< empty: the figure does not matter
  };

  void add_effects(StepCase& of);
  ComputeValues values(const StepCase& of, const std::vector<double>& unknowns) const;
  std::vector<double> residuals(const StepCase& of, const ComputeValues& values) const;
  Slopes slopes(const StepCase& of, const std::vector<double>& unknowns, const std::vector<double>& residuals) const;

  MeasuredSteps steps_;
  std::vector<StepCase> cases_;
  std::vector<std::size_t> case_of_;
  Effects effects_;
  std::vector<ComputeProfile> with_;  // by case: what steps were simulated with last
};

}  // namespace athanor
