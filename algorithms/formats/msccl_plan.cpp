#include "algorithms/formats/msccl_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/core.h>

#include "algorithms/formats/msccl_document.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kMostPrimitives = 1U << 20U;

[[noreturn]] void refuse(std::string reason, std::string hint = "") {
  throw ScenarioError(Problem{"no-msccl-form", std::move(reason), {}, std::move(hint)});
}

bool strided(const Cells& cells, Elements count) { return cells.run > Elements::zero() && count > cells.run; }

/// Which ports of a lane are used, and with which other.
class Pairs {
 public:
  Pairs(std::uint32_t ins, std::uint32_t outs) : ins_(ins), outs_(outs) {}

  void see(const Primitive& primitive) {
    const Ports& in = primitive.receives;
    const Ports& out = primitive.sends;
    const bool pair = in.count == 1 && out.count == 1;
    for (std::uint32_t i = 0; i < in.count; ++i) { ins_[in.first + i].used = true; }
    for (std::uint32_t i = 0; i < out.count; ++i) { outs_[out.first + i].used = true; }
    if (!pair) { return; }
    ins_[in.first].meet(out.first);
    outs_[out.first].meet(in.first);
  }

  std::vector<LanePlan::Block> blocks() const {
    std::vector<LanePlan::Block> blocks;
    for (std::uint32_t in = 0; in < ins_.size(); ++in) {
      if (!ins_[in].used) { continue; }
      const std::optional<std::uint32_t> out = ins_[in].only();
      blocks.push_back({in, out && outs_[*out].only() == in ? out : std::nullopt, 0});
    }
    for (std::uint32_t out = 0; out < outs_.size(); ++out) {
      const std::optional<std::uint32_t> in = outs_[out].only();
      const bool placed = in && ins_[*in].only() == out;
      if (outs_[out].used && !placed) { blocks.push_back({std::nullopt, out, 0}); }
    }
    if (blocks.empty()) { blocks.emplace_back(); }
    return blocks;
  }

 private:
  struct Port {
    bool used = false;
    bool several = false;
    std::optional<std::uint32_t> partner;

    void meet(std::uint32_t other) {
      several = several || (partner && *partner != other);
      partner = other;
    }
    std::optional<std::uint32_t> only() const { return several ? std::nullopt : partner; }
  };
  std::vector<Port> ins_;
  std::vector<Port> outs_;
};

/// The two peers of a connection.
using Peers = std::pair<std::uint32_t, std::uint32_t>;

class Planner {
 public:
  Planner(const Schedule& schedule, const Collective& collective) : schedule_(schedule), collective_(collective) {}

  MscclPlan plan() {
    check();
    const auto violation = wire(schedule_, plan_.wiring);
    require(!violation, "the schedule to export is not wired");
    divisor_ = collective_.count.count();
    for (std::uint32_t rank = 0; rank < collective_.ranks; ++rank) { divide(schedule_.memory(AgentId{rank})); }
    for (const WiredLane& lane : plan_.wiring.lanes) { scan(lane); }
    plan_.chunk = Elements{divisor_};
    choose_channels();
    number_blocks();
    return std::move(plan_);
  }

 private:
  void check() const {
    const AgentCount agent_count = schedule_.agent_count();
    if (agent_count.agents > agent_count.ranks) {
      refuse(fmt::format("{} engines take part, and MSCCL knows gpus only", agent_count.agents - agent_count.ranks));
    }
    if (agent_count.ranks < 2) { refuse("MSCCL's algorithms are for two gpus or more"); }
    if (collective_.count == Elements::zero()) { refuse("there is nothing to cut into chunks in a payload of 0"); }
    if (has_parts(collective_.kind) && collective_.count % collective_.ranks != Elements::zero()) {
      refuse(fmt::format("{} ranks do not divide {} elements, and MSCCL's ranks have equal parts", collective_.ranks,
                         collective_.count.count()));
    }
  }

  void divide(Elements by) { divisor_ = std::gcd(divisor_, by.count()); }
  void divide(const Memory& memory) {
    divide(memory.input);
    divide(memory.output);
    divide(memory.scratch);
  }

  void divide(const std::optional<Cells>& cells, Elements count) {
    if (!cells) { return; }
    divide(cells->first);
    if (!strided(*cells, count)) { return; }
    divide(cells->run);
    divide(cells->stride);
    plan_.single_chunks = true;
  }

  void scan(const WiredLane& lane) {
    if (lane.primitives() > kMostPrimitives) {
      refuse(fmt::format("{} has {} primitives", describe(schedule_.agent_count(), {lane.agent, lane.lane, {}, {}}),
                         lane.primitives()),
             "MSCCL repeats an algorithm by itself: export one loop of it");
    }
    Pairs pairs(lane.shape.in_ports, lane.shape.out_ports);
    LanePlan plan;
    for (std::uint64_t index = 0; index < lane.primitives(); ++index) {
      const Primitive primitive = schedule_.at(lane.agent, lane.lane, index / lane.shape.steps,
                                               static_cast<std::uint32_t>(index % lane.shape.steps));
      if (primitive.count == Elements::zero()) { continue; }
      divide(primitive.count);
      divide(primitive.operands[0], primitive.count);
      divide(primitive.operands[1], primitive.count);
      divide(primitive.store, primitive.count);
      plan.longest = std::max(plan.longest, primitive.count);
      pairs.see(primitive);
    }
    plan.blocks = pairs.blocks();
    plan_.lanes.push_back(std::move(plan));
  }

  std::uint32_t in_connection(std::size_t lane, std::uint32_t port) const {
    return plan_.wiring.lanes[lane].first_in + port;
  }
  std::uint32_t out_connection(std::size_t lane, std::uint32_t port) const {
    return plan_.wiring.outgoing[plan_.wiring.lanes[lane].first_out + port];
  }
  Peers peers(std::uint32_t connection) const {
    return {plan_.wiring.lanes[plan_.wiring.senders[connection]].agent.value,
            plan_.wiring.lanes[plan_.wiring.receivers[connection]].agent.value};
  }

  std::uint32_t root(std::uint32_t connection) {
    while (parents_[connection] != connection) {
      parents_[connection] = parents_[parents_[connection]];
      connection = parents_[connection];
    }
    return connection;
  }

  /// Connections of one thread block have one channel, and two connections between the same peers have different
  /// ones. Where both cannot hold, the thread blocks of these connections are separated.
  void choose_channels() {
    parents_.resize(plan_.wiring.receivers.size());
    std::iota(parents_.begin(), parents_.end(), 0U);
    for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
      for (const LanePlan::Block& block : plan_.lanes[lane].blocks) {
        if (block.in && block.out) {
          parents_[root(out_connection(lane, *block.out))] = root(in_connection(lane, *block.in));
        }
      }
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
    for (std::uint32_t connection = 0; connection < parents_.size(); ++connection) {
      groups[root(connection)].push_back(connection);
    }
    channels_.resize(parents_.size());
    for (const auto& [any, members] : groups) { choose_channel(members); }
    take_channels();
  }

  void choose_channel(const std::vector<std::uint32_t>& members) {
    std::set<Peers> distinct;
    for (const std::uint32_t connection : members) { distinct.insert(peers(connection)); }
    if (distinct.size() < members.size()) {
      for (const std::uint32_t connection : members) {
        separated_.insert(connection);
        choose_channel({connection});
      }
      return;
    }
    std::uint32_t channel = 0;
    const auto taken = [&](const Peers& pair) { return taken_[pair].contains(channel); };
    while (std::any_of(distinct.begin(), distinct.end(), taken)) { ++channel; }
    for (const Peers& pair : distinct) { taken_[pair].insert(channel); }
    for (const std::uint32_t connection : members) { channels_[connection] = channel; }
    plan_.channels = std::max(plan_.channels, channel + 1);
  }

  void take_channels() {
    for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
      std::vector<LanePlan::Block> blocks;
      for (LanePlan::Block block : plan_.lanes[lane].blocks) {
        if (block.in && block.out && separated_.contains(in_connection(lane, *block.in))) {
          blocks.push_back({std::nullopt, block.out, channels_[out_connection(lane, *block.out)]});
          block.out.reset();
        }
        if (block.in) { block.channel = channels_[in_connection(lane, *block.in)]; }
        if (!block.in && block.out) { block.channel = channels_[out_connection(lane, *block.out)]; }
        blocks.push_back(block);
      }
      plan_.lanes[lane].blocks = std::move(blocks);
    }
  }

  void number_blocks() {
    std::uint32_t next = 0;
    for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
      if (plan_.wiring.lanes[lane].lane.value == 0) { next = 0; }
      plan_.lanes[lane].first_block = next;
      next += static_cast<std::uint32_t>(plan_.lanes[lane].blocks.size());
    }
  }

  const Schedule& schedule_;
  const Collective& collective_;
  MscclPlan plan_;
  std::int64_t divisor_ = 0;
  std::vector<std::uint32_t> parents_;   ///< of each connection, towards the representative of its group
  std::vector<std::uint32_t> channels_;  ///< of each connection
  std::set<std::uint32_t> separated_;
  std::map<Peers, std::set<std::uint32_t>> taken_;
};

}  // namespace

std::uint32_t LanePlan::block_of_in(std::uint32_t port) const {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.in == port; });
  return static_cast<std::uint32_t>(found - blocks.begin());
}

std::uint32_t LanePlan::block_of_out(std::uint32_t port) const {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.out == port; });
  return static_cast<std::uint32_t>(found - blocks.begin());
}

MscclPlan plan_msccl(const Schedule& schedule, const Collective& collective) {
  return Planner(schedule, collective).plan();
}

}  // namespace athanor
