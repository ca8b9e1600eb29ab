#pragma once

#include <optional>

#include "models/experiments/record.hpp"
#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// Bytes that one GPU sends to others that hold the same, in a step: of the pipeline stage that sends most, by the
/// fewest that its collectives can do with. sent_bytes() of models/training/compression says how many these are.
double bytes_between_copies(const Workload& workload);

/// The same training as it is before compression begins, or would be without.
TrainingSetup without_compression(TrainingSetup setup);

/// Whether compression begins after some steps.
bool has_steps_before(const TrainingSetup& setup);
/// One of these, where there are any. Throws as simulate_step().
std::optional<Time> step_before(const TrainingSetup& setup, CollectiveTimer& timer, const WorkloadOptions& options);

/// Of a training whose copies compress what they send: how, and how much less that is; nothing of others. `before`: a
/// step without, where a share of the steps is (Compression::warm_up).
void put_compression(const TrainingSetup& setup, Time time, const std::optional<Time>& before, Record& record);

}  // namespace athanor
