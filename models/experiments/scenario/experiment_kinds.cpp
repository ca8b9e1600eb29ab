#include "models/experiments/scenario/experiment_kinds.hpp"

#include "models/experiments/circuits.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/expert_exchange.hpp"
#include "models/experiments/layouts.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/parameter_server.hpp"
#include "models/experiments/recommender.hpp"
#include "models/experiments/scenario/circuits_section.hpp"
#include "models/experiments/scenario/collective_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/expert_exchange_section.hpp"
#include "models/experiments/scenario/layouts_section.hpp"
#include "models/experiments/scenario/recommender_section.hpp"
#include "models/experiments/scenario/serving_section.hpp"
#include "models/experiments/scenario/training_section.hpp"
#include "models/experiments/scenario/workload_section.hpp"
#include "models/experiments/serving.hpp"
#include "models/experiments/shared_cluster.hpp"
#include "models/experiments/side_by_side.hpp"
#include "models/experiments/trace.hpp"
#include "models/experiments/traffic.hpp"
#include "models/experiments/training.hpp"

namespace athanor {

std::span<const ExperimentKind> experiment_kinds() {
  static constexpr std::array kKinds{
      ExperimentKind{"collective", "What is simulated", &collective_reader, &CollectiveExperiment::figures},
      ExperimentKind{"traffic", "What is simulated in place of a collective: messages between endpoints",
                     &traffic_reader, &TrafficExperiment::figures},
      ExperimentKind{"parameter_server",
                     "What is simulated in place of a collective: training with parameters on servers",
                     &parameter_server_reader, &ParameterServerExperiment::figures},
      ExperimentKind{"expert_exchange",
                     "What is simulated in place of a collective: tokens that go to experts and back",
                     &expert_exchange_reader, &ExpertExchangeExperiment::figures},
      ExperimentKind{"training", "What is simulated in place of a collective: a step of training", &training_reader,
                     &TrainingExperiment::figures},
      ExperimentKind{"trace", "What is simulated in place of a collective: what ranks did somewhere", &trace_reader,
                     &TraceExperiment::figures},
      ExperimentKind{"workload", "What is simulated in place of a collective: jobs that share the cluster for days",
                     &workload_reader, &SharedClusterExperiment::figures},
      ExperimentKind{"serving", "What is simulated in place of a collective: a model that answers requests",
                     &serving_reader, &ServingExperiment::figures},
      ExperimentKind{"circuits", "What is simulated in place of a collective: one over optical circuit switches",
                     &circuits_reader, &CircuitsExperiment::figures},
      ExperimentKind{"layouts", "What is simulated in place of a collective: operators on tensors over a mesh of GPUs",
                     &layouts_reader, &LayoutsExperiment::figures},
      ExperimentKind{
          "side_by_side",
          "What is simulated in place of a collective: jobs that repeat their steps on one fabric, and traffic",
          &side_by_side_reader, &SideBySideExperiment::figures},
      ExperimentKind{"recommender",
                     "What is simulated in place of a collective: a step of training with embedding tables",
                     &recommender_reader, &RecommenderExperiment::figures},
  };
  return kKinds;
}

namespace {

std::vector<const Column*> all_figures() {
  std::vector<const Column*> all;
  const auto add = [&](const Column* figure) {
    const auto same = [&](const Column* other) { return other->key == figure->key; };
    if (std::none_of(all.begin(), all.end(), same)) { all.push_back(figure); }
  };
  for (const ExperimentKind& kind : experiment_kinds()) {
    for (const Column* figure : kind.figures()) { add(figure); }
  }
  for (const Column* figure : {&kError, &kSeed}) { add(figure); }
  return all;
}

}  // namespace

std::span<const Column* const> figures_of_all_kinds() {
  static const std::vector<const Column*> all = all_figures();
  return all;
}

const Column* figure_of(std::string_view key) {
  const std::span<const Column* const> all = figures_of_all_kinds();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Column* each) { return each->key == key; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace athanor
