#include "algorithms/combine/two_parts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

TwoParts::TwoParts(std::unique_ptr<const Schedule> first, std::unique_ptr<const Schedule> second)
    : parts_{std::move(first), std::move(second)} {
  const std::uint32_t ranks = parts_[0]->roster().ranks;
  require(ranks == parts_[1]->roster().ranks, "schedules over {} and {} ranks cannot follow each other", ranks,
          parts_[1]->roster().ranks);
  for (std::uint32_t agent = 0; agent < roster().agents; ++agent) { check_in_place(AgentId{agent}); }
  find_kinds();
}

void TwoParts::check_in_place(AgentId agent) const {
  const Memory first = part_memory(0, agent);
  const Memory second = part_memory(1, agent);
  if (second.in_place) {
    require(*second.in_place >= 0 && Elements{*second.in_place} + second.input <= second.output,
            "agent {}: the input of the second schedule does not lie within its output", agent.value);
  }
  require(!first.in_place || second.in_place, "agent {}: the first schedule is in place and the second is not",
          agent.value);
}

/// Two agents are alike if their lanes have the same programs in the same order.
void TwoParts::find_kinds() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> kinds;
  std::uint32_t next = 0;
  for (std::uint32_t agent = 0; agent < roster().agents; ++agent) {
    std::vector<std::uint32_t> programs{lanes(0, AgentId{agent})};
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      for (std::uint32_t lane = 0; lane < lanes(part, AgentId{agent}); ++lane) {
        programs.push_back(parts_.at(part)->lane(AgentId{agent}, LaneId{lane}).program.value);
      }
    }
    const auto [kind, is_new] = kinds.try_emplace(programs, next);
    if (is_new) { next += static_cast<std::uint32_t>(programs.size() - 1); }
    first_program_.push_back(kind->second);
  }
}

Roster TwoParts::roster() const {
  return {parts_[0]->roster().ranks, std::max(parts_[0]->roster().agents, parts_[1]->roster().agents)};
}

std::uint32_t TwoParts::lanes(std::size_t part, AgentId agent) const {
  const Schedule& schedule = *parts_.at(part);
  return agent.value < schedule.roster().agents ? schedule.lanes(agent) : 0;
}

Memory TwoParts::part_memory(std::size_t part, AgentId agent) const {
  const Schedule& schedule = *parts_.at(part);
  return agent.value < schedule.roster().agents ? schedule.memory(agent) : Memory{};
}

Elements TwoParts::message_limit() const { return std::max(parts_[0]->message_limit(), parts_[1]->message_limit()); }

std::uint32_t TwoParts::least_slots() const { return std::max(parts_[0]->least_slots(), parts_[1]->least_slots()); }

ProgramId TwoParts::program(AgentId agent, LaneId lane) const {
  return ProgramId{first_program_[agent.value] + lane.value};
}

TwoParts::Place TwoParts::middle(AgentId agent) const {
  const Memory second = part_memory(1, agent);
  if (second.in_place) { return {Buffer::output, Elements{*second.in_place}}; }
  return {Buffer::scratch, Elements::zero()};
}

Elements TwoParts::middle_in_scratch(AgentId agent) const {
  if (middle(agent).buffer != Buffer::scratch) { return Elements::zero(); }
  return std::max(part_memory(0, agent).output, part_memory(1, agent).input);
}

TwoParts::Place TwoParts::place(std::size_t part, AgentId agent, Buffer buffer) const {
  const bool first = part == 0;
  switch (buffer) {
    case Buffer::input: return first ? Place{Buffer::input, Elements::zero()} : middle(agent);
    case Buffer::output: return first ? middle(agent) : Place{Buffer::output, Elements::zero()};
    case Buffer::scratch: break;
  }
  const Elements before = first ? Elements::zero() : part_memory(0, agent).scratch;
  return {Buffer::scratch, middle_in_scratch(agent) + before};
}

Memory TwoParts::memory(AgentId agent) const {
  const Memory first = part_memory(0, agent);
  const Memory second = part_memory(1, agent);
  Memory memory{first.input, second.output, middle_in_scratch(agent) + first.scratch + second.scratch, std::nullopt};
  if (first.in_place) { memory.in_place = *first.in_place + middle(agent).first.count(); }
  return memory;
}

Primitive TwoParts::placed(std::size_t part, AgentId agent, Primitive primitive) const {
  const auto move = [&](std::optional<Cells>& cells) {
    if (!cells) { return; }
    const Place place = this->place(part, agent, cells->buffer);
    cells->buffer = place.buffer;
    cells->first += place.first;
  };
  move(primitive.operands[0]);
  move(primitive.operands[1]);
  move(primitive.store);
  return primitive;
}

}  // namespace athanor
