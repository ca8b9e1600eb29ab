#include "algorithms/combine/embed.hpp"

#include <optional>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

namespace {

class Embedded final : public Schedule {
 public:
  Embedded(std::unique_ptr<const Schedule> schedule, std::vector<std::uint32_t> members, std::uint32_t ranks)
      : schedule_(std::move(schedule)),
        inner_(schedule_->roster()),
        engines_(inner_.agents - inner_.ranks),
        members_(std::move(members)),
        places_(ranks) {
    require(members_.size() % inner_.ranks == 0, "{} members are no whole groups of {}", members_.size(), inner_.ranks);
    for (std::uint32_t place = 0; place < members_.size(); ++place) {
      const std::uint32_t rank = members_[place];
      require(rank < ranks && !places_[rank], "rank {} of {} cannot be member {}", rank, ranks, place);
      places_[rank] = place;
    }
  }

  Roster roster() const override {
    const auto groups = static_cast<std::uint32_t>(members_.size()) / inner_.ranks;
    return {ranks(), ranks() + groups * engines_};
  }
  std::uint32_t lanes(AgentId agent) const override {
    return is_member(agent) ? schedule_->lanes(role(agent).agent) : 0;
  }
  Lane lane(AgentId agent, LaneId lane) const override { return schedule_->lane(role(agent).agent, lane); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    return schedule_->channel(role(agent).agent, lane);
  }
  Memory memory(AgentId agent) const override {
    return is_member(agent) ? schedule_->memory(role(agent).agent) : Memory{};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Role mine = role(agent);
    return played(mine.group, schedule_->target(mine.agent, lane, out));
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Role mine = role(agent);
    return played(mine.group, schedule_->source(mine.agent, lane, in));
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    return schedule_->at(role(agent).agent, lane, loop, step);
  }
  Elements message_limit() const override { return schedule_->message_limit(); }
  Elements shift(Buffer buffer) const override { return schedule_->shift(buffer); }
  std::uint32_t least_slots() const override { return schedule_->least_slots(); }

 private:
  struct Role {
    std::uint32_t group = 0;
    AgentId agent;
  };

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(places_.size()); }
  bool is_member(AgentId agent) const { return agent.value >= ranks() || places_[agent.value].has_value(); }
  Role role(AgentId agent) const {
    if (agent.value >= ranks()) {
      const std::uint32_t engine = agent.value - ranks();
      return {engine / engines_, AgentId{inner_.ranks + engine % engines_}};
    }
    const std::optional<std::uint32_t> place = places_[agent.value];
    require(place.has_value(), "rank {} takes no part", agent.value);
    return {*place / inner_.ranks, AgentId{*place % inner_.ranks}};
  }
  Endpoint played(std::uint32_t group, Endpoint end) const {
    const std::uint32_t inner = end.agent.value;
    end.agent = AgentId{inner < inner_.ranks ? members_[group * inner_.ranks + inner]
                                             : ranks() + group * engines_ + inner - inner_.ranks};
    return end;
  }

  std::unique_ptr<const Schedule> schedule_;
  Roster inner_;
  std::uint32_t engines_;
  std::vector<std::uint32_t> members_;
  std::vector<std::optional<std::uint32_t>> places_;  ///< of each rank in members_
};

}  // namespace

std::unique_ptr<const Schedule> embed(std::unique_ptr<const Schedule> schedule, std::vector<std::uint32_t> members,
                                      std::uint32_t ranks) {
  return std::make_unique<Embedded>(std::move(schedule), std::move(members), ranks);
}

}  // namespace athanor
