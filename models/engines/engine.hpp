#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/engines/engine_limits.hpp"
#include "models/software/protocol.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

struct Profile;

/// One kind of engine in the network, as public documents describe it.
struct EngineModel {
  std::string name;     ///< "sharp_v2", ...: in scenarios
  std::string summary;  ///< one line
  EngineLimits limits;
  std::vector<DataType> only_summed = {};  ///< of its types those that it reduces by no other operation
  std::uint32_t trees_per_job = 1;         ///< that a job's channels are spread over
  /// Does a job keep its streaming tree for itself? Else jobs take turns, operation by operation.
  bool exclusive = true;
  /// How messages travel, each where its payload sizes say: what hops, engines and packets cost, and chunks. What the
  /// host's software costs is that of the profile (see engine_protocols).
  std::vector<Protocol> modes;
  /// How its switches come by memory for packets, and what packets are like; none: they are not simulated one by one.
  /// Limits and latencies in it are those of the engine and of hosts where it runs.
  std::optional<AggregatorSettings> slots;
  std::string source;   ///< of limits and costs
  std::string assumed;  ///< what no public document says
};

/// All engines, each system in a file of its own under kinds/. The first, "ideal", has neither limits nor costs.
std::span<const EngineModel> engine_catalog();

/// Is it in switches of the network, so that an aggregation manager grants it?
bool is_in_switches(const EngineModel& engine);

/// Throws ScenarioError ("unknown-engine") with the nearest name and all names.
const EngineModel& find_engine(std::string_view name);

/// Why an engine cannot do this at all, in words for the user, or nothing: a type or reduction that it does not add, an
/// operation of more bytes than it takes. `operation`: the payload, or the chunk where the library cuts it into
/// operations of its own.
std::optional<std::string> refuses(const EngineModel& engine, CollectiveKind kind, DataType type, Reduction reduction,
                                   Bytes operation);

/// The algorithms that need engines in switches of the network, by the names of the catalog.
std::span<const std::string> aggregating_algorithms();

/// The protocols by which aggregating_algorithms() run on a machine with this profile and such engines: those of the
/// profile where it names one of the algorithms; else one for each mode, with the costs of the profile's first protocol
/// for the software of hosts: half of its latency between nodes at each end of a tree.
std::vector<Protocol> engine_protocols(const EngineModel& engine, const Profile& profile);

/// The protocols by which aggregating_algorithms() run where a library says how it drives engines: its own protocols,
/// each once with every mode of the engine, whose costs in the network, memory and trees they take. Chunks are the
/// library's operations; where the engine does not stream they are cut into its own. Half of the library's latency
/// between nodes is that of each end of a tree. `operations`: pieces into which the library divides a payload for as
/// many trees, at least one; an engine's mode is for operations of its sizes.
std::vector<Protocol> engine_protocols(const EngineModel& engine, const std::vector<Protocol>& library,
                                       std::uint32_t operations);

/// NICs that run the schedule of a collective for their hosts: every primitive is theirs. After the model of management
/// queues whose requests wait for others: Graham et al., ConnectX-2 InfiniBand Management Queues, CCGRID 2010.
struct NicOffload {
  Time post;                             ///< of the host, once per collective, in place of the profile's launch
  std::optional<Time> overhead;          ///< of a NIC for each primitive; absent: the host's
  std::optional<Bandwidth> reduce_rate;  ///< of a NIC; absent: the host's
};

/// The costs of a machine whose NICs do the work.
Profile offloaded(Profile profile, const NicOffload& offload);

/// A non-blocking collective beside a computation of its hosts.
struct Overlap {
  Time total;          ///< from the collective's start until both have ended
  Time communicating;  ///< of a host's own time
  double share = 0;    ///< of the collective's time that is hidden: 0 to 1, as OSU's benchmarks define it
};

/// `collective`: how long it takes alone. With NICs that carry it out the host posts it and computes; without, nothing
/// moves while the host computes, since it is the host that starts each message.
Overlap overlap(Time collective, Time compute, const std::optional<NicOffload>& offload);

struct Algorithm;

/// The engines that the switches of a network have, and what happens to who gets none of them.
struct EngineDeployment {
  EngineModel engine;
  /// What runs in place of an algorithm whose engines cannot be had; empty: nothing does, and the run fails.
  std::vector<const Algorithm*> fallback;
  /// Where an all-reduce by aggregation_tree runs packet by packet over memory of switches, not by its schedule (see
  /// uses_aggregators()); limits and latencies in it do not count.
  std::optional<AggregatorSettings> slots = {};
  std::vector<VertexId> servers = {};  ///< of parameters, by job, where slots need them
};

}  // namespace athanor
