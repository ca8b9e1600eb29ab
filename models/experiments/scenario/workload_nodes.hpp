#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/jobs/node_list.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

class FileReader;

/// What the nodes of a workload's cluster have beside what the fabric says, as a scenario writes it.
struct WorkloadNodes {
  std::string file;                   ///< "": none
  std::optional<std::string> format;  ///< of the file
  std::optional<std::uint32_t> cpu_milli;
  std::optional<Bytes> memory;
  SourceLocation place;
};

void visit(Fields& fields, WorkloadNodes& nodes);

/// The nodes of the fabric with what the scenario says of them. What cannot be is a problem.
NodeList with_details(NodeList of_fabric, const WorkloadNodes& details, const FileReader& files, Problems& problems);

}  // namespace athanor
