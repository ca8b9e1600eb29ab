#include "algorithms/proof/knowledge.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

Knowledge::Knowledge(const Schedule& schedule, const Wiring& wiring)
    : wiring_(wiring),
      ranks_(schedule.agent_count().ranks),
      history_(wiring.lanes.size()),
      messages_(wiring.receivers.size()) {
  for (const WiredLane& lane : wiring.lanes) {
    known_.emplace_back(schedule.agent_count().agents);
    known_.back()[lane.agent.value] = true;
  }
}

void Knowledge::merge(Known& into, const Known& from) {
  for (std::size_t agent = 0; agent < into.size(); ++agent) { into[agent] = into[agent] || from[agent]; }
}

void Knowledge::on_primitive(const Execution& execution) {
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

std::optional<Violation> Knowledge::ignorant() const {
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

}  // namespace athanor
