#pragma once

#include <string>
#include <vector>

#include "models/experts/expert_settings.hpp"
#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// The experts of a layer and what its ranks bring of tokens for one micro-batch. Requires a model with experts.
ExpertLayer expert_layer(const Transformer& model, const ParallelPlan& plan);

/// What of ParallelPlan::experts and overlap_experts does not fit, in the user's words; keys without effect among them.
std::vector<std::string> expert_faults(const Transformer& model, const ParallelPlan& plan);

/// Sets what follows from how busy experts are: ParallelPlan::expert_imbalance and expert_kept. Requires that
/// expert_faults() is empty. Throws as weights_of().
void set_expert_loads(const Transformer& model, ParallelPlan& plan);

/// Whether one micro-batch computes while another exchanges tokens: DualPipe always, others where they are told to.
bool overlaps_exchanges(const ParallelPlan& plan);

/// What is taken for granted of exchanges, in a sentence; "": they are all-to-alls of the collective library.
std::string expert_note(const ParallelPlan& plan);

}  // namespace athanor
