#include "algorithms/proof/races.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/proof/clocks.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

struct Access {
  std::uint32_t lane = 0;   ///< in the wiring
  std::uint64_t index = 0;  ///< of the primitive
};

/// Since the last write: that write, and the latest read of each lane.
struct History {
  std::optional<Access> write;
  std::vector<Access> reads;
};

std::string text(const MemoryMap& map, std::int64_t address) {
  const auto [buffer, element] = map.at(address);
  return fmt::format("{}[{}]", name(buffer), element);
}

/// Watches the shared cells of some agents. Accesses that follow one of a lane out of scope are not looked at.
class RaceWatch : public Observer {
 public:
  RaceWatch(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared, const ClockScope& scope,
            std::uint32_t slots, const std::vector<AgentId>& agents)
      : wiring_(wiring),
        shared_(shared),
        scope_(scope),
        agent_count_(schedule.agent_count()),
        clocks_(wiring, scope, slots),
        suspects_(wiring.lanes.size()) {
    numbers_.resize(agent_count_.agents);
    cells_.resize(agent_count_.agents);
    for (const AgentId agent : agents) {
      numbers_[agent.value] = shared.shared(agent);
      const auto most = std::max_element(numbers_[agent.value].begin(), numbers_[agent.value].end());
      cells_[agent.value].resize(std::size_t{*most} + 1);
    }
  }

  void on_primitive(const Execution& execution) override {
    clocks_.start(execution);
    const AgentId agent = wiring_.lanes[execution.lane].agent;
    if (!numbers_[agent.value].empty()) {
      const Primitive& primitive = execution.primitive;
      for (const auto& operand : primitive.operands) {
        if (operand) { touch(agent, execution, *operand, false); }
      }
      if (primitive.store) { touch(agent, execution, *primitive.store, true); }
    }
    clocks_.end(execution);
  }

  const std::optional<Violation>& race() const { return race_; }
  /// By lane: those whose accesses came before one that they are not ordered with.
  const std::vector<bool>& suspects() const { return suspects_; }

 private:
  void touch(AgentId agent, const Execution& execution, const Cells& cells, bool write) {
    const std::vector<std::uint32_t>& numbers = numbers_[agent.value];
    shared_.map(agent).each_run(cells, execution.primitive.count, [&](std::int64_t first, std::int64_t length) {
      for (std::int64_t address = first; address < first + length; ++address) {
        const std::uint32_t number = numbers[static_cast<std::size_t>(address)];
        if (number > 0) { access(agent, cells_[agent.value][number], execution, address, write); }
      }
    });
  }

  void access(AgentId agent, History& history, const Execution& execution, std::int64_t address, bool write) {
    const Access now{execution.lane, execution.index};
    if (history.write) { compare(agent, *history.write, now, address, write ? "writes" : "reads", "writes"); }
    if (write) {
      for (const Access& read : history.reads) { compare(agent, read, now, address, "writes", "reads"); }
      history.reads.clear();
      history.write = now;
      return;
    }
    const auto mine = std::find_if(history.reads.begin(), history.reads.end(),
                                   [&](const Access& read) { return read.lane == now.lane; });
    if (mine == history.reads.end()) {
      history.reads.push_back(now);
    } else {
      *mine = now;
    }
  }

  void compare(AgentId agent, const Access& before, const Access& now, std::int64_t address, std::string_view does,
               std::string_view did) {
    if (before.lane == now.lane || !scope_.followed[before.lane]) { return; }
    if (clocks_.ended(now.lane, before.lane) > before.index) { return; }
    suspects_[before.lane] = true;
    if (race_) { return; }
    const StepPlace place = wiring_.lanes[now.lane].place(now.index);
    race_ = Violation{
        ViolationKind::race, place,
        fmt::format("{} {} while nothing orders it and {}, which {} it", does, text(shared_.map(agent), address),
                    describe(agent_count_, wiring_.lanes[before.lane].place(before.index)), did)};
  }

  const Wiring& wiring_;
  const SharedCells& shared_;
  const ClockScope& scope_;
  AgentCount agent_count_;
  Clocks clocks_;
  std::vector<std::vector<std::uint32_t>> numbers_;
  std::vector<std::vector<History>> cells_;  ///< by agent and number of the shared cell
  std::optional<Violation> race_;
  std::vector<bool> suspects_;
};

/// The agents with shared cells; their lanes are followed.
std::vector<AgentId> sharing_agents(const SharedCells& shared, const Wiring& wiring, std::vector<bool>& followed) {
  std::vector<AgentId> agents;
  for (std::uint32_t agent = 0; agent + 1 < wiring.first_lane.size(); ++agent) {
    if (shared.shared(AgentId{agent}).empty()) { continue; }
    agents.emplace_back(agent);
    std::fill(followed.begin() + wiring.first_lane[agent], followed.begin() + wiring.first_lane[agent + 1], true);
  }
  return agents;
}

}  // namespace

/// Most schedules order their shared cells by the agent's own waits, which is quick to see. Lanes for which that is not
/// enough are followed once more by clocks that travel with the messages. Replays repeat exactly, so that accesses
/// which were ordered the first time need no second look.
std::optional<Violation> find_race(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared,
                                   std::uint32_t slots) {
  ClockScope scope{std::vector<bool>(wiring.lanes.size()), shared.awaited(), false};
  const std::vector<AgentId> agents = sharing_agents(shared, wiring, scope.followed);
  for (const bool over_messages : {false, true}) {
    if (agents.empty()) { return std::nullopt; }
    scope.over_messages = over_messages;
    RaceWatch watch(schedule, wiring, shared, scope, slots, agents);
    Replay replay(schedule, wiring, slots);
    replay.watch(watch);
    require(!replay.run().has_value(), "a schedule that ends does not end with {} slots", slots);
    if (!watch.race() || over_messages) { return watch.race(); }
    scope.followed = watch.suspects();
  }
  return std::nullopt;
}

}  // namespace athanor
