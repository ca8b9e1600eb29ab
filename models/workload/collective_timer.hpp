#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "models/execution/run_jobs.hpp"
#include "models/experts/exchange.hpp"
#include "models/workload/call_estimate.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// Where calls run, and what may carry them out.
struct PricingSettings {
  const Cluster& cluster;
  const Profile& profile;
  SimulationOptions options;  ///< of every call; without a timeline
  std::uint64_t seed = 1;
  std::shared_ptr<const EngineDeployment> aggregation = nullptr;
  /// The algorithms that may carry a kind of collective out, the fastest of which does.
  std::function<std::vector<const Algorithm*>(CollectiveKind)> algorithms;
  /// The algorithms that may do so in place of `algorithms` where groups get the engines that they need; not NCCL's,
  /// which are among `algorithms`. Empty: none.
  std::function<std::vector<const Algorithm*>(CollectiveKind)> by_engines = nullptr;
  /// NCCL on these endpoints; null where the profile has no "nccl".
  std::function<std::shared_ptr<const NcclRuntime>(const std::vector<std::uint32_t>&)> nccl = nullptr;
  /// Groups over several nodes have a ring for each rank of a node, so that each of them has its own NIC; else the
  /// profile's channels.
  bool ring_per_rank = false;
  /// What simulates the groups of a call: run_jobs(), or something that takes note of what would be simulated.
  std::function<JobsResult(const JobsRequest&)> run = run_jobs;
  /// The same for tokens that go to experts.
  std::function<ExchangeTimes(const TokenExchange&, const EndpointGroups&, const Cluster&, std::uint64_t,
                              const NetworkOptions&)>
      exchange = simulate_exchange;
};

/// At packet level, of several runs together.
struct SkippedPackets {
  std::uint64_t simulated = 0;        ///< data packets
  std::optional<SkipCounters> skips;  ///< where there may be any

  void add(const PacketCounters& run);
};

/// Finds out what calls take by simulating their schedules, all groups of a call at the same time on an otherwise idle
/// cluster. Equal calls are simulated once: of groups that each stay within a node, those of one node, whose estimate
/// holds for the same groups in all nodes that look alike; together they take as long as the slowest node. Groups take
/// what is fastest for the first of them.
class CollectiveTimer {
 public:
  explicit CollectiveTimer(PricingSettings settings);

  /// Throws as run_jobs().
  const CallEstimate& estimate(const Workload& workload, const Workload::Call& call);
  /// Of a message between each of the channel's pairs.
  const CallEstimate& estimate(const Workload::Channel& channel, Bytes size);

  /// The time of estimate(), for less: what links carry is not worked out where groups stay within nodes.
  Time time(const Workload& workload, const Workload::Call& call);

  /// Numbers that estimates hold, of links and endpoints: some 16 bytes each.
  std::uint64_t remembered() const { return remembered_; }
  /// Forgets all estimates but those of one node's groups. References to them are no longer valid.
  void forget();

  std::uint64_t simulated() const { return simulated_; }  ///< runs of schedules, not of equal calls
  /// Of these at packet level, where settled traffic may be skipped: packets that were simulated, and what was skipped.
  const SkippedPackets& packets() const { return packets_; }
  /// Of these at the level of flows.
  const Settled& settled() const { return settled_; }

 private:
  /// Of equal exchanges one is simulated.
  struct ExchangeOfCall : std::shared_ptr<const TokenExchange> {
    bool operator==(const ExchangeOfCall& other) const { return (*this <=> other) == 0; }
    std::partial_ordering operator<=>(const ExchangeOfCall& other) const;
  };
  struct Question {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Bytes size;
    DataType type = DataType::float32;
    std::uint32_t root = 0;
    ExchangeOfCall exchange = {};
    auto operator<=>(const Question&) const = default;
  };
  /// Groups within one node: its kind, and where in it their ranks are.
  struct InNode {
    std::uint32_t kind = 0;
    std::vector<std::vector<std::uint32_t>> places;  ///< by group: vertex indices
    auto operator<=>(const InNode&) const = default;
  };
  /// By node, the groups that are in it.
  using ByNode = std::map<std::uint32_t, EndpointGroups>;

  static Question question_of(const Workload::Call& call);
  static Question in_whole_elements(Question question);
  const CallEstimate& estimate(const EndpointGroups& groups, const Question& question);
  InNode in_node(std::uint32_t node, const EndpointGroups& groups);
  ByNode by_node(const EndpointGroups& groups) const;
  const CallEstimate& of_node(std::uint32_t node, const EndpointGroups& groups, const Question& question);
  CallEstimate simulate(const EndpointGroups& groups, const Question& question);
  CallEstimate exchanged(const EndpointGroups& groups, const Question& question);
  CallEstimate run(const EndpointGroups& groups, const Question& question,
                   const std::vector<const Algorithm*>& algorithms, bool rings);
  CallEstimate one_node(const EndpointGroups& groups, const Question& question);
  CallEstimate side_by_side(const std::vector<EndpointGroups>& sets, const Question& question);
  void add_shares(std::uint32_t node, const CallEstimate& own, Time whole, std::vector<LinkShare>& all);
  CallEstimate on_device(const Question& question) const;
  Time latency(const EndpointGroups& groups, const Question& question, const CallEstimate& estimate);
  std::optional<std::uint32_t> channels(const std::vector<std::uint32_t>& group, CollectiveKind kind) const;
  std::uint32_t node_of(std::uint32_t endpoint) const;
  bool within_nodes(const EndpointGroups& groups) const;

  PricingSettings settings_;
  NodeKinds nodes_;
  std::map<std::pair<InNode, Question>, CallEstimate> in_node_;
  std::map<std::pair<EndpointGroups, Question>, CallEstimate> known_;
  std::uint64_t remembered_ = 0;
  std::uint64_t simulated_ = 0;
  SkippedPackets packets_;
  Settled settled_;
};

}  // namespace athanor
