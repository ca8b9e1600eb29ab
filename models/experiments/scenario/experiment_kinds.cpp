#include <array>

#include "models/experiments/scenario/collective_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/parameter_server_section.hpp"
#include "models/experiments/scenario/trace_section.hpp"
#include "models/experiments/scenario/traffic_section.hpp"
#include "models/experiments/scenario/training_section.hpp"

namespace athanor {

std::span<const ExperimentKind> experiment_kinds() {
  static constexpr std::array kKinds{
      ExperimentKind{"collective", "What is simulated", &collective_reader},
      ExperimentKind{"traffic", "What is simulated in place of a collective: messages between endpoints",
                     &traffic_reader},
      ExperimentKind{"parameter_server",
                     "What is simulated in place of a collective: training with parameters on servers",
                     &parameter_server_reader},
      ExperimentKind{"training", "What is simulated in place of a collective: a step of training", &training_reader},
      ExperimentKind{"trace", "What is simulated in place of a collective: what ranks did somewhere", &trace_reader},
  };
  return kKinds;
}

}  // namespace athanor
