#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "models/execution/run_jobs.hpp"
#include "models/workload/call_price.hpp"
#include "models/workload/node_kinds.hpp"
#include "models/workload/workload.hpp"

namespace athanor {

/// Where calls run, and what may carry them out.
struct PricingSettings {
  const Cluster& cluster;
  const Profile& profile;
  SimulationOptions options;  ///< of every call; without a timeline
  std::uint64_t seed = 1;
  std::shared_ptr<const NetworkEngines> aggregation = nullptr;
  /// The algorithms that may carry a kind of collective out, the fastest of which does.
  std::function<std::vector<const Algorithm*>(CollectiveKind)> algorithms;
  /// Those that may do so in place of them where groups get the engines that they need; not NCCL's, which are among
  /// `algorithms`. Empty: none.
  std::function<std::vector<const Algorithm*>(CollectiveKind)> by_engines = nullptr;
  /// NCCL on these endpoints; null where the profile has no "nccl".
  std::function<std::shared_ptr<const NcclRuntime>(const std::vector<std::uint32_t>&)> nccl = nullptr;
  /// Groups over several nodes have a ring for each rank of a node, so that each of them has its own NIC; else the
  /// profile's channels.
  bool ring_per_rank = false;
};

/// Prices calls by simulating their schedules, all groups of a call at the same time on an otherwise idle cluster.
/// Equal calls are simulated once: of groups that each stay within a node, those of one node, whose price holds for the
/// same groups in all nodes that look alike; together they take as long as the slowest node. Groups take what is
/// fastest for the first of them.
class CallPricer {
 public:
  explicit CallPricer(PricingSettings settings) : settings_(std::move(settings)), nodes_(*settings_.cluster.fabric) {}

  /// Throws as run_jobs().
  const CallPrice& price(const Workload& workload, const Workload::Call& call);
  /// Of a message between each of the channel's pairs.
  const CallPrice& price(const Workload::Channel& channel, Bytes size);

  /// The time of price(), for less: what links carry is not worked out where groups stay within nodes.
  Time time(const Workload& workload, const Workload::Call& call);

  /// Numbers that prices hold, of links and endpoints: some 16 bytes each.
  std::uint64_t remembered() const { return remembered_; }
  /// Forgets all prices but those of one node's groups. References to them are no longer valid.
  void forget();

  std::uint64_t simulated() const { return simulated_; }  ///< runs of schedules, not of equal calls

 private:
  struct Question {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Bytes size;
    DataType type = DataType::float32;
    std::uint32_t root = 0;
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
  const CallPrice& price(const EndpointGroups& groups, const Question& question);
  InNode in_node(std::uint32_t node, const EndpointGroups& groups);
  ByNode by_node(const EndpointGroups& groups) const;
  const CallPrice& of_node(std::uint32_t node, const EndpointGroups& groups, const Question& question);
  CallPrice simulate(const EndpointGroups& groups, const Question& question);
  CallPrice run(const EndpointGroups& groups, const Question& question, const std::vector<const Algorithm*>& algorithms,
                bool rings);
  CallPrice one_node(const EndpointGroups& groups, const Question& question);
  CallPrice side_by_side(const std::vector<EndpointGroups>& sets, const Question& question);
  void add_shares(std::uint32_t node, const CallPrice& own, Time whole, std::vector<LinkShare>& all);
  CallPrice on_device(const Question& question) const;
  Time latency(const EndpointGroups& groups, const Question& question, const CallPrice& price);
  std::optional<std::uint32_t> channels(const std::vector<std::uint32_t>& group, CollectiveKind kind) const;
  std::uint32_t node_of(std::uint32_t endpoint) const;
  bool within_nodes(const EndpointGroups& groups) const;

  PricingSettings settings_;
  NodeKinds nodes_;
  std::map<std::pair<InNode, Question>, CallPrice> in_node_;
  std::map<std::pair<EndpointGroups, Question>, CallPrice> known_;
  std::uint64_t remembered_ = 0;
  std::uint64_t simulated_ = 0;
};

}  // namespace athanor
