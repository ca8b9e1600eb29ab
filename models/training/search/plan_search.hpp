#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/training/memory.hpp"
#include "models/training/search/plan_space.hpp"
#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// Where the time of a step went: parts of it, averaged over stages, whose sum is the step.
struct StepParts {
  Time time;
  double computing_s = 0;
  double bubble_s = 0;
  std::array<double, kParallelisms> exposed_s{};
  double stragglers_s = 0;
};

/// A plan that was simulated.
struct RankedPlan {
  ParallelPlan plan;
  std::vector<std::uint32_t> layers;  ///< of each place
  MemoryUse memory;                   ///< of a GPU of the fullest stage
  StepParts parts;
  double tokens_per_s = 0;
  double samples_per_s = 0;
  double tflops_per_gpu = 0;
  double mfu = 0;
};

/// A plan of which only a bound is known.
struct UnfitPlan {
  ParallelPlan plan;
  std::vector<std::uint32_t> layers;
  MemoryUse memory;
  Time bound;  ///< a step takes no less
};

struct PlanSearchSettings {
  PlanSpace space;                                      ///< completed
  double room = 0;                                      ///< bytes of a GPU that a plan may use; 0: no limit is known
  std::uint32_t top = 10;                               ///< so many plans are wanted
  bool own_plan = false;                                ///< the setup's plan can be run, and is to be ranked, too
  bool exhaustive = false;                              ///< simulates what bounds rule out, too: to judge the search
  std::uint64_t most = 0;                               ///< plans that are simulated; 0: as many as it takes
  std::function<bool(const std::string& doing)> go_on;  ///< asked before each plan is simulated; absent: always
};

struct PlanSearchResult {
  std::uint64_t plans = 0;                       ///< that divide GPUs and batch
  std::map<std::string, std::uint64_t> refused;  ///< plans that cannot be run, by why
  std::uint64_t unfit = 0;                       ///< that need more memory
  std::uint64_t bounded = 0;                     ///< that fit but cannot be among the best
  std::uint64_t simulated = 0;
  bool complete = true;               ///< no plan that was not simulated can be among the best
  std::vector<RankedPlan> best;       ///< fastest first; of equal ones what was listed first
  std::optional<RankedPlan> own;      ///< the setup's plan
  std::uint64_t own_first = 0;        ///< its place among those that fit, from 1: at best
  std::uint64_t own_last = 0;         ///< and at worst, as far as is known without simulating them all
  std::optional<UnfitPlan> miss;      ///< the plan that nearly fits whose bound is the least, if that is below the best
  std::optional<UnfitPlan> smallest;  ///< the one with least memory, where none fits
  std::string misfit;                 ///< PlanList::misfit
};

/// The fastest plans of a space that fit, by branch and bound: plans are simulated in the order of a lower bound of
/// their step, until the next bound exceeds the slowest plan that is kept. What is found is then what simulating all of
/// them would find. A space without plans gives an empty result. Throws as simulate_step() for the setup's own plan;
/// plans that cannot be simulated count as refused.
PlanSearchResult search_plans(const TrainingSetup& setup, const PlanSearchSettings& settings, CollectiveTimer& timer);

}  // namespace athanor
