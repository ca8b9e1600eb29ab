#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/formats/msccl_export.hpp"
#include "sim/config/json_value.hpp"
#include "sim/time.hpp"

namespace athanor {

/// An algorithm's simulated time, or why it cannot run.
struct ContenderTime {
  std::string algorithm;
  std::optional<Time> time;
  std::string obstacle;  ///< "": it can
};

/// What was made for a fabric, and how good it is.
struct SynthesisReport {
  std::string scenario_case;  ///< its name
  std::string cluster;        ///< in words
  std::string collective;     ///< "all_gather"
  std::string payload;        ///< "1 GiB"
  std::uint32_t ranks = 1;
  std::uint32_t switches = 0;  ///< of the graph
  std::size_t links = 0;
  Time bound;              ///< of the payload, by the narrowest cut or the lengths of links
  std::string bound_by;    ///< in words
  Time reached;            ///< of the payload, with links full all the time
  std::string method;      ///< how it was made, in words
  std::int64_t units = 1;  ///< into which a rank's part is cut
  std::size_t messages = 0;
  std::size_t lanes = 0;
  bool in_place = false;  ///< proven in place, too
  std::optional<std::string> file = {};
  MscclSummary written = {};     ///< where there is a file
  ContenderTime simulated = {};  ///< what was made
  std::vector<ContenderTime> contenders =
      {};  ///< of the catalog: those that can run, the fastest first, then the others
};

/// For people. Ends with a line feed.
std::string to_text(const SynthesisReport& report);
/// {"case", "cluster", "collective", "payload", "ranks", "switches", "links", "bound_us", "bound_by", "reached_us",
/// "reached", "method", "units", "messages", "lanes", "in_place", "file", "chunks", "simulated": {"algorithm",
/// "time_us", "obstacle"}, "contenders": [the same]}; what is unknown is null.
JsonValue to_json(const SynthesisReport& report);

}  // namespace athanor
