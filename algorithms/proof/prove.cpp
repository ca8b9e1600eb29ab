#include "algorithms/proof/prove.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "algorithms/proof/label.hpp"
#include "algorithms/proof/races.hpp"
#include "algorithms/proof/replay.hpp"
#include "algorithms/proof/result.hpp"
#include "algorithms/proof/structure.hpp"
#include "algorithms/proof/symbolic.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/contract.hpp"

namespace athanor {

namespace {

/// Follows who can know that whom has begun: a lane knows of its own agent, of what its messages bring and of what the
/// lanes know that it waits for. In a barrier every rank must know of every other when its last lane has ended.
/// Knowledge that comes from a slot becoming free does not count: another executor may have more slots.
class Knowledge : public Observer {
 public:
  Knowledge(const Schedule& schedule, const Wiring& wiring)
      : wiring_(wiring),
        ranks_(schedule.agent_count().ranks),
        history_(wiring.lanes.size()),
        messages_(wiring.receivers.size()) {
    for (const WiredLane& lane : wiring.lanes) {
      known_.emplace_back(schedule.agent_count().agents);
      known_.back()[lane.agent.value] = true;
    }
  }

  void on_primitive(const Execution& execution) override {
    const Primitive& primitive = execution.primitive;
    Known& mine = known_[execution.lane];
    if (primitive.wait && primitive.wait->ended > 0) {
      const std::uint32_t other = wiring_.index(wiring_.lanes[execution.lane].agent, primitive.wait->lane);
      merge(mine, history_[other][primitive.wait->ended - 1]);
    }
    for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
      std::deque<Known>& arrived = messages_[execution.first_received + i];
      merge(mine, arrived.front());
      arrived.pop_front();
    }
    history_[execution.lane].push_back(mine);
    for (const std::uint32_t sent : execution.sent) { messages_[sent].push_back(mine); }
  }
  /// The first rank that may end without knowing of another.
  std::optional<Violation> ignorant() const {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      Known known(ranks_);
      known[rank] = true;
      for (std::uint32_t lane = wiring_.first_lane[rank]; lane < wiring_.first_lane[rank + 1]; ++lane) {
        merge(known, known_[lane]);
      }
      const auto unknown = std::find(known.begin(), known.end(), false);
      if (unknown == known.end()) { continue; }
      return Violation{ViolationKind::barrier,
                       {AgentId{rank}, {}, {}, {}},
                       fmt::format("can end before rank {} has begun", unknown - known.begin())};
    }
    return std::nullopt;
  }

 private:
  using Known = std::vector<bool>;

  static void merge(Known& into, const Known& from) {
    for (std::size_t agent = 0; agent < into.size(); ++agent) { into[agent] = into[agent] || from[agent]; }
  }

  const Wiring& wiring_;
  std::uint32_t ranks_;
  std::vector<Known> known_;                 ///< by each lane now
  std::vector<std::vector<Known>> history_;  ///< by each lane after each of its primitives
  std::vector<std::deque<Known>> messages_;  ///< on each connection
};

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
