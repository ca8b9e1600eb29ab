#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/jobs/node_list.hpp"
#include "models/jobs/simulate_jobs.hpp"

namespace athanor {

/// What the rows of a timeline stand for: nodes, or all nodes below one switch, or all nodes.
struct TimelineRows {
  std::string kind;                        ///< "node", "leaf", "cluster"
  std::vector<std::string> names;          ///< of each row
  std::vector<std::string> groups;         ///< that it is shown in
  IdVector<NodeId, std::uint32_t> row_of;  ///< of each node
};

/// A job on the nodes of one row, for one stint.
struct RowStay {
  const JobStint* stint = nullptr;
  std::uint32_t row = 0;
  std::uint32_t gpus = 0;
};

/// The finest rows for which there are no more than `most` stays; the coarsest, if there are none such.
TimelineRows timeline_rows(const JobsRun& run, const NodeList& nodes, std::size_t most);
/// In the order of stints, and of rows within one.
std::vector<RowStay> stays_on(const TimelineRows& rows, const JobsRun& run);

}  // namespace athanor
