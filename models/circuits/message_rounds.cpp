#include "models/circuits/message_rounds.hpp"

#include "algorithms/proof/round_clock.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

class RoundCollector final : public Observer {
 public:
  explicit RoundCollector(const Wiring& wiring) : wiring_(wiring), clock_(wiring) {}

  void on_primitive(const Execution& execution) override {
    const std::uint32_t round = clock_.round_of(execution);
    if (execution.sent.empty()) { return; }
    if (rounds.size() < round) { rounds.resize(round); }
    for (const std::uint32_t connection : execution.sent) {
      rounds[round - 1].push_back(
          {rank(execution.lane), rank(wiring_.receivers[connection]), execution.primitive.count});
    }
  }

  MessageRounds rounds;

 private:
  std::uint32_t rank(std::uint32_t lane) const { return wiring_.lanes[lane].agent.value; }

  const Wiring& wiring_;
  RoundClock clock_;
};

}  // namespace

MessageRounds message_rounds(const Schedule& schedule) {
  const AgentCount count = schedule.agent_count();
  require(count.agents == count.ranks, "rounds of a schedule with {} engines", count.agents - count.ranks);
  Wiring wiring;
  require(!wire(schedule, wiring), "the schedule's ports do not meet");
  RoundCollector collector(wiring);
  Replay replay(schedule, wiring, schedule.least_slots());  // rounds come from what is sent, not from slots
  replay.watch(collector);
  require(!replay.run(), "the schedule does not end");
  return std::move(collector.rounds);
}

}  // namespace athanor
