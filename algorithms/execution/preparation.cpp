#include "algorithms/execution/preparation.hpp"

#include <string>

#include "algorithms/proof/structure.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

void fail(const Schedule& schedule, const Violation& violation) {
  throw SimulationError(std::string(name(violation.kind)), explain(schedule.agent_count(), violation));
}

Wiring checked_wiring(const Schedule& schedule) {
  Wiring wiring;
  if (const auto violation = wire(schedule, wiring)) { fail(schedule, *violation); }
  if (const auto violation = check_primitives(schedule, wiring)) { fail(schedule, *violation); }
  return wiring;
}

Wiring checked_wiring(const Schedule& schedule, AgentId first, std::uint32_t step) {
  Wiring wiring;
  if (const auto violation = wire(schedule, wiring)) { fail(schedule, *violation); }
  for (AgentId agent = first; agent.value < schedule.agent_count().agents; agent.value += step) {
    if (const auto violation = check_primitives_of(schedule, wiring, agent)) { fail(schedule, *violation); }
  }
  return wiring;
}

void require_fit(const Schedule& schedule, AgentId rank, const RankBuffers& buffers, DataType type) {
  const std::size_t size = element_size(type);
  const auto& [input, output] = buffers;
  const Memory memory = schedule.memory(rank);
  const bool fits = input.size() == static_cast<std::size_t>(memory.input.count()) * size &&
                    output.size() == static_cast<std::size_t>(memory.output.count()) * size;
  require(fits, "buffers of rank {} with {} and {} bytes for {} and {} elements", rank.value, input.size(),
          output.size(), memory.input.count(), memory.output.count());
  if (!memory.in_place || input.empty() || output.empty()) { return; }
  const auto distance = reinterpret_cast<std::intptr_t>(input.data()) - reinterpret_cast<std::intptr_t>(output.data());
  require(distance == *memory.in_place * static_cast<std::int64_t>(size),
          "the input of rank {} begins {} bytes after its output, in place of {} elements", rank.value, distance,
          *memory.in_place);
}

}  // namespace athanor
