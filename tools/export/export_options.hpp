#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/schedule/collective.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

struct ExportOptions {
  CommonOptions common;
  ScenarioOptions scenario;  ///< --set and --case
  std::optional<std::string> format, output;
  std::optional<std::uint32_t> ranks;  ///< this and what follows: of schedules
  std::optional<Bytes> size, chunk;
  std::optional<std::string> type, exchange;
  std::uint32_t root = 0;
  bool in_place = false;
  Layout layout;  ///< but its chunk and its shape
  GridShape grid;
  std::optional<Bandwidth> reduce_rate;

  std::string destination() const { return output.value_or(""); }  ///< "": standard output
};
void visit(OptionFields& fields, ExportOptions& options);

/// `athanor export fabric SCENARIO|PRESET`: one cluster as GraphML, a platform of SimGrid, a .topo of htsim, Graphviz
/// or JSON.
ExitCode export_fabric(const ExportOptions& options, const Streams& streams);
/// `athanor export sweep FILE`: what a sweep found so far, for spreadsheets and programs. Needs neither the scenario
/// nor the athanor of the same version.
ExitCode export_sweep(const ExportOptions& options, const Streams& streams);
/// `athanor export trace SCENARIO|FILE|PATTERN`: a step of training, or a trace of any format that is read, as
/// Athanor's own JSON or as execution traces of Chakra.
ExitCode export_trace(const ExportOptions& options, const Streams& streams);

}  // namespace athanor
