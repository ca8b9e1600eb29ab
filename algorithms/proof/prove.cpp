#include "algorithms/proof/prove.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/proof/knowledge.hpp"
#include "algorithms/proof/label.hpp"
#include "algorithms/proof/races.hpp"
#include "algorithms/proof/replay.hpp"
#include "algorithms/proof/result.hpp"
#include "algorithms/proof/shared_cells.hpp"
#include "algorithms/proof/structure.hpp"
#include "algorithms/proof/symbolic.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/contract.hpp"

namespace athanor {

namespace {

Violation wrong_slots(std::string text) { return {ViolationKind::slots, {AgentId{0}, {}, {}, {}}, std::move(text)}; }

std::optional<Violation> check_one_slot_fewer(const Schedule& schedule, const Wiring& wiring, std::uint32_t least) {
  if (least == 1 || Replay(schedule, wiring, least - 1).run()) { return std::nullopt; }
  return wrong_slots(fmt::format("least_slots() is {}, but the schedule ends with {}", least, least - 1));
}

std::optional<Violation> check_execution(const Schedule& schedule, const Collective& collective, const Wiring& wiring,
                                         const ProofOptions& options) {
  const std::uint32_t least = schedule.least_slots();
  if (least == 0) { return wrong_slots("least_slots() is 0"); }
  Symbolic<Label> values(schedule, wiring);
  SharedCells shared(schedule, wiring);
  Replay replay(schedule, wiring, least);
  replay.watch(values);
  replay.watch(shared);
  Knowledge knowledge(schedule, wiring);
  if (Contract(collective).synchronises()) { replay.watch(knowledge); }
  if (auto violation = replay.run()) { return violation; }
  if (auto violation = find_race(schedule, wiring, shared, std::max(options.most_slots, least))) { return violation; }
  if (Contract(collective).synchronises()) {
    if (auto violation = knowledge.ignorant()) { return violation; }
  }
  if (const auto wrong = first_wrong(collective, values)) {
    return explain_result(schedule, collective, wiring, least, *wrong);
  }
  return check_one_slot_fewer(schedule, wiring, least);
}

}  // namespace

std::optional<Violation> prove(const Schedule& schedule, const Collective& collective, const ProofOptions& options) {
  if (auto violation = check_memory(schedule, collective)) { return violation; }
  Wiring wiring;
  if (auto violation = wire(schedule, wiring)) { return violation; }
  if (auto violation = check_primitives(schedule, wiring)) { return violation; }
  if (auto violation = check_programs(schedule, wiring, options.equal_counts)) { return violation; }
  return check_execution(schedule, collective, wiring, options);
}

}  // namespace athanor
