#include "algorithms/schedule/reversed.hpp"

#include <optional>
#include <utility>

#include "algorithms/schedule/contract.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

CollectiveKind dual_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather: return CollectiveKind::reduce_scatter;
    case CollectiveKind::reduce_scatter: return CollectiveKind::all_gather;
    case CollectiveKind::broadcast: return CollectiveKind::reduce;
    case CollectiveKind::reduce: return CollectiveKind::broadcast;
    case CollectiveKind::gather: return CollectiveKind::scatter;
    case CollectiveKind::scatter: return CollectiveKind::gather;
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: break;
  }
  require(false, "{} is nothing else backwards", name(kind));
  return kind;
}

Buffer opposite(Buffer buffer) {
  switch (buffer) {
    case Buffer::input: return Buffer::output;
    case Buffer::output: return Buffer::input;
    case Buffer::scratch: break;
  }
  return Buffer::scratch;
}

void turn(std::optional<Cells>& cells) {
  if (cells) { cells->buffer = opposite(cells->buffer); }
}

class Reversed final : public Schedule {
 public:
  Reversed(std::unique_ptr<const Schedule> schedule, const Collective& collective, std::uint32_t together)
      : schedule_(std::move(schedule)),
        collective_(collective),
        together_(together),
        reduces_(reduces(collective.kind)) {}

  AgentCount agent_count() const override { return schedule_->agent_count(); }
  std::uint32_t lanes(AgentId agent) const override { return schedule_->lanes(agent); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return schedule_->channel(agent, lane); }
  Lane lane(AgentId agent, LaneId lane) const override {
    Lane shape = schedule_->lane(agent, lane);
    std::swap(shape.in_ports, shape.out_ports);
    return shape;
  }
  Memory memory(AgentId agent) const override {
    Memory memory = user_memory(collective_, agent.value);
    memory.scratch = schedule_->memory(agent).scratch;
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override { return schedule_->source(agent, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override { return schedule_->target(agent, lane, in); }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t last = schedule_->lane(agent, lane).steps - together_;  // the last whole begins here
    const std::uint32_t whole = step / together_ * together_;
    Primitive primitive = schedule_->at(agent, lane, loop, last - whole + (step - whole));
    require(!primitive.wait, "agent {} lane {} step {}: what waits cannot be reversed", agent.value, lane.value, step);
    std::swap(primitive.receives, primitive.sends);
    std::swap(primitive.operands[0], primitive.store);
    turn(primitive.operands[0]);
    turn(primitive.store);
    if (reduces_ && primitive.store && !primitive.operands[0]) { primitive.operands[0] = primitive.store; }
    primitive.finish = reduces_ && primitive.store && primitive.store->buffer == Buffer::output;
    if (collective_.in_place && is_there(agent, primitive)) { primitive.store.reset(); }
    return primitive;
  }

  StepRange alike(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t steps = schedule_->lane(agent, lane).steps;
    const std::uint32_t whole = step / together_ * together_;
    const StepRange there = schedule_->alike(agent, lane, loop, steps - together_ - whole + (step - whole));
    const bool wholes = there.first % together_ == 0 && there.end % together_ == 0;
    if (!wholes || (there.period > 1 && there.period % together_ != 0)) { return {step, step + 1}; }
    return {steps - there.end, steps - there.first, there.period};
  }
  Elements message_limit() const override { return schedule_->message_limit(); }
  Elements shift(Buffer buffer) const override { return schedule_->shift(opposite(buffer)); }
  std::uint32_t least_slots() const override { return schedule_->least_slots(); }

 private:
  /// Does it copy elements of the input to where they lie in the output?
  bool is_there(AgentId agent, const Primitive& primitive) const {
    const std::optional<Cells>& from = primitive.operands[0];
    const std::optional<Cells>& to = primitive.store;
    if (!from || !to || primitive.receives.count > 0 || primitive.finish) { return false; }
    const auto in_place = user_memory(collective_, agent.value).in_place;
    return in_place && from->buffer == Buffer::input && to->buffer == Buffer::output &&
           from->first.count() + *in_place == to->first.count();
  }

  std::unique_ptr<const Schedule> schedule_;
  Collective collective_;
  std::uint32_t together_;
  bool reduces_;
};

}  // namespace

Collective dual_of(const Collective& collective) {
  Collective dual = collective;
  dual.kind = dual_of(collective.kind);
  dual.in_place = false;
  return dual;
}

std::unique_ptr<const Schedule> reversed(std::unique_ptr<const Schedule> schedule, const Collective& collective,
                                         std::uint32_t together) {
  return std::make_unique<Reversed>(std::move(schedule), collective, together);
}

}  // namespace athanor
