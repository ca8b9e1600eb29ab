#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/engines/engine_limits.hpp"
#include "models/execution/simulate.hpp"
#include "models/experiments/record.hpp"
#include "models/network/link_use.hpp"

namespace athanor {

// What results of several kinds say of the network that they ran on.

inline constexpr Column kScenario{"scenario"};                             ///< the file, as it was named
inline constexpr Column kCase{"case"};                                     ///< its name; `""`: there are no cases
inline constexpr Column kNetwork{"network"};                               ///< `flow`, `ideal` or `packet`
inline constexpr Column kSeed{.key = "seed", .role = ColumnRole::choice};  ///< of routing and what is drawn
inline constexpr Column kSeeds{"seeds"};  ///< how many were simulated: the row is the run of the median
inline constexpr Column kNotes{"notes"};  ///< what was assumed, left out or refused

/// Which link was busy for the largest part of a run.
struct BusiestLink {
  std::string name;        ///< "leaf0 -> host3"
  double utilisation = 0;  ///< see utilisation()
};

/// None where nothing moved. Of equally busy ones the first. `time`: in which they carried it, as `observed`.
std::optional<BusiestLink> busiest_link(const std::vector<LinkLoad>& loads, const Fabric& fabric, Time time);

/// Puts the busiest link, as two columns and as a remark.
void put_busiest_link(const std::vector<LinkLoad>& loads, const Fabric& fabric, Time time, Record& record);

/// A note of loops and steps that were multiplied at the level of flows, though they had only settled.
std::string settled_text(const Settled& settled, Ratio skip_error);

/// What was skipped beside so many data packets that were simulated; errors are those of the sample that was checked.
void put_skips(std::uint64_t simulated, const SkipCounters& skips, Record& record);

/// A note of what links may leave unused at the level of flows (MaxMinShares); "": nothing.
std::string leeway_text(const NetworkSettings& network);

/// Puts what became of packets, where they were simulated. `remark`: as a line of text, too.
void put_packets(const std::optional<PacketCounters>& packets, bool remark, Record& record);

/// Puts what became of packets that switches add up one by one, where they do.
void put_slots(const std::optional<AggregationJobResult>& slots, Record& record);

/// The line above all Record::ports.
std::string port_names();
/// A CSV line for each port (or class of equal ones). `label`: the fields of the first three columns: case, bytes and
/// algorithm or pattern. `time`: in which they carried it, as `observed`.
std::string port_lines(std::string_view label, const std::vector<PortLoad>& ports, const Fabric& fabric, Time time);

}  // namespace athanor
