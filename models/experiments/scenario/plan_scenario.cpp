#include "models/experiments/scenario/plan_scenario.hpp"

#include "models/experiments/training.hpp"
#include "models/training/parameter_share.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// And what is refused of a model where there is a process for each GPU.
void leave_out_one_process(JsonValue& training) {
  training["parallel"].erase("single_process");
  if (training["model"].is_object()) { training["model"].erase("input"); }
}

}  // namespace

std::string scenario_with_plan(const Case& scenario_case, const ParallelPlan& plan,
                               const std::vector<std::uint32_t>& layers) {
  const auto* experiment = scenario_case.as<TrainingExperiment>();
  require(scenario_case.text && experiment != nullptr, "a case without its text, or of no training");
  JsonValue text = *scenario_case.text;
  if (scenario_case.seeds.empty()) { text["seed"] = scenario_case.platform.seed; }
  JsonValue& training = text["training"];
  for (const char* of_old_plan : {"measured", "measured_with", "max_error", "max_median_error"}) {
    training.erase(of_old_plan);
  }
  training["micro_batch"] = plan.micro_batch;
  const JsonValue searched{{"tensor", plan.tensor},
                           {"context", plan.context},
                           {"pipeline", plan.pipeline},
                           {"data", plan.data},
                           {"expert", plan.expert},
                           {"expert_tensor", plan.expert_tensor},
                           {"virtual_stages", plan.virtual_stages},
                           {"schedule", name(plan.schedule)},
                           {"sharding", name(plan.sharding)},
                           {"recompute", name(plan.recompute)},
                           {"recompute_layers", plan.recompute_layers},
                           {"sequence_parallel", plan.sequence_parallel}};
  if (!training.contains("parallel")) { training["parallel"] = JsonValue::object(); }
  training["parallel"].update(searched);
  if (!plan.single_process) { leave_out_one_process(training); }
  training["parallel"].erase("recompute_modules");
  if (plan.recompute == Recompute::selective) {
    std::vector<std::string> modules;
    for (const RecomputeModule module : plan.recompute_modules.list()) { modules.emplace_back(name(module)); }
    training["parallel"]["recompute_modules"] = modules;
  }
  const TrainedModel& model = experiment->training().setup.model;
  if (layers == layers_of_places(layers_of(model), static_cast<std::uint32_t>(layers.size()))) {
    training["parallel"].erase("layers");
  } else {
    training["parallel"]["layers"] = layers;
  }
  text.sort_keys();
  return text_of(text, 2) + "\n";
}

}  // namespace athanor
