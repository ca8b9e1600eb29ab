#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/software/profile.hpp"
#include "sim/config/json_value.hpp"
#include "tools/calibrate/search.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

/// What is run in so many MPI processes, at least 2: messages of many sizes from rank 0 to rank 1 and back, streams of
/// them in one direction and in both, copies and sums of rank 0, while the others wait; and all ranks in
/// reduce-scatter, all-gather, broadcast, reduce and all-to-all by all algorithms, from 64 B to 1 MiB, every other size
/// held out. Nothing is measured on all-reduce, which is left for verification.
std::vector<Probe> mpi_probes(std::uint32_t ranks);

/// So many hosts on one switch, whose links are faster than anything that MPI reaches: for processes of which nobody
/// says what is between them. The profile then holds all of it.
Cluster assumed_cluster(std::uint32_t ranks);

/// What a cluster is, with the first link of its first endpoint: enough to notice that it is another one.
std::string words_for(const Cluster& cluster);

struct MpiFitSettings {
  const Cluster* cluster = nullptr;  ///< its endpoints are the ranks
  int evaluations = 800;             ///< of the model by each search, at most
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// The profile of one protocol, "mpi", with which the flow level takes as long as the probes did. First the eager limit
/// is looked for, from messages that go back and forth; then latency, overhead, payload on the wire, the rates of
/// copies and sums and the start of a run are found, once with sends that end when they are copied and once when they
/// are injected, of which the better counts. Fills in `simulated` of all probes.
///
/// Throws SimulationError("not-fitted") where a figure ends at the bound of what is plausible; of `payload` it says
/// that the cluster's links are slower than what was measured.
Profile fit_mpi_profile(std::vector<TimedProbe>& probes, const MpiFitSettings& settings);

/// How long the flow level says that a probe takes by the only protocol of a profile.
Time simulate_over_mpi(const Probe& probe, const Cluster& cluster, const Profile& profile);

/// What stands around the costs in a profile's file.
struct MpiNote {
  std::string name;
  std::string machine;
  std::string date;
  std::string versions;
  std::string library;  ///< of MPI, with what changes how fast it is
  std::string cluster;  ///< words_for()
  std::uint32_t ranks = 2;
};

JsonValue mpi_profile(const Profile& profile, const MpiNote& note, const std::vector<TimedProbe>& probes);

/// What a profile was fitted on, to fit it again. Throws FileError, or ScenarioError where it is no such profile.
std::vector<TimedProbe> mpi_probes_of(const std::string& path, MpiNote& note);

}  // namespace athanor
