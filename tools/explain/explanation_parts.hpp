#pragma once

#include <string>
#include <vector>

#include "models/execution/critical_path.hpp"
#include "models/network/link_use.hpp"
#include "sim/config/json_value.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What something else about a machine or a plan would bring, found by simulating that.
struct ExplainedChange {
  std::string change;  ///< "network links twice as fast"
  Time time;
  std::string note;  ///< what speaks against it; "": nothing
};

/// Shortest time first, under the title "what would help"; nothing where nothing was tried. `now`: the time without.
std::string change_lines(const std::vector<ExplainedChange>& changes, Time now);

/// [{"change", "time_us", "gain", "note"}]; gain is the part of the time that is saved, negative where it is lost.
JsonValue changes_json(const std::vector<ExplainedChange>& changes, Time now);

/// A line for each class of links that carried anything, and one that names the others, under the title "links";
/// nothing where none did. At most 120 columns, but for the last line.
std::string link_lines(const std::vector<LinkClassUse>& links);

/// [{"class", "links", "used", "mean_percent", "most_percent", "bytes"}], those that carried nothing as well.
JsonValue links_json(const std::vector<LinkClassUse>& links);

/// The critical path for people: latency, transfers and sharing of links within nodes and between them, software,
/// reducing, and their shares of `time`. Each line ends in '\n'. `time`: of the whole collective; what the path lacks
/// of it is launching and the host. Requires time >= path.total().
std::string path_lines(const PathShares& path, Time time);

/// {"within_nodes": {"latency_us", "transfer_us", "sharing_us", "messages"}, "between_nodes": {...}, "start_us",
/// "overhead_us", "work_us"}.
JsonValue path_json(const PathShares& path);

}  // namespace athanor
