#pragma once

#include <nlohmann/json.hpp>

#include "tests/fuzz/laws.hpp"

namespace athanor::fuzz {

/// Where a law holds for no reason but habit, how far it may fail: what is better may take 1 / ratio of the time. 1
/// where it holds exactly.
double least_ratio(Law law, const nlohmann::ordered_json& scenario);

/// How much of its time alone a job has to take beside others at least.
double least_slowdown(const nlohmann::ordered_json& scenario);

/// Whether nothing in the scenario is a time or a rate but what is doubled and halved.
bool scales(const nlohmann::ordered_json& scenario);

/// Picoseconds by which a time of `time` picoseconds may be off for being rounded up in each of its parts.
double rounding(const nlohmann::ordered_json& scenario, double time);

/// By a profile of NCCL, or where a pool tells what it costs: wherever GPUs are in nodes and nobody says otherwise.
bool nccl_chooses(const nlohmann::ordered_json& scenario);

}  // namespace athanor::fuzz
