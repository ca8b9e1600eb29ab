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
/// Equal calls are simulated once: of groups that each stay within a node, one node's, whose price holds for all nodes
/// that look alike. Groups take what is fastest for the first of them.
class CallPricer {
 public:
  /// Of one node, what has which index.
  using Devices = std::map<std::pair<VertexKind, std::uint32_t>, VertexId>;

  explicit CallPricer(PricingSettings settings) : settings_(std::move(settings)) {}

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
  using Places = std::vector<std::vector<std::uint32_t>>;  ///< of groups within a node: vertex indices in it

  static Question question_of(const Workload::Call& call);
  static Question in_whole_elements(Question question);
  const CallPrice& price(const EndpointGroups& groups, const Question& question);
  const CallPrice& first_node(const EndpointGroups& groups, const Question& question);
  const std::map<std::uint32_t, Devices>& devices();
  CallPrice simulate(const EndpointGroups& groups, const Question& question);
  CallPrice run(const EndpointGroups& groups, const Question& question, const std::vector<const Algorithm*>& algorithms,
                bool rings);
  CallPrice one_node(const EndpointGroups& groups, const Question& question);
  CallPrice side_by_side(const std::vector<EndpointGroups>& sets, const Question& question);
  std::shared_ptr<const std::vector<LinkShare>> on_all_nodes(const EndpointGroups& groups,
                                                             const std::vector<LinkShare>& first);
  CallPrice on_device(const Question& question) const;
  Time latency(const EndpointGroups& groups, const Question& question, const CallPrice& price);
  std::optional<std::uint32_t> channels(const std::vector<std::uint32_t>& group, CollectiveKind kind) const;
  std::uint32_t node_of(std::uint32_t endpoint) const;
  bool within_nodes(const EndpointGroups& groups) const;

  PricingSettings settings_;
  std::map<std::pair<Places, Question>, CallPrice> in_node_;
  std::map<std::pair<EndpointGroups, Question>, CallPrice> known_;
  std::map<std::uint32_t, Devices> devices_;  ///< by node; filled when first asked for
  std::uint64_t remembered_ = 0;
  std::uint64_t simulated_ = 0;
};

}  // namespace athanor
