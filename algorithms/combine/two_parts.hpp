#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule.hpp"

namespace athanor {

/// What both ways to join two schedules share: where the buffers of each part lie, and which agents are alike.
class TwoParts {
 public:
  /// Requires parts that sequence() accepts.
  TwoParts(std::unique_ptr<const Schedule> first, std::unique_ptr<const Schedule> second);

  const Schedule& part(std::size_t part) const { return *parts_.at(part); }
  Roster roster() const;
  /// None for an agent that the part does not know.
  std::uint32_t lanes(std::size_t part, AgentId agent) const;
  Memory memory(AgentId agent) const;
  Elements message_limit() const;
  std::uint32_t least_slots() const;
  /// Agents whose lanes of both parts have the same programs get the same programs.
  ProgramId program(AgentId agent, LaneId lane) const;

  /// Moves the part's addresses to where its buffers lie.
  Primitive placed(std::size_t part, AgentId agent, Primitive primitive) const;
  /// Where a buffer of the part lies.
  Buffer home(std::size_t part, AgentId agent, Buffer buffer) const { return place(part, agent, buffer).buffer; }

 private:
  struct Place {
    Buffer buffer = Buffer::input;
    Elements first;
  };
  Memory part_memory(std::size_t part, AgentId agent) const;
  /// Where the first part's output lies, which is the second's input.
  Place middle(AgentId agent) const;
  Elements middle_in_scratch(AgentId agent) const;
  Place place(std::size_t part, AgentId agent, Buffer buffer) const;
  void check_in_place(AgentId agent) const;
  void find_kinds();

  std::array<std::unique_ptr<const Schedule>, 2> parts_;
  std::vector<std::uint32_t> first_program_;  ///< of each agent: that of its lane 0; the others follow
};

}  // namespace athanor
