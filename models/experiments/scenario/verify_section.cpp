#include "models/experiments/scenario/verify_section.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/named_file.hpp"
#include "models/software/profile.hpp"
#include "sim/file.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Where the measurement's file is; nothing after a problem was reported.
std::optional<std::string> locate(FieldValue& value, const FileReader& files, const Library& library) {
  const auto text = value.text();
  if (!text) { return std::nullopt; }
  if (names_file(*text)) { return files.path(*text); }
  if (library.has(LibraryFolder::measurements, *text)) { return library.path(LibraryFolder::measurements, *text); }
  const std::vector<std::string> names = library.names(LibraryFolder::measurements);
  const std::string near = nearest(*text, names);
  value.problem("unknown-measurement",
                fmt::format("there is no measurement '{}' in {}", *text, library.folder(LibraryFolder::measurements)),
                near.empty() ? "`athanor list measurements` names all; a path ends in .json"
                             : fmt::format("did you mean '{}'?", near));
  return std::nullopt;
}

/// The distinct numbers of ranks for which a measurement holds that collective, for a message.
std::string ranks_of(const Measurement& measurement, CollectiveKind kind) {
  std::vector<std::uint32_t> all;
  for (const Measurement::Row& row : measurement.rows) {
    if (row.collective == kind) { all.push_back(row.ranks); }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return fmt::format("{}", joined(all, ", "));
}

/// On how many nodes so many ranks were measured; nothing where the file does not say.
std::optional<std::uint32_t> measured_nodes(const Measurement& measurement, std::uint32_t ranks) {
  std::int64_t nodes = 0;
  std::int64_t per_node = 0;
  for (const auto& [key, value] : measurement.hardware_facts) {
    const std::int64_t* number = std::get_if<std::int64_t>(&value);
    if (number != nullptr && key == "nodes") { nodes = *number; }
    if (number != nullptr && (key == "ranks_per_node" || (key == "gpus_per_node" && per_node == 0))) {
      per_node = *number;
    }
  }
  return nodes > 0 && nodes * per_node == ranks ? std::optional(static_cast<std::uint32_t>(nodes)) : std::nullopt;
}

void check_nodes(Fields& fields, const Cluster& cluster, const CollectiveSetup& setup) {
  const Measurement& measurement = setup.verification->measurement;
  const auto measured = measured_nodes(measurement, setup.ranks);
  if (!measured || cluster.fabric->vertex(cluster.endpoints.front()).node == kNoNode) { return; }
  const std::uint32_t simulated = nodes_of(cluster, setup.ranks);
  // A rack whose GPUs share NVLinks is one node here, and to those who measure it as many as it has trays.
  constexpr std::uint32_t kMostOnBoard = 16;
  if (simulated == *measured || cluster.endpoints_per_node > kMostOnBoard) { return; }
  fields.problem("verify", "measurement-mismatch",
                 fmt::format("'{}' measured {} ranks on {} nodes, but on {} they are simulated", measurement.id,
                             setup.ranks, *measured, simulated),
                 "choose a measurement of as many nodes, or change the cluster");
}

}  // namespace

void visit(Fields& fields, const FileReader& files, const Library& library, Problems& problems,
           std::optional<Verification>& verification) {
  Verification read;
  bool found = false;
  fields.required_value("measurement", "A name in measurements/, or the path of such a file", [&](FieldValue& value) {
    const auto path = locate(value, files, library);
    if (!path) { return; }
    try {
      read.measurement = read_measurement(library.files(), *path, problems);
      found = value.ok();
    } catch (const FileError& error) {
      value.problem("no-measurement", error.what(), "`athanor list measurements` names those that come with athanor");
    }
  });
  fields.optional("max_error", read.max_error, "`athanor verify` fails above this |simulated / measured - 1|",
                  {{0, 1}, {100, 1}});
  fields.optional("max_median_error", read.max_median_error, "The same for its median over sizes and algorithms",
                  {{0, 1}, {100, 1}});
  fields.optional("from", read.from, "Smallest size that counts for both");
  fields.optional("to", read.to, "Largest size that counts for both");
  if (found) { verification = std::move(read); }
}

void check_verification(Fields& fields, const Cluster& cluster, const CollectiveSetup& setup) {
  if (!setup.verification) { return; }
  const Verification& verification = *setup.verification;
  const Measurement& measurement = verification.measurement;
  if (!measurement.covers(setup.kind)) {
    fields.problem("verify", "measurement-mismatch",
                   fmt::format("'{}' measured {}, but {} is simulated", measurement.id, name(measurement.collective),
                               name(setup.kind)),
                   "choose a measurement of the same collective");
  } else if (!measurement.covers(setup.kind, setup.ranks)) {
    fields.problem("verify", "measurement-mismatch",
                   fmt::format("'{}' measured {} ranks ({}), but {} are simulated", measurement.id,
                               ranks_of(measurement, setup.kind), measurement.hardware, setup.ranks),
                   "choose a measurement of as many ranks, or change \"ranks\" or the cluster");
  } else {
    check_nodes(fields, cluster, setup);
  }
  if (verification.to < verification.from) {
    fields.problem(
        "verify", "empty-range",
        fmt::format("the range from {} to {} is empty", to_string(verification.from), to_string(verification.to)),
        "\"from\" is the smaller size");
  }
}

}  // namespace athanor
