#include "models/training/search/plan_space.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/training/expert_ranks.hpp"
#include "models/training/parameter_share.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kLeastTokens = 4096;  // of a sequence, on a context rank
constexpr std::uint32_t kMostSamples = 64;    // of a micro-batch

std::vector<std::uint32_t> powers_up_to(std::uint32_t most) {
  std::vector<std::uint32_t> powers{1};
  while (powers.back() <= most / 2) { powers.push_back(powers.back() * 2); }
  return powers;
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t number = first; number <= last; ++number) { all.push_back(number); }
  return all;
}

std::vector<std::uint32_t> expert_degrees(const TrainedModel& model) {
  if (!model.transformer || !model.transformer->experts) { return {1}; }
  const std::uint32_t experts = model.transformer->experts->experts;
  std::vector<std::uint32_t> degrees = powers_up_to(experts);
  std::erase_if(degrees, [&](std::uint32_t degree) { return experts % degree != 0; });
  if (degrees.back() != experts) { degrees.push_back(experts); }
  return degrees;
}

template <class T>
void fill(std::vector<T>& list, std::vector<T> values) {
  if (list.empty()) { list = std::move(values); }
}

bool has(const std::vector<std::uint32_t>& list, std::uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The scenario's own, where it recomputes selectively. Else, the cheapest first: scores that attention makes, and what
/// costs next to no products (norms, activation functions, queries, keys and values from compressed vectors); the same
/// and all of MLPs and experts.
std::vector<RecomputeModules> choices_of_modules(const TrainingSetup& setup) {
  if (!setup.model.transformer || setup.plan.recompute == Recompute::selective) {
    return {setup.plan.recompute_modules};
  }
  RecomputeModules cheap;
  const auto add = [&](RecomputeModules& to, RecomputeModule module) {
    if (lacks(*setup.model.transformer, module).empty()) { to = to.with(module); }
  };
  if (!setup.plan.fused_attention) { add(cheap, RecomputeModule::core_attn); }
  for (const RecomputeModule module :
       {RecomputeModule::layernorm, RecomputeModule::mla_up_proj, RecomputeModule::moe_act}) {
    add(cheap, module);
  }
  RecomputeModules more = cheap;
  add(more, RecomputeModule::mlp);
  add(more, RecomputeModule::moe);
  return cheap == RecomputeModules{} ? std::vector{more} : std::vector{cheap, more};
}

/// Degree after degree, each on top of those before it.
class PlanWriter {
 public:
  PlanWriter(const PlanSpace& space, const TrainingSetup& setup)
      : space_(space),
        setup_(setup),
        framework_(setup.framework),
        modules_(choices_of_modules(setup)),
        plan_(setup.plan) {
    plan_.recompute_layers = 0;
    plan_.single_process = false;  // plans that are searched have a process for each GPU
    framework_.told.insert({"schedule", "sharding", "recompute", "sequence_parallel"});
  }

  PlanList write() {
    for (const std::uint32_t gpus : space_.gpus) {
      for (const std::uint32_t tensor : space_.tensor) {
        for (const std::uint32_t context : space_.context) {
          plan_.tensor = tensor;
          plan_.context = context;
          for (const std::uint32_t pipeline : space_.pipeline) { add_pipeline(gpus, pipeline); }
        }
      }
    }
    return std::move(list_);
  }

 private:
  void add_pipeline(std::uint32_t gpus, std::uint32_t pipeline) {
    plan_.pipeline = pipeline;
    const std::uint64_t others = std::uint64_t{plan_.tensor} * plan_.context * pipeline;
    if (gpus % others != 0) {
      misfit(fmt::format("tensor {} x context {} x pipeline {} = {} does not divide {} GPUs", plan_.tensor,
                         plan_.context, pipeline, others, gpus));
      return;
    }
    plan_.data = static_cast<std::uint32_t>(gpus / others);
    if (!space_.data.empty() && !has(space_.data, plan_.data)) {
      misfit(fmt::format("tensor {} x context {} x pipeline {} on {} GPUs leaves data {}, which is not asked for",
                         plan_.tensor, plan_.context, pipeline, gpus, plan_.data));
      return;
    }
    plan_.sequence_parallel = plan_.tensor > 1 && shares_sequence();
    for (const std::uint32_t expert : space_.expert) {
      for (const std::uint32_t expert_tensor : space_.expert_tensor) { add_experts(expert, expert_tensor); }
    }
  }

  void misfit(std::string why) {
    if (list_.misfit.empty()) { list_.misfit = std::move(why); }
  }

  bool shares_sequence() const {
    const bool experts = setup_.model.transformer && setup_.model.transformer->experts;
    const bool open = setup_.plan.tensor == 1 && !framework_.framework;
    return setup_.plan.sequence_parallel || open || experts;
  }

  void add_experts(std::uint32_t expert, std::uint32_t expert_tensor) {
    const bool either = expert_tensor == 1 || expert_tensor == plan_.tensor;
    if (!either) { return; }
    plan_.expert = expert;
    plan_.expert_tensor = expert_tensor;
    const std::uint64_t before = list_.plans.size();
    const std::vector<std::string> faults = faults_of_degrees();
    sound_ = faults.empty();
    if (sound_ && setup_.model.transformer && setup_.model.transformer->experts) {
      set_expert_loads(*setup_.model.transformer, plan_);
    }
    for (const std::uint32_t micro_batch : space_.micro_batch) { add_micro_batch(micro_batch); }
    if (faults.empty()) { return; }
    list_.refused[faults.front()] += list_.plans.size() - before;
    list_.plans.resize(before);
  }

  /// Whatever is shared out.
  std::vector<std::string> faults_of_degrees() const {
    ParallelPlan plan = plan_;
    plan.sharding = Sharding::none;
    if (setup_.model.transformer) { return contradictions(*setup_.model.transformer, plan); }
    if (plan_.tensor * plan_.context * plan_.expert == 1) { return {}; }
    return {"a list of layers is not split over tensor, context or expert ranks"};
  }

  void add_micro_batch(std::uint32_t micro_batch) {
    plan_.micro_batch = micro_batch;
    const std::uint64_t at_once = std::uint64_t{micro_batch} * plan_.data;
    if (plan_.global_batch < at_once || plan_.global_batch % at_once != 0) {
      misfit(fmt::format("a batch of {} is no multiple of micro-batch {} x data {} = {}", plan_.global_batch,
                         micro_batch, plan_.data, at_once));
      return;
    }
    plan_.virtual_stages = 1;
    if (plan_.pipeline == 1) { return add_places(PipelineKind::one_f_one_b, 1); }
    for (const PipelineKind kind : space_.schedules) {
      plan_.virtual_stages = 1;
      const bool alternates = kind == PipelineKind::one_f_one_b || kind == PipelineKind::interleaved;
      if (plan_.overlap_experts && !alternates) {
        misfit(fmt::format("overlap_experts needs a forward and a backward by turns, and {} has other orders",
                           name(kind)));
        continue;
      }
      if (kind != PipelineKind::interleaved) {
        plan_.virtual_stages = kind == PipelineKind::zb_v ? 2 : 1;
        add_places(kind, plan_.virtual_stages);
        continue;
      }
      for (const std::uint32_t chunks : space_.virtual_stages) {
        plan_.virtual_stages = chunks;
        add_places(kind, chunks);
      }
    }
  }

  void add_places(PipelineKind kind, std::uint32_t chunks) {
    const std::uint64_t places = std::uint64_t{plan_.pipeline} * chunks;
    if (places > most_places(setup_.model)) {
      misfit(fmt::format("{} layers are too few for {} places of a pipeline", layers_of(setup_.model), places));
      return;
    }
    if (!space_.uneven && !spreads_evenly(setup_.model, static_cast<std::uint32_t>(places))) {
      misfit(
          fmt::format("{} layers do not spread evenly over {} places of a pipeline", layers_of(setup_.model), places));
      return;
    }
    plan_.schedule = kind;
    settle(framework_, plan_);
    for (const Sharding sharding : space_.sharding) {
      if (sharding != Sharding::none && shards_nothing()) { continue; }
      plan_.sharding = sharding;
      const std::size_t before = list_.plans.size();
      for (const Recompute recompute : space_.recompute) {
        plan_.recompute = recompute;
        if (recompute != Recompute::selective) {
          list_.plans.push_back(plan_);
          continue;
        }
        for (const RecomputeModules& modules : modules_) {
          plan_.recompute_modules = modules;
          list_.plans.push_back(plan_);
        }
      }
      const std::string fault = sharding_fault(plan_);
      if (fault.empty() || !sound_) { continue; }
      list_.refused[fault] += list_.plans.size() - before;
      list_.plans.resize(before);
    }
  }

  /// Where one rank has each parameter, all kinds of sharding are none.
  bool shards_nothing() const {
    const bool alone = dense_replicas(plan_) == 1 && expert_replicas(plan_) <= 1;
    return alone && std::find(space_.sharding.begin(), space_.sharding.end(), Sharding::none) != space_.sharding.end();
  }

  const PlanSpace& space_;
  const TrainingSetup& setup_;
  FrameworkUse framework_;                 ///< which does not decide what is searched
  std::vector<RecomputeModules> modules_;  ///< that are recomputed together, of selective plans
  bool sound_ = true;                      ///< degrees do not contradict each other
  ParallelPlan plan_;
  PlanList list_;
};

}  // namespace

PlanSpace default_space(PlanSpace space, const TrainingSetup& setup, std::uint32_t domain) {
  const bool experts = setup.model.transformer && setup.model.transformer->experts;
  fill(space.tensor, setup.model.transformer ? powers_up_to(domain == 0 ? 8 : domain) : std::vector{1U});
  fill(space.context,
       setup.model.transformer ? powers_up_to(std::max(1U, setup.plan.sequence / kLeastTokens)) : std::vector{1U});
  fill(space.pipeline, numbers(1, most_places(setup.model)));
  fill(space.expert, expert_degrees(setup.model));
  if (space.expert_tensor.empty()) {
    space.expert_tensor = {1};
    for (const std::uint32_t tensor : space.tensor) {
      if (experts && tensor > 1) { space.expert_tensor.push_back(tensor); }
    }
  }
  fill(space.micro_batch, powers_up_to(std::min(kMostSamples, setup.plan.global_batch)));
  if (space.schedules.empty()) {
    space.schedules = {PipelineKind::one_f_one_b, PipelineKind::interleaved, PipelineKind::zb_h1, PipelineKind::zb_h2,
                       PipelineKind::zb_v};
    if (experts) { space.schedules.push_back(PipelineKind::dual_pipe); }
  }
  fill(space.virtual_stages, numbers(2, std::max(2U, most_places(setup.model))));
  fill(space.sharding, {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
  if (space.recompute.empty()) {
    space.recompute = {Recompute::none, Recompute::full};
    if (setup.model.transformer) { space.recompute = {Recompute::none, Recompute::selective, Recompute::full}; }
  }
  return space;
}

PlanList plans_of(const PlanSpace& space, const TrainingSetup& setup) { return PlanWriter(space, setup).write(); }

}  // namespace athanor
