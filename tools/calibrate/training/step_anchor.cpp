#include "tools/calibrate/training/step_anchor.hpp"

#include <cmath>
#include <utility>

#include "sim/check.hpp"
#include "tools/calibrate/training/step_pool_fit.hpp"

namespace athanor {

namespace {

/// The figures that the step depends on, around what is expected.
class Anchor {
 public:
  Anchor(const ComputePool& pool, ComputeParts parts) : precision_(parts.precision) {
    parts.software = "that nobody measured";
    for (std::size_t i = 0; i < kComputeFigures; ++i) {
      const auto figure = static_cast<ComputeFigure>(i);
      const ExpectedFigure expectation = expected(pool.figures.at(i), parts_of(figure, parts), true);
      expected_.at(i) = expectation.value;
      if (!matters(figure, parts)) { continue; }
      free_.push_back(i);
      prior_.push_back(expectation.spread);
    }
  }

  const Spreads& prior() const { return prior_; }
  ComputeValues values(const std::vector<double>& unknowns) const {
    ComputeValues result = expected_;
    for (std::size_t i = 0; i < free_.size(); ++i) { result.at(free_[i]) *= std::exp(unknowns[i]); }
    return result;
  }
  ComputeProfile profile(const std::vector<double>& unknowns) const {
    return compute_profile(values(unknowns), precision_);
  }
  double deviations(const std::vector<double>& unknowns) const {
    double squares = 0;
    for (std::size_t i = 0; i < unknowns.size(); ++i) { squares += std::pow(unknowns[i] / prior_[i], 2); }
    return std::sqrt(squares);
  }

  /// By estimates from a step that was simulated with `with`.
  RowModel rows(const MeasuredStep& step, const ComputeProfile& with) const {
    const auto residual = [this, &step, with](const std::vector<double>& unknowns) {
      return std::log(estimated_seconds(*step.kernels, step.simulated, step.gpus, with, profile(unknowns)) /
                      seconds(step.measured));
    };
    return {[residual](const std::vector<double>& unknowns) { return std::vector<double>{residual(unknowns)}; },
            [residual](const std::vector<double>& unknowns, const std::vector<double>& residuals) {
              constexpr double kStep = 0.02;
              Slopes slopes;
              for (std::size_t i = 0; i < unknowns.size(); ++i) {
                std::vector<double> there = unknowns;
                there[i] += kStep;
                slopes.columns.push_back({{i}, {(residual(there) - residuals.front()) / kStep}});
              }
              return std::vector<Slopes>{slopes};
            },
            {1},
            {true}};
  }

 private:
  Precision precision_;
  ComputeValues expected_{};
  std::vector<std::size_t> free_;
  Spreads prior_;
};

}  // namespace

AnchoredCompute anchored(MeasuredSteps& step, const ComputePool& pool, const ComputeParts& parts) {
  require(step.size() == 1, "one step");
  constexpr int kRounds = 4;  // of estimates, each from a simulation with what was found
  const Anchor anchor(pool, parts);
  std::vector<double> mode(anchor.prior().size());
  for (int round = 0; round < kRounds; ++round) {
    const ComputeProfile with = anchor.profile(mode);
    simulate(step, with, true);
    mode = posterior(anchor.rows(step.front(), with), anchor.prior(), std::move(mode), kOnEstimates).mode;
  }
  const AnchoredCompute found{anchor.profile(mode), anchor.deviations(mode)};
  simulate(step, found.profile);
  return found;
}

}  // namespace athanor
