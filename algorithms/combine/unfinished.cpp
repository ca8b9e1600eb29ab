#include "algorithms/combine/unfinished.hpp"

#include <utility>

namespace athanor {

namespace {

class Unfinished final : public Schedule {
 public:
  explicit Unfinished(std::unique_ptr<const Schedule> schedule) : schedule_(std::move(schedule)) {}

  Roster roster() const override { return schedule_->roster(); }
  std::uint32_t lanes(AgentId agent) const override { return schedule_->lanes(agent); }
  Lane lane(AgentId agent, LaneId lane) const override { return schedule_->lane(agent, lane); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return schedule_->channel(agent, lane); }
  Memory memory(AgentId agent) const override { return schedule_->memory(agent); }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override { return schedule_->target(agent, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override { return schedule_->source(agent, lane, in); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    Primitive primitive = schedule_->at(agent, lane, loop, step);
    primitive.finish = false;
    return primitive;
  }
  Elements message_limit() const override { return schedule_->message_limit(); }
  Elements shift(Buffer buffer) const override { return schedule_->shift(buffer); }
  std::uint32_t least_slots() const override { return schedule_->least_slots(); }

 private:
  std::unique_ptr<const Schedule> schedule_;
};

}  // namespace

std::unique_ptr<const Schedule> unfinished(std::unique_ptr<const Schedule> schedule) {
  return std::make_unique<Unfinished>(std::move(schedule));
}

}  // namespace athanor
