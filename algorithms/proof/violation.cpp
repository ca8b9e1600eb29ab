#include "algorithms/proof/violation.hpp"

#include <fmt/core.h>

namespace athanor {

std::string_view name(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::memory: return "memory";
    case ViolationKind::wiring: return "wiring";
    case ViolationKind::ports: return "ports";
    case ViolationKind::cells: return "cells";
    case ViolationKind::message_limit: return "message limit";
    case ViolationKind::wait: return "wait";
    case ViolationKind::loops: return "loops";
    case ViolationKind::program: return "program";
    case ViolationKind::matching: return "matching";
    case ViolationKind::deadlock: return "deadlock";
    case ViolationKind::slots: return "slots";
    case ViolationKind::race: return "race";
    case ViolationKind::barrier: return "barrier";
    case ViolationKind::result: return "result";
  }
  return "";
}

std::string_view name(Buffer buffer) {
  switch (buffer) {
    case Buffer::input: return "input";
    case Buffer::output: return "output";
    case Buffer::scratch: return "scratch";
  }
  return "";
}

std::string describe(const AgentCount& agent_count, AgentId agent) {
  return agent.value < agent_count.ranks ? fmt::format("rank {}", agent.value)
                                         : fmt::format("engine {}", agent.value - agent_count.ranks);
}

std::string describe(const AgentCount& agent_count, const StepPlace& place) {
  std::string text = describe(agent_count, place.agent);
  if (place.lane) { text += fmt::format(", lane {}", place.lane->value); }
  if (place.loop) { text += fmt::format(", loop {}", *place.loop); }
  if (place.step) { text += fmt::format(", step {}", *place.step); }
  return text;
}

std::string explain(const AgentCount& agent_count, const Violation& violation) {
  return fmt::format("{} at {}: {}", name(violation.kind), describe(agent_count, violation.place), violation.text);
}

}  // namespace athanor
