#pragma once

#include <cstdint>

#include "models/training/search/plan_search.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

/// The options of `athanor plan`.
boost::program_options::options_description plan_options();

/// What to search, as the options say it; what they leave open is as default_space() says. `endpoints`: of the cluster;
/// `domain`: of them those that are in one node. Throws UsageError.
PlanSpace space_of(const Invocation& invocation, const TrainingSetup& setup, std::uint32_t endpoints,
                   std::uint32_t domain);

/// Of a GPU's memory what plans may not use: --reserve, else kReserve.
double reserve_of(const Invocation& invocation);

/// What a plan leaves free by default: CUDA context, buffers of NCCL, workspaces and what an allocator wastes. An
/// assumption; no table of the sources says it.
constexpr double kReserve = 4e9;

}  // namespace athanor
