#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/traces/workload_draft.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// What the ranks of a workload of one worker do, one after the other: computing, and calls that the next computing
/// waits for.
struct LayerChain {
  struct Link {
    std::string label;  ///< of its longest computation
    Time time;
    std::optional<Workload::Call> waited_for{};  ///< behind it
    Time beside{};                               ///< of computing in backward that does not wait for this call
    std::optional<Workload::Call> gradients{};   ///< behind it, but nothing waits for it before the optimizer
  };

  std::vector<Link> forward;
  std::vector<Link> backward;            ///< from the first computation on whose label says so
  Time update;                           ///< computing behind all calls beside: the optimizer
  std::vector<Workload::Call> behind{};  ///< calls that follow it
};

/// Of the stream that computes. Calls that computing waits for later than at once are waited for at once, and computing
/// on other streams is left out, which notes count. Throws SimulationError("not-in-layers") where the workload has
/// several workers or messages.
LayerChain chain_of(const Workload& workload, TraceNotes& notes);

}  // namespace athanor
