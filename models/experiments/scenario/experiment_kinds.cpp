#include "models/experiments/scenario/experiment_kinds.hpp"

#include <algorithm>
#include <array>

#include "models/experiments/collective.hpp"
#include "models/experiments/parameter_server.hpp"
#include "models/experiments/scenario/collective_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/training_section.hpp"
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
      ExperimentKind{"training", "What is simulated in place of a collective: a step of training", &training_reader,
                     &TrainingExperiment::figures},
      ExperimentKind{"trace", "What is simulated in place of a collective: what ranks did somewhere", &trace_reader,
                     &TraceExperiment::figures},
  };
  return kKinds;
}

std::vector<const Column*> figures_of_all_kinds() {
  std::vector<const Column*> all;
  for (const ExperimentKind& kind : experiment_kinds()) {
    for (const Column* figure : kind.figures()) {
      const auto same = [&](const Column* other) { return other->key == figure->key; };
      if (std::none_of(all.begin(), all.end(), same)) { all.push_back(figure); }
    }
  }
  return all;
}

}  // namespace athanor
