#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/execution/simulate.hpp"

namespace athanor {

/// Which link was busy for the largest part of a run.
struct BusiestLink {
  std::string name;        ///< "leaf0 -> host3"
  double utilisation = 0;  ///< see utilisation()
};

/// None where nothing moved. Of equally busy ones the first. `time`: in which they carried it, as `observed`.
std::optional<BusiestLink> busiest_link(const std::vector<LinkLoad>& loads, const Fabric& fabric, Time time);

/// What became of packets: as keys of a result, and as a line of text.
nlohmann::ordered_json packets_json(const PacketCounters& packets);
std::string packets_line(const PacketCounters& packets);

/// Lines of --ports, one for each port (or class of equal ones), under the line port_names(). `label`: the fields of
/// the first three columns: case, bytes and algorithm or pattern. `time`: in which they carried it, as `observed`.
std::string port_names();
std::string port_lines(std::string_view label, const std::vector<PortLoad>& ports, const Fabric& fabric, Time time);

/// A text as a field of CSV, quoted where it has to be (RFC 4180). A spreadsheet takes what begins with = + - @, a tab
/// or the end of a line for a formula, and runs it: such a text has a ' before it. Numbers stay numbers. What would
/// move a terminal's cursor is escaped.
std::string csv_field(std::string_view text);

}  // namespace athanor
