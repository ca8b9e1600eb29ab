#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/training/memory.hpp"
#include "models/training/parameter_share.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

StageLoad load_of(const Transformer& model, const std::vector<std::uint32_t>& layers, const PipelineSchedule& schedule,
                  std::uint32_t stage) {
  StageLoad load;
  load.replicas = schedule.replicas;
  const std::uint32_t places = schedule.places();
  std::uint32_t next = 0;
  for (std::uint32_t place = 0; place < places; ++place) {
    const std::uint32_t first = std::exchange(next, next + layers[place]);
    if (schedule.stage_chunks[place].stage != stage) { continue; }
    for (std::uint32_t layer = first; layer < next; ++layer) {
      load.layers.push_back(layer);
      load.in_chunk.push_back(layer - first);
    }
    load.embedding = load.embedding || place == 0;
    load.output = load.output || place + 1 == places;
  }
  if (load.output) {
    for (std::uint32_t further = 0; further < model.next_token_layers; ++further) {
      load.layers.push_back(model.layers + further);
      load.in_chunk.push_back(0);
    }
  }
  return load;
}

}  // namespace

double most_summing(const PipelineSchedule& schedule, std::uint32_t stage, std::uint32_t reduce_every) {
  using Kind = PipelineTask::Kind;
  const std::uint32_t micro_batches = schedule.micro_batches / schedule.replicas;
  std::vector<std::uint32_t> done(schedule.chunks);
  std::size_t most = 0;
  for (const PipelineTask& task : schedule.tasks[stage]) {
    const bool weights = task.kind != Kind::forward && task.kind != Kind::backward_input;
    if (!weights) { continue; }
    std::uint32_t& own = done[task.kind == Kind::forward_backward ? task.other_chunk : task.chunk];
    ++own;
    const auto open = [&](std::uint32_t each) { return each % reduce_every != 0 && each != micro_batches; };
    // What has just become complete is still there.
    const auto others = static_cast<std::size_t>(std::count_if(done.begin(), done.end(), open));
    most = std::max(most, others + (open(own) ? 0 : 1));
  }
  return static_cast<double>(most) / schedule.chunks;
}

std::vector<double> most_in_flight(const PipelineSchedule& schedule) {
  std::vector<double> all;
  for (std::uint32_t stage = 0; stage < schedule.stages; ++stage) {
    const HeldActivations held = peak_activations(schedule, stage);
    all.push_back(held.whole + held.weights);
  }
  return all;
}

namespace {

MemoryUse memory_of_stage(const Transformer& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers,
                          const PipelineSchedule& schedule, std::uint32_t stage, double in_flight) {
  StageLoad load = load_of(model, layers, schedule, stage);
  load.in_flight = in_flight;
  if (plan.reduce_every > 1) { load.summing = most_summing(schedule, stage, plan.reduce_every); }
  return memory_of(model, plan, load);
}

}  // namespace

std::vector<MemoryUse> memory_of_stages(const Transformer& model, const ParallelPlan& plan,
                                        const std::vector<std::uint32_t>& layers, const PipelineSchedule& schedule) {
  const std::vector<double> in_flight = most_in_flight(schedule);
  std::vector<MemoryUse> all;
  for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    all.push_back(memory_of_stage(model, plan, layers, schedule, stage, in_flight[stage]));
  }
  return all;
}

StageMemory fullest_stage(const Transformer& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers,
                          const PipelineSchedule& schedule, const std::vector<double>& in_flight) {
  require(layers.size() == schedule.places(), "layers for {} places of {}", layers.size(), schedule.places());
  StageMemory fullest;
  for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    const MemoryUse use = memory_of_stage(model, plan, layers, schedule, stage, in_flight[stage]);
    if (stage == 0 || use.total() > fullest.use.total()) { fullest = {stage, use}; }
  }
  return fullest;
}

StageMemory fullest_stage(const Transformer& model, const ParallelPlan& plan,
                          const std::vector<std::uint32_t>& layers) {
  const PipelineSchedule schedule = schedule_of(plan);
  return fullest_stage(model, plan, layers, schedule, most_in_flight(schedule));
}

namespace {

/// Tries changes of a plan.
class Adviser {
 public:
  Adviser(const Transformer& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers)
      : model_(model), plan_(plan), layers_(layers) {}

  /// Evaluates `changed` where it is possible.
  void consider(std::string change, const ParallelPlan& changed) {
    if (!contradictions(model_, changed).empty() || changed.ranks() != plan_.ranks()) { return; }
    if (changed.micro_batches() == 0) { return; }
    try {
      const PipelineSchedule schedule = schedule_of(changed);
      if (schedule.places() > model_.layers + 2) { return; }
      const std::vector<std::uint32_t> layers =
          schedule.places() == layers_.size() ? layers_ : layers_of_places(model_.layers, schedule.places());
      found_.push_back(
          {std::move(change), changed, fullest_stage(model_, changed, layers, schedule, most_in_flight(schedule)).use});
    } catch (const SimulationError&) {  // no such pipeline
    }
  }

  /// More ranks of one kind in place of as many data ranks.
  void consider_ranks(std::string_view kind, std::uint32_t ParallelPlan::*ranks) {
    if (plan_.data % 2 != 0 || plan_.has_one_process()) { return; }
    ParallelPlan changed = plan_;
    changed.*ranks *= 2;
    changed.data /= 2;
    if (changed.tensor > plan_.tensor) {
      changed.sequence_parallel = true;
      if (plan_.expert_tensor > 1) { changed.expert_tensor *= 2; }
    }
    consider(fmt::format("{} {} ranks in place of {}", changed.*ranks, kind, plan_.*ranks), changed);
  }

  void consider_all() {
    consider_recomputing();
    consider_processes();
    consider_sharding();
    ParallelPlan changed = plan_;
    changed.sequence_parallel = true;
    if (plan_.tensor > 1 && !plan_.sequence_parallel) { consider("sequence parallelism", changed); }
    changed = plan_;
    changed.micro_batch /= 2;
    if (plan_.micro_batch % 2 == 0) { consider(fmt::format("micro-batches of {}", changed.micro_batch), changed); }
    consider_ranks("tensor", &ParallelPlan::tensor);
    consider_ranks("pipeline", &ParallelPlan::pipeline);
    consider_ranks("context", &ParallelPlan::context);
    changed = plan_;
    changed.expert *= 2;
    if (model_.experts && !plan_.has_one_process()) {
      consider(fmt::format("{} expert ranks in place of {}", changed.expert, plan_.expert), changed);
    }
  }

  std::vector<MemoryAdvice> found() && { return std::move(found_); }

 private:
  void consider_recomputing() {
    ParallelPlan changed = plan_;
    changed.recompute_layers = 0;
    changed.recompute = Recompute::selective;
    for (const RecomputeModule module : all_recompute_modules()) {
      const bool selective = plan_.recompute == Recompute::selective;
      if (plan_.recompute == Recompute::full || recomputes(plan_, module)) { continue; }
      changed.recompute_modules = selective ? plan_.recompute_modules.with(module) : RecomputeModules({module});
      consider(fmt::format("recomputation of {}", name(module)), changed);
    }
    changed = plan_;
    changed.recompute_layers = 0;
    changed.recompute = Recompute::full;
    if (plan_.recompute != Recompute::full || plan_.recompute_layers > 0) { consider("full recomputation", changed); }
  }

  /// Each GPU with a process of its own; alone, and as what sharding needs.
  void consider_processes() {
    ParallelPlan changed = plan_;
    changed.single_process = false;
    if (plan_.has_one_process()) { consider("a process for each GPU", changed); }
  }

  void consider_sharding() {
    constexpr std::pair<Sharding, const char*> kSharings[] = {{Sharding::optimizer, "optimizer sharded"},
                                                              {Sharding::gradients, "optimizer and gradients sharded"},
                                                              {Sharding::parameters, "all states sharded"}};
    for (const auto& [sharding, change] : kSharings) {
      ParallelPlan changed = plan_;
      changed.sharding = sharding;
      changed.single_process = false;
      const std::string processes = plan_.has_one_process() ? "a process for each GPU, " : "";
      if (sharding > plan_.sharding && plan_.data * plan_.context > 1) { consider(processes + change, changed); }
    }
  }

  const Transformer& model_;
  const ParallelPlan& plan_;
  const std::vector<std::uint32_t>& layers_;
  std::vector<MemoryAdvice> found_;
};

}  // namespace

std::vector<MemoryAdvice> memory_advice(const Transformer& model, const ParallelPlan& plan,
                                        const std::vector<std::uint32_t>& layers, double bytes) {
  Adviser adviser(model, plan, layers);
  adviser.consider_all();
  std::vector<MemoryAdvice> all = std::move(adviser).found();
  std::stable_sort(all.begin(), all.end(),
                   [](const MemoryAdvice& a, const MemoryAdvice& b) { return a.use.total() < b.use.total(); });
  const bool some_fit = !all.empty() && all.front().use.total() <= bytes;
  const double most = some_fit ? bytes : 0.9 * fullest_stage(model, plan, layers).use.total();
  std::erase_if(all, [&](const MemoryAdvice& advice) { return advice.use.total() > most; });
  return all;
}

}  // namespace athanor
