#include "tests/models/law_conditions.hpp"

#include <memory>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

namespace {

class LawCosts final : public CostModel {
 public:
  /// `adders`: agents from there on add in no time.
  LawCosts(std::uint32_t adders, std::uint32_t least_slots, Bandwidth reduce_rate)
      : adders_(adders), slots_(least_slots), reduce_rate_(reduce_rate) {}

  AgentCost agent(AgentId agent) const override {
    AgentCost cost;
    if (agent.value < adders_) { cost.reduce_rate = reduce_rate_; }
    return cost;
  }
  ConnectionCost connection(AgentId, AgentId, std::span<const LinkId>) const override {
    return {.latency = {}, .grain = {}, .end = SendEnd::delivered};
  }
  Bytes element_size() const override { return Bytes{4}; }
  std::uint32_t slots() const override { return slots_ + 1; }

 private:
  std::uint32_t adders_;
  std::uint32_t slots_;
  Bandwidth reduce_rate_;
};

}  // namespace

Time closed_form(const Cost& terms) {
  return kAlpha * terms.steps + transfer_time(Bytes{4} * terms.sent.count(), kRate) +
         transfer_time(Bytes{4} * terms.reduced.count(), kReduceRate);
}

Collective even_collective(CollectiveKind kind, std::uint32_t ranks, std::int64_t n) {
  Collective collective{kind, ranks, Elements{n}};
  if (kind == CollectiveKind::barrier) { collective.count = Elements::zero(); }
  if (kind == CollectiveKind::all_to_all_v) {
    const std::vector<Elements> blocks(std::size_t{ranks} * ranks, Elements{n / ranks});
    collective.sizes = std::make_shared<AllToAllVSizes>(ranks, blocks);
  }
  return collective;
}

Time simulated(const Algorithm& algorithm, const Collective& collective, const Layout& layout, const Cluster& cluster,
               NetworkLevel level, Bandwidth reduce_rate) {
  const auto schedule = algorithm.make(collective, layout);
  const AgentCount agent_count = schedule->agent_count();
  const bool in_network = algorithm.engine == Engine::nvswitch;
  const std::uint32_t adders = in_network ? agent_count.ranks : agent_count.agents;
  Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + adders}, 1};
  const LinkId first{cluster.fabric->out(cluster.endpoints.front()).first};
  placement.vertices.resize(agent_count.agents, cluster.fabric->target(first));
  SimulationOptions options;
  options.level = level;
  const LawCosts costs(adders, schedule->least_slots(), reduce_rate);
  return simulate(*schedule, cluster, placement, costs, options).time;
}

}  // namespace athanor::testing
