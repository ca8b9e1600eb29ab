#include "models/training/expert_ranks.hpp"

#include <fmt/core.h>

#include "models/experts/exchange.hpp"
#include "models/training/layer_work.hpp"

namespace athanor {

namespace {

void check_overlap(const ParallelPlan& plan, std::vector<std::string>& faults) {
  if (!plan.overlap_experts) { return; }
  const auto refuse = [&](std::string why) { faults.push_back("\"overlap_experts\" " + std::move(why)); };
  if (plan.expert == 1) { refuse("has no effect: with one expert rank nothing is exchanged; leave it out"); }
  if (plan.schedule == PipelineKind::dual_pipe) {
    refuse("has no effect: dual_pipe does so in any case; leave it out");
  } else if (plan.schedule != PipelineKind::one_f_one_b && plan.schedule != PipelineKind::interleaved) {
    refuse(
        fmt::format("needs a forward and a backward by turns, and {} has other orders: write \"schedule\": \"1f1b\", "
                    "\"interleaved\" or \"dual_pipe\"",
                    name(plan.schedule)));
  }
  if (plan.sharding >= Sharding::gradients) {
    refuse(
        fmt::format("needs whole layers, and sharding of {} gathers them for one micro-batch: write \"sharding\": "
                    "\"optimizer\"",
                    name(plan.sharding)));
  }
  if (plan.offload_layers > 0) { refuse("does not go with \"offload_layers\": leave one of them out"); }
  if (plan.recompute == Recompute::full) {
    refuse("does not go with full recomputation, as in Megatron-LM: write \"recompute\": \"selective\" or \"none\"");
  }
}

}  // namespace

ExpertLayer expert_layer(const Transformer& model, const ParallelPlan& plan) {
  return {.experts = model.experts->experts,
          .chosen = model.experts->chosen,
          .hidden = model.hidden,
          .ranks = plan.expert,
          .tokens = tokens_of(plan) / plan.tensor};
}

std::vector<std::string> expert_faults(const Transformer& model, const ParallelPlan& plan) {
  std::vector<std::string> faults;
  check_overlap(plan, faults);
  const ExpertSettings& settings = plan.experts;
  if (settings == ExpertSettings{}) { return faults; }
  if (plan.expert == 1 && !(settings == ExpertSettings{.capacity_factor = settings.capacity_factor})) {
    faults.emplace_back(
        "\"experts\" says how tokens get to other ranks, and with one expert rank they stay: leave it out, or write "
        "\"expert\": 2 or more");
  }
  if (settings.redundant > 0) {
    faults.emplace_back(
        "\"redundant\" replicas are of models that answer: a training would have to add up their gradients; leave it "
        "out, or ask for an \"expert_exchange\" alone");
  }
  const std::vector<std::string> own = faults_of(settings, expert_layer(model, plan));
  faults.insert(faults.end(), own.begin(), own.end());
  return faults;
}

void set_expert_loads(const Transformer& model, ParallelPlan& plan) {
  if (!plan.experts.changes_loads()) { return; }
  const ExpertLoad load = load_of(routing_of(plan.experts, expert_layer(model, plan)), plan.expert);
  plan.expert_imbalance = load.busiest;
  plan.expert_kept = load.kept;
}

bool overlaps_exchanges(const ParallelPlan& plan) {
  return plan.overlap_experts || plan.schedule == PipelineKind::dual_pipe;
}

std::string expert_note(const ParallelPlan& plan) {
  const ExpertSettings& settings = plan.experts;
  if (plan.expert == 1) { return ""; }
  const std::string uneven = settings.changes_loads()
                                 ? fmt::format(
                                       "; the busiest expert rank gets {:.3g} times the average, {:.3g} % of choices "
                                       "are dropped",
                                       plan.expert_imbalance, 100 * (1 - plan.expert_kept))
                                 : "";
  if (settings.kind == ExchangeKind::pairwise) { return uneven.empty() ? "" : "experts: " + uneven.substr(2); }
  const ExchangeCosts costs = exchange_costs(settings.kind);
  const std::uint32_t taken = settings.multiprocessors.value_or(costs.multiprocessors);
  return fmt::format(
      "experts: {} with {} multiprocessors reaches {:.0f} % of what NVLink and {:.0f} % of what NICs carry, as on "
      "H800, "
      "whatever GPUs these are{}",
      name(settings.kind), taken, 100 * costs.scale_up, 100 * costs.network, uneven);
}

}  // namespace athanor
