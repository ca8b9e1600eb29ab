#pragma once

#include <string>

#include "models/execution/critical_path.hpp"
#include "sim/config/json_value.hpp"

namespace athanor {

/// The critical path for people: latency, transfers and sharing of links within nodes and between them, software,
/// reducing, and their shares of `time`. Each line ends in '\n'. `time`: of the whole collective; what the path lacks
/// of it is launching and the host. Requires time >= path.total().
std::string path_lines(const PathShares& path, Time time);

/// {"within_nodes": {"latency_us", "transfer_us", "sharing_us", "messages"}, "between_nodes": {...}, "start_us",
/// "overhead_us", "work_us"}.
JsonValue path_json(const PathShares& path);

}  // namespace athanor
