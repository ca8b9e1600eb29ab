#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// A network's layers as the texts of ASTRA-sim and SimAI list them, and which ranks communicate. All ranks do the
/// same: one worker stands for them.
struct LayerList {
  struct Communication {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Bytes size;               ///< as Collective::count counts
    std::uint32_t group = 0;  ///< of `groups`
  };
  struct Pass {
    Time time;
    std::optional<Communication> communication;
  };
  struct Layer {
    std::string name;
    Pass forward;
    Pass input_gradient;
    Pass weight_gradient;
    Time update;  ///< after the weight gradient's communication
    bool checkpoint = false;
    bool recomputes = false;  ///< before its input gradient, forward from the checkpoint before it up to this layer
  };
  struct Group {
    std::string name;
    Parallelism use = Parallelism::other;
    EndpointGroups ranks;
  };
  /// Messages to the next stage and the next micro-batch, and back; each is waited for.
  struct Pipeline {
    std::uint32_t stages = 1;
    std::uint64_t messages = 0;  ///< each way
    Bytes size;
    Ratio bubble{0, 1};  ///< of the computations
  };
  enum class InputGradient : std::uint8_t {
    waited_for,  ///< before the weight gradient is computed, as in transformers
    beside,      ///< the computation of the weight gradient; the first layer has none
    after,       ///< the weight gradient, and without communication: data parallelism
    none,        ///< inference
  };

  std::string file;
  std::uint32_t ranks = 1;
  InputGradient input_gradient = InputGradient::waited_for;
  std::vector<Layer> layers;
  std::vector<Group> groups;
  Pipeline pipeline;
};

/// One step: forward through the layers, each waiting for its communication; backward from the last to the first.
/// Communication of weight gradients is waited for by the update of its layer alone. Rules as in ASTRA-sim 1 and SimAI
/// (astra-sim/workload/Workload.cc).
void add_layers(const LayerList& list, const TraceOptions& options, WorkloadDraft& draft);

/// Groups of `size` ranks out of `ranks`, `stride` apart. Requires that size x stride divides ranks.
EndpointGroups strided_groups(std::uint32_t ranks, std::uint32_t size, std::uint32_t stride);

}  // namespace athanor
