#pragma once

#include <string>

#include "sim/config/json_value.hpp"
#include "tools/import/fabric/draft.hpp"

namespace athanor {

/// The port of the NICs of a machine: a preset by name, or figures.
struct DraftPort {
  std::string preset;  ///< "": the figures
  Bandwidth rate;
  Time latency;
};

/// {"name": ..., "graph": ..., "cpu": ..., "port": ...}, as a scenario's "node" has it. No port where the machine has
/// no NIC; of its identity what the draft knows.
JsonValue node_json(const FabricDraft& draft, const std::string& name, const DraftPort& port);

}  // namespace athanor
