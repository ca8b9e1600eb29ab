#include "models/training/search/plan_search.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include <fmt/core.h>

#include "models/training/parameter_share.hpp"
#include "models/training/search/step_bound.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr double kNear = 1.25;                         // of the memory: what needs more is no near miss
constexpr std::uint64_t kMostRemembered = 30'000'000;  // half a gigabyte

/// A plan on its way from the list to the result.
struct Candidate {
  std::size_t number = 0;  ///< in the list: of equal bounds the first comes first
  Time bound;
  bool timed = false;  ///< the bound knows what communication takes
  MemoryUse memory;
};

struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return std::tie(a.bound, a.number) > std::tie(b.bound, b.number);
  }
};
using Queue = std::priority_queue<Candidate, std::vector<Candidate>, Later>;

/// What plans of one pipeline have in common.
using PipelineKey = std::tuple<PipelineKind, std::uint32_t, std::uint32_t, std::uint32_t>;
PipelineKey pipeline_of(const ParallelPlan& plan) {
  return {plan.schedule, plan.pipeline, plan.virtual_stages, plan.micro_batches()};
}

StepParts parts_of(const StepResult& result) {
  const double step = seconds(result.time);
  StepParts parts{.time = result.time,
                  .computing_s = result.shares.computing * step,
                  .bubble_s = result.shares.waiting * step,
                  .exposed_s = {},
                  .stragglers_s = result.straggler_share * step};
  for (std::size_t use = 0; use < kParallelisms; ++use) { parts.exposed_s[use] = result.shares.exposed[use] * step; }
  return parts;
}

bool same(const ParallelPlan& a, const ParallelPlan& b) {
  const auto key = [](const ParallelPlan& plan) {
    return std::tuple(plan.tensor, plan.context, plan.pipeline, plan.data, plan.expert, plan.expert_tensor,
                      plan.virtual_stages, plan.schedule, plan.micro_batch, plan.sequence_parallel, plan.recompute,
                      plan.recompute_layers, plan.sharding, plan.has_one_process(),
                      plan.recompute == Recompute::selective ? plan.recompute_modules : RecomputeModules{});
  };
  return key(a) == key(b);
}

/// What plans are refused for, up to the numbers of one of them.
std::string without_numbers(const std::string& message) { return message.substr(0, message.find(',')); }

class PlanSearch {
 public:
  PlanSearch(const TrainingSetup& setup, const PlanSearchSettings& settings, CollectiveTimer& timer)
      : setup_(setup), settings_(settings), timer_(timer), list_(plans_of(settings.space, setup)), bound_(setup) {}

  PlanSearchResult run() {
    result_.misfit = list_.misfit;
    result_.refused = list_.refused;
    for (const auto& [why, count] : list_.refused) { result_.plans += count; }
    result_.plans += list_.plans.size();
    if (list_.plans.empty()) { return std::move(result_); }
    if (settings_.own_plan) { simulate_own(); }
    weigh_all();
    simulate_best();
    place_own();
    if (result_.best.empty()) {
      result_.smallest = std::move(smallest_);
    } else if (!settings_.exhaustive) {
      find_miss();
    }
    return std::move(result_);
  }

 private:
  TrainingSetup setup_of(const ParallelPlan& plan, std::vector<std::uint32_t> layers) const {
    TrainingSetup setup = setup_;
    setup.plan = plan;
    setup.layers = std::move(layers);
    return setup;
  }
  std::vector<std::uint32_t> layers_of(const ParallelPlan& plan) const {
    return layers_of_places(athanor::layers_of(setup_.model), plan.pipeline * plan.chunks());
  }

  /// Plans of the same pipeline one after the other, in the order of the list otherwise.
  void weigh_all() {
    std::map<PipelineKey, std::vector<std::size_t>> groups;
    for (std::size_t number = 0; number < list_.plans.size(); ++number) {
      const ParallelPlan& plan = list_.plans[number];
      if (result_.own && result_.own->layers == layers_of(plan) && same(plan, result_.own->plan)) { continue; }
      groups[pipeline_of(plan)].push_back(number);
    }
    for (const auto& [key, numbers] : groups) { weigh(numbers); }
  }

  void weigh(const std::vector<std::size_t>& numbers) {
    const ParallelPlan& first = list_.plans[numbers.front()];
    PipelineSchedule schedule;
    try {
      schedule = schedule_of(first);
    } catch (const SimulationError& error) {
      result_.refused[without_numbers(error.what())] += numbers.size();
      return;
    }
    const std::vector<std::uint32_t> layers = layers_of(first);
    const std::vector<double> in_flight = most_in_flight(schedule);
    bound_.take(schedule, layers);
    for (const std::size_t number : numbers) {
      const ParallelPlan& plan = list_.plans[number];
      const MemoryUse memory = setup_.model.transformer
                                   ? fullest_stage(*setup_.model.transformer, plan, layers, schedule, in_flight).use
                                   : memory_of_layers(setup_.model, plan);
      const Candidate candidate{number, bound_.of(plan), false, memory};
      const bool fits = settings_.room == 0 || memory.total() <= settings_.room;
      if (fits) { fitting_.push(candidate); }
      if (!fits) { see_unfit(plan, candidate); }
    }
  }

  void see_unfit(const ParallelPlan& plan, const Candidate& candidate) {
    ++result_.unfit;
    if (candidate.memory.total() <= kNear * settings_.room) { near_.push(candidate); }
    if (smallest_ && smallest_->memory.total() <= candidate.memory.total()) { return; }
    smallest_ = {plan, layers_of(plan), candidate.memory, candidate.bound};
  }

  /// Whether a plan that takes so long, or longer, would not be kept.
  bool too_slow(Time bound) const {
    return result_.best.size() >= settings_.top && bound >= result_.best[settings_.top - 1].parts.time;
  }

  void simulate_best() {
    while (!fitting_.empty()) {
      Candidate next = fitting_.top();
      if (!settings_.exhaustive && too_slow(next.bound)) { break; }
      const std::uint64_t found = result_.simulated - (result_.own ? 1 : 0);  // the own plan is not found, but given
      if (settings_.most > 0 && found >= settings_.most) { break; }
      if (!asked_to_go_on()) { break; }
      fitting_.pop();
      try {
        if (!next.timed) {
          estimate(next);
          fitting_.push(next);
        } else {
          keep(simulate(list_.plans[next.number], layers_of(list_.plans[next.number]), next.memory));
        }
      } catch (const SimulationError& error) {
        ++result_.refused[without_numbers(error.what())];
      } catch (const ScenarioError& error) {  // of the collectives of such groups
        ++result_.refused[without_numbers(error.problems().front().message)];
      }
    }
    result_.complete = fitting_.empty() || too_slow(fitting_.top().bound);
    result_.bounded = fitting_.size();
  }

  bool asked_to_go_on() const {
    if (!settings_.go_on) { return true; }
    return settings_.go_on(fmt::format("{} of {} plans that fit are left, {} simulated", fitting_.size(),
                                       list_.plans.size() - result_.unfit, result_.simulated));
  }

  void estimate(Candidate& candidate) {
    const ParallelPlan& plan = list_.plans[candidate.number];
    candidate.bound = std::max(candidate.bound, step_bound(setup_of(plan, layers_of(plan)), schedule_of(plan), timer_));
    candidate.timed = true;
  }

  RankedPlan simulate(const ParallelPlan& plan, std::vector<std::uint32_t> layers, const MemoryUse& memory) {
    if (timer_.remembered() > kMostRemembered) { timer_.forget(); }
    const StepResult result = simulate_step(setup_of(plan, layers), timer_, {.critical_path = false});
    ++result_.simulated;
    return {.plan = plan,
            .layers = std::move(layers),
            .memory = memory,
            .parts = parts_of(result),
            .tokens_per_s = result.tokens_per_s,
            .samples_per_s = result.samples_per_s,
            .tflops_per_gpu = result.tflops_per_gpu,
            .mfu = result.mfu};
  }

  /// Behind those that are as fast.
  void keep(RankedPlan ranked) {
    const auto slower =
        std::upper_bound(result_.best.begin(), result_.best.end(), ranked,
                         [](const RankedPlan& a, const RankedPlan& b) { return a.parts.time < b.parts.time; });
    result_.best.insert(slower, std::move(ranked));
  }

  void simulate_own() {
    const ParallelPlan& plan = setup_.plan;
    const MemoryUse memory = setup_.model.transformer
                                 ? fullest_stage(*setup_.model.transformer, plan, setup_.layers).use
                                 : memory_of_layers(setup_.model, plan);
    result_.own = simulate(plan, setup_.layers, memory);
    if (settings_.room == 0 || memory.total() <= settings_.room) { keep(*result_.own); }
  }

  /// Plans that were not simulated may be faster where their bound is less. Cuts the list to what was asked for.
  void place_own() {
    if (result_.own) {
      const Time own = result_.own->parts.time;
      for (const RankedPlan& each : result_.best) { result_.own_first += each.parts.time < own ? 1 : 0; }
      result_.own_last = ++result_.own_first;
      for (; !fitting_.empty() && fitting_.top().bound < own; fitting_.pop()) { ++result_.own_last; }
    }
    if (result_.best.size() > settings_.top) { result_.best.resize(settings_.top); }
  }

  void find_miss() {
    const Time fastest = result_.best.front().parts.time;
    while (!near_.empty() && near_.top().bound < fastest) {
      Candidate next = near_.top();
      near_.pop();
      const ParallelPlan& plan = list_.plans[next.number];
      if (next.timed) {
        result_.miss = {plan, layers_of(plan), next.memory, next.bound};
        return;
      }
      try {
        estimate(next);
        near_.push(next);
      } catch (const SimulationError&) {  // nobody would run it
      } catch (const ScenarioError&) {}
    }
  }

  const TrainingSetup& setup_;
  const PlanSearchSettings& settings_;
  CollectiveTimer& timer_;
  PlanList list_;
  ComputingBound bound_;
  Queue fitting_;
  Queue near_;  ///< those that nearly fit
  std::optional<UnfitPlan> smallest_;
  PlanSearchResult result_;
};

}  // namespace

PlanSearchResult search_plans(const TrainingSetup& setup, const PlanSearchSettings& settings, CollectiveTimer& timer) {
  return PlanSearch(setup, settings, timer).run();
}

}  // namespace athanor
