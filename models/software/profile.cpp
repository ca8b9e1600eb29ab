#include "models/software/profile.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/software/transports.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

static void visit(Fields& fields, Profile::Domain& domain) {
  fields.optional("measurements", domain.measurements, "Tables that it was fitted on");
  fields.optional("collectives", domain.collectives, "Of those tables");
  fields.optional("gpus", domain.gpus, "Compute capabilities of the GPUs, as \"9.0\", or architectures, as \"gfx942\"");
  fields.optional("nodes", domain.nodes, "How many nodes there were");
  fields.optional("ranks", domain.ranks, "Of those tables", {1});
  fields.optional("from", domain.from, "Smallest payload of those tables");
  fields.optional("to", domain.to, "Largest payload of those tables");
  fields.optional("rows", domain.rows, "How many measured times tell it, where they are few; absent: whole tables",
                  {1});
  fields.optional("sizes", domain.sizes, "Of those few");
}

static void visit(Fields& fields, CacheLevel& cache) {
  fields.required("size", cache.size, "What it keeps", {Bytes{1}});
  fields.required("rate", cache.rate, "At which a processor takes bytes from it or keeps their lines there");
  fields.optional("shared", cache.shared, "By all processors; absent: each has its own");
  fields.optional_or("remote_rate", cache.remote_rate, cache.rate,
                     "Of bytes that another processor keeps there; absent: as `rate`");
}

static void visit(Fields& fields, ThreadCosts& costs) {
  fields.optional("start", costs.start, "Once per run");
  fields.optional("meeting", costs.meeting, "More of it where several processors start together");
  fields.optional("lane", costs.lane, "Once per lane and run");
  fields.renamed("turn", "dispatch");
  fields.optional("dispatch", costs.dispatch, "Of taking up a lane, whether or not it can go on");
  fields.optional("primitive", costs.primitive, "Of every primitive, beside its bytes");
  fields.optional("port", costs.port, "Of every message to or from a lane of the same processor");
  fields.optional("remote_port", costs.remote_port, "Of every message to or from a lane of another processor");
  fields.renamed("notice", "poll_delay");
  fields.optional("poll_delay", costs.poll_delay, "Until an idle processor finds what another one has left for it");
  fields.renamed("patience", "spin_time");
  fields.optional_or("spin_time", costs.spin_time, Time::max(),
                     "An idle processor falls asleep after so long; absent: never");
  fields.optional("wake", costs.wake, "Until a sleeping processor is at work");
  fields.required_list("caches", costs.caches, "From the nearest on, private ones first");
  fields.required("memory_rate", costs.memory_rate, "Beyond the last cache, of one processor");
  fields.optional("remote_latency", costs.remote_latency, "Of the first line that another processor holds");
}

static void visit(Fields& fields, GpuCosts& costs) {
  fields.optional("launch", costs.launch, "Once per run, until the first primitive starts");
  fields.optional("primitive", costs.primitive, "Of every primitive, beside its bytes");
  fields.optional("message", costs.message, "Of a primitive that sends or receives, beside");
  fields.optional("flag", costs.flag, "Until a block sees what another one of its GPU has sent");
  fields.optional("peer_flag", costs.peer_flag, "The same from another GPU");
  fields.renamed("block_rate", "block_read_rate");
  fields.optional("block_read_rate", costs.block_read_rate, "Most that one block reads; absent: no limit");
  fields.optional("block_write_rate", costs.block_write_rate,
                  "Most that one block writes, behind what it has read; absent: no limit");
  fields.optional("cache_size", costs.cache_size, "Of a GPU's L2");
  fields.optional("cache_rate", costs.cache_rate, "Of all blocks of a GPU together; absent: no limit");
  fields.required("memory_rate", costs.memory_rate, "The same, where what they touch does not fit into the cache");
  fields.optional("peer_block_rate", costs.peer_block_rate,
                  "Most that one block writes into another GPU on one connection; absent: no limit");
  fields.optional("peer_rate", costs.peer_rate, "Of all blocks of one GPU into one other; absent: no limit");
  fields.optional("blocks", costs.blocks, "Resident at once on a GPU; absent: as many as there are", {1, 0xffffffff});
  fields.optional("slots", costs.slots, "Messages that a connection holds", {1, 4096});
}

namespace {

/// Whether messages between these nodes may be carried by what the profile's figures are of. Who told rows of a
/// machine, or software of a pool, told that; and NICs of no kind on no InfiniBand may be any.
bool has_transport(const Profile& profile, const Cluster& cluster) {
  const bool told = profile.pooled || profile.fitted.rows > 0;
  if (told || profile.transport.empty() || !cluster.identity) { return true; }
  const NodeIdentity& own = *cluster.identity;
  if (!own.transport.empty()) { return own.transport == profile.transport; }
  const bool any = own.nic.empty() && !own.infiniband;
  return any || may_drive(profile.transport, usual_transport(own.nic, own.infiniband));
}

}  // namespace

bool Profile::covers(CollectiveKind kind, std::uint32_t ranks, Bytes size, const Cluster& cluster) const {
  const auto holds = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  return holds(fitted.collectives, std::string(athanor::name(kind))) && holds(fitted.ranks, ranks) &&
         holds(fitted.gpus, gpu_name(cluster)) &&
         (fitted.nodes.empty() || holds(fitted.nodes, nodes_of(cluster, ranks))) && fitted.from <= size &&
         size <= fitted.to && (has_transport(*this, cluster) || nodes_of(cluster, ranks) == 1);
}

namespace {

/// Whether one of a few told rows is as near as rows of a table are to each other where every other one is held out.
bool is_near_told(const Profile::Domain& fitted, Bytes size) {
  constexpr std::int64_t kNear = 4;
  return std::any_of(fitted.sizes.begin(), fitted.sizes.end(),
                     [&](Bytes told) { return std::max(told, size).count() <= kNear * std::min(told, size).count(); });
}

/// How much was measured of a stack that profiles were fitted to: nothing between nodes where there was one.
Knowledge knowledge_of(const Profile& profile, CollectiveKind kind, std::uint32_t ranks, Bytes size,
                       const Cluster& cluster, bool several_nodes) {
  const Profile::Domain& fitted = profile.fitted;
  if (profile.pooled || fitted.gpus.empty() || fitted.nodes.empty()) { return Knowledge::nothing; }
  if (profile.covers(kind, ranks, size, cluster)) {
    return fitted.rows == 0 || is_near_told(fitted, size) ? Knowledge::sizes : Knowledge::two_rows;
  }
  if (fitted.rows > 0 || (several_nodes && !has_transport(profile, cluster))) { return Knowledge::nothing; }
  const bool same_gpus = std::count(fitted.gpus.begin(), fitted.gpus.end(), gpu_name(cluster)) > 0;
  const bool same_nodes = std::any_of(fitted.nodes.begin(), fitted.nodes.end(),
                                      [&](std::uint32_t nodes) { return (nodes > 1) == several_nodes; });
  return same_gpus && same_nodes ? Knowledge::tables : Knowledge::nothing;
}

}  // namespace

std::optional<PredictionError> Profile::error_of(CollectiveKind kind, std::uint32_t ranks, Bytes size,
                                                 const Cluster& cluster) const {
  if (!errors) { return std::nullopt; }
  const std::uint32_t nodes = nodes_of(cluster, ranks);
  const Knowledge known = knowledge_of(*this, kind, ranks, size, cluster, nodes > 1);
  // A few rows fit whatever they are: how far off they are says nothing of others.
  const OwnErrors own = fitted.rows > 0 ? OwnErrors{} : own_errors(calibrated, known, kind, nodes);
  return predicted_error(*errors, known, nodes > 1, size, own);
}

std::string gpu_name(const Cluster& cluster) {
  if (!cluster.identity) { return ""; }
  if (const auto capability = cluster.identity->compute_capability) {
    return fmt::format("{}.{}", *capability / 10, *capability % 10);
  }
  return cluster.identity->architecture;
}

std::uint32_t nodes_of(const Cluster& cluster, std::uint32_t ranks) {
  std::set<std::uint32_t> nodes;
  std::uint32_t alone = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t node = cluster.fabric->vertex(cluster.endpoints.at(rank)).node;
    if (node == kNoNode) {
      ++alone;
    } else {
      nodes.insert(node);
    }
  }
  return alone + static_cast<std::uint32_t>(nodes.size());
}

void visit(Fields& fields, Profile& profile) {
  fields.optional("name", profile.name, "As results name it");
  fields.optional("description", profile.description, "For people");
  fields.optional("source", profile.source, "Where its figures come from");
  fields.optional("launch", profile.launch, "Before the first primitive starts");
  fields.optional("reduce_rate", profile.reduce_rate, "Of each input of a reduction after the first; absent: free");
  fields.optional("copy_rate", profile.copy_rate, "Of copies within a GPU; absent: free");
  fields.optional("overlapped", profile.overlapped, "Reducing goes on beside sending");
  fields.optional_list("protocols", profile.protocols,
                       "Ways in which the library moves data; the fastest at each size is reported");
  if (profile.protocols.empty()) { profile.protocols = {Protocol{}}; }
  fields.optional_object("nccl", profile.nccl,
                         "That NCCL or RCCL moves data, and what its steps cost; replaces \"protocols\"");
  fields.optional_object("threads", profile.threads,
                         "Of ranks that are threads on shared memory; replaces all costs above");
  fields.optional_object("gpus", profile.gpus,
                         "Of ranks that are thread blocks of GPUs and share their memory; the same");
  if (profile.threads && profile.gpus) {
    fields.problem("gpus", "conflict", "a profile is of \"threads\" or of \"gpus\"", "leave one of them out");
  }
  fields.optional("within_node", profile.within_node,
                  "The profile of the library's that prices what stays within one node; absent: this one");
  fields.optional("transport", profile.transport, "What carries messages between nodes: NICs with their plugin",
                  OneOf{transport_names()});
  fields.optional("machine", profile.machine, "On which it was calibrated, as measurements name it");
  fields.optional_value("calibration", "How it was found: date, versions; and by table how far it is off",
                        [&](FieldValue& value) { visit(value, profile.calibrated); });
  fields.optional_object("fitted", profile.fitted, "The domain in which its figures were fitted");
}

}  // namespace athanor
