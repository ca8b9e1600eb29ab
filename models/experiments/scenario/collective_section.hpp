#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/reduction.hpp"
#include "models/execution/run.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/exchange_section.hpp"
#include "models/experiments/scenario/jobs_section.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

class FileReader;

/// The "collective" of a scenario, as far as it can be read without the cluster.
struct CollectiveSection {
  CollectiveKind kind = CollectiveKind::all_reduce;
  AlgorithmChoice choice;
  std::vector<Bytes> sizes;                ///< empty where `exchange` says them
  std::optional<ExchangeConfig> exchange;  ///< of all-to-all-v
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::uint32_t root = 0;
  bool in_place = false;
  std::optional<SourceLocation> group_place;  ///< of "group"
  std::optional<std::uint32_t> ranks;         ///< none: every endpoint
  std::optional<std::uint32_t> calls;         ///< that follow each other; none: as the table was measured, or one
  std::optional<Time> compute;                ///< of hosts, beside it; none: it is waited for
  std::optional<JobsConfig> jobs;
  Overrides overrides;
};

/// Where paths in the section start, and what takes the problems of the files that it names.
struct CollectiveContext {
  const FileReader& files;
  ImportCache& imports;
  Problems& problems;
};

void visit(Fields& fields, const CollectiveContext& context, CollectiveSection& section);

class ExperimentReader;
std::unique_ptr<ExperimentReader> collective_reader();

}  // namespace athanor
