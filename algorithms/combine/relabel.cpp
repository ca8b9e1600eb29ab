#include "algorithms/combine/relabel.hpp"

#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

class Relabelled final : public Schedule {
 public:
  Relabelled(std::unique_ptr<const Schedule> schedule, std::vector<std::uint32_t> ranks)
      : schedule_(std::move(schedule)), ranks_(std::move(ranks)), roles_(ranks_.size()) {
    const std::size_t expected = schedule_->roster().ranks;
    require(ranks_.size() == expected, "{} ranks for {} roles", ranks_.size(), expected);
    std::vector<bool> played(expected);
    for (std::uint32_t role = 0; role < expected; ++role) {
      const std::uint32_t rank = ranks_[role];
      require(rank < expected && !played[rank], "rank {} cannot play role {}", rank, role);
      played[rank] = true;
      roles_[rank] = role;
    }
  }

  Roster roster() const override { return schedule_->roster(); }
  std::uint32_t lanes(AgentId agent) const override { return schedule_->lanes(role(agent)); }
  Lane lane(AgentId agent, LaneId lane) const override { return schedule_->lane(role(agent), lane); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return schedule_->channel(role(agent), lane); }
  Memory memory(AgentId agent) const override { return schedule_->memory(role(agent)); }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return played(schedule_->target(role(agent), lane, out));
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return played(schedule_->source(role(agent), lane, in));
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    return schedule_->at(role(agent), lane, loop, step);
  }
  Elements message_limit() const override { return schedule_->message_limit(); }
  Elements shift(Buffer buffer) const override { return schedule_->shift(buffer); }
  std::uint32_t least_slots() const override { return schedule_->least_slots(); }

 private:
  AgentId role(AgentId agent) const { return agent.value < roles_.size() ? AgentId{roles_[agent.value]} : agent; }
  Endpoint played(Endpoint end) const {
    if (end.agent.value < ranks_.size()) { end.agent = AgentId{ranks_[end.agent.value]}; }
    return end;
  }

  std::unique_ptr<const Schedule> schedule_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> roles_;
};

}  // namespace

std::unique_ptr<const Schedule> relabel(std::unique_ptr<const Schedule> schedule, std::vector<std::uint32_t> ranks) {
  return std::make_unique<Relabelled>(std::move(schedule), std::move(ranks));
}

}  // namespace athanor
