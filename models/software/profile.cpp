#include "models/software/profile.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "topologies/cluster.hpp"

namespace athanor {

namespace {

void read(ObjectReader& reader, Profile::Domain& domain) {
  reader.optional("measurements", domain.measurements, "Tables that it was fitted on");
  reader.optional("collectives", domain.collectives, "Of those tables");
  reader.optional("gpus", domain.gpus, "Compute capabilities of the GPUs, as \"9.0\", or architectures, as \"gfx942\"");
  reader.optional("nodes", domain.nodes, "How many nodes there were");
  reader.optional("ranks", domain.ranks, "Of those tables", {1});
  reader.optional("from", domain.from, "Smallest payload of those tables");
  reader.optional("to", domain.to, "Largest payload of those tables");
}

void read(ObjectReader& reader, CacheLevel& cache) {
  reader.required("size", cache.size, "What it keeps", {Bytes{1}});
  reader.required("rate", cache.rate, "At which a processor takes bytes from it or keeps their lines there");
  reader.optional("shared", cache.shared, "By all processors; absent: each has its own");
  cache.remote_rate = cache.rate;
  reader.optional("remote_rate", cache.remote_rate, "Of bytes that another processor keeps there; absent: as `rate`");
}

void read(ObjectReader& reader, ThreadCosts& costs) {
  reader.optional("start", costs.start, "Once per run");
  reader.optional("meeting", costs.meeting, "More of it where several processors start together");
  reader.optional("lane", costs.lane, "Once per lane and run");
  reader.optional("turn", costs.turn, "Of taking up a lane, whether or not it can go on");
  reader.optional("primitive", costs.primitive, "Of every primitive, beside its bytes");
  reader.optional("port", costs.port, "Of every message to or from a lane of the same processor");
  reader.optional("remote_port", costs.remote_port, "Of every message to or from a lane of another processor");
  reader.optional("notice", costs.notice, "Until an idle processor finds what another one has left for it");
  costs.patience = Time::max();
  reader.optional("patience", costs.patience, "An idle processor falls asleep after so long; absent: never");
  reader.optional("wake", costs.wake, "Until a sleeping processor is at work");
  reader.required_objects("caches", "From the nearest on, private ones first",
                          [&](ObjectReader& cache) { read(cache, costs.caches.emplace_back()); });
  reader.required("memory_rate", costs.memory_rate, "Beyond the last cache, of one processor");
  reader.optional("remote_latency", costs.remote_latency, "Of the first line that another processor holds");
}

void read(ObjectReader& reader, GpuCosts& costs) {
  reader.optional("launch", costs.launch, "Once per run, until the first primitive starts");
  reader.optional("primitive", costs.primitive, "Of every primitive, beside its bytes");
  reader.optional("flag", costs.flag, "Until a block sees what another one of its GPU has sent");
  reader.optional("peer_flag", costs.peer_flag, "The same from another GPU");
  reader.optional("block_rate", costs.block_rate, "Most that one block reads and writes; absent: no limit");
  reader.optional("cache_size", costs.cache_size, "Of a GPU's L2");
  reader.optional("cache_rate", costs.cache_rate, "Of all blocks of a GPU together; absent: no limit");
  reader.required("memory_rate", costs.memory_rate, "The same, where what they touch does not fit into the cache");
  reader.optional("peer_block_rate", costs.peer_block_rate,
                  "Most that one block writes into another GPU on one connection; absent: no limit");
  reader.optional("peer_rate", costs.peer_rate, "Of all blocks of one GPU into one other; absent: no limit");
  reader.optional("blocks", costs.blocks, "Resident at once on a GPU; absent: as many as there are", {1, 0xffffffff});
  reader.optional("slots", costs.slots, "Messages that a connection holds", {1, 4096});
}

/// What `athanor calibrate` says of its own work; for people.
void read_calibration(ObjectReader& reader) {
  reader.optional_value("calibration", "How it was found: date, versions, hold-out and its error", [](ValueReader&) {});
}

}  // namespace

bool Profile::covers(CollectiveKind kind, std::uint32_t ranks, Bytes size, const Cluster& cluster) const {
  const auto holds = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  return holds(fitted.collectives, std::string(athanor::name(kind))) && holds(fitted.ranks, ranks) &&
         holds(fitted.gpus, gpu_name(cluster)) &&
         (fitted.nodes.empty() || holds(fitted.nodes, nodes_of(cluster, ranks))) && fitted.from <= size &&
         size <= fitted.to;
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

void read(ObjectReader& reader, Profile& profile) {
  reader.optional("name", profile.name, "As results name it");
  reader.optional("description", profile.description, "For people");
  reader.optional("source", profile.source, "Where its figures come from");
  reader.optional("launch", profile.launch, "Before the first primitive starts");
  reader.optional("reduce_rate", profile.reduce_rate, "Of each input of a reduction after the first; absent: free");
  reader.optional("copy_rate", profile.copy_rate, "Of copies within a GPU; absent: free");
  reader.optional("overlapped", profile.overlapped, "Reducing goes on beside sending");
  std::vector<Protocol> protocols;
  reader.optional_objects("protocols", "Ways in which the library moves data; the fastest at each size is reported",
                          [&](ObjectReader& protocol) {
                            protocols.emplace_back().send_end = SendEnd::injected;
                            read(protocol, protocols.back());
                          });
  if (!protocols.empty()) { profile.protocols = std::move(protocols); }
  reader.optional_object("nccl", "That NCCL or RCCL moves data, and what its steps cost; replaces \"protocols\"",
                         [&](ObjectReader& nccl) {
                           NcclCosts costs;
                           read(nccl, costs);
                           if (!nccl.describing()) { profile.nccl = costs; }
                         });
  reader.optional_object("threads", "Of ranks that are threads on shared memory; replaces all costs above",
                         [&](ObjectReader& threads) {
                           ThreadCosts costs;
                           read(threads, costs);
                           if (!threads.describing()) { profile.threads = std::move(costs); }
                         });
  reader.optional_object("gpus", "Of ranks that are thread blocks of GPUs and share their memory; the same",
                         [&](ObjectReader& gpus) {
                           GpuCosts costs;
                           read(gpus, costs);
                           if (!gpus.describing()) { profile.gpus = costs; }
                         });
  if (profile.threads && profile.gpus) {
    reader.problem("gpus", "conflict", "a profile is of \"threads\" or of \"gpus\"", "leave one of them out");
  }
  reader.optional("within_node", profile.within_node,
                  "The profile of the library's that prices what stays within one node; absent: this one");
  reader.optional("machine", profile.machine, "On which it was calibrated, as measurements name it");
  read_calibration(reader);
  reader.optional_object("fitted", "The domain in which its figures were fitted",
                         [&](ObjectReader& domain) { read(domain, profile.fitted); });
}

}  // namespace athanor
