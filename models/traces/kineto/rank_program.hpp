#pragma once

#include "models/traces/kineto/profile.hpp"
#include "models/traces/kineto/recorded_calls.hpp"
#include "models/traces/trace_options.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

/// Makes the next worker of the draft from a profile, which is sorted and cut to the chosen step on the way.
///
/// Each stream of the GPU is a stream that does its operations in the order in which they began; those of NCCL are
/// simulated, the others last as measured. The threads that call CUDA are one stream "cpu": between two calls it
/// computes for as long as it took, so that a GPU that waits for its launches still does. What else is kept:
/// - an operation of the GPU starts after the call that launched it;
/// - a call that waits for the GPU ends after the last operation that was launched before and ended while it waited;
/// - where the profile has the events of CUDA that streams wait for ("cuda_sync"), these are what streams wait for;
/// - else NCCL waits for the last computation that was launched before it (PyTorch lets it wait for the stream that
///   calls it), and a computation whose launch follows a cudaStreamWaitEvent waits for the last operation of each
///   stream of NCCL that was launched before it and ended before it began; where no such call was recorded, it waits
///   for those that ended while its own stream had nothing to do.
void add_rank_program(GpuProfile profile, std::uint32_t rank, std::uint32_t world, bool alone,
                      const TraceOptions& options, WorkloadDraft& draft);

/// Reads profiles: of one rank, or of all, in any order where they say which rank they are of.
void read_kineto(const std::vector<std::string>& files, const TraceOptions& options, WorkloadDraft& draft);

}  // namespace athanor
