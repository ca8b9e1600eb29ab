#include "algorithms/check/races.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/check/clocks.hpp"
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

/// Watches the shared cells of some agents with one scope of clocks.
class RaceWatch : public Observer {
 public:
  RaceWatch(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared, const ClockScope& scope,
            std::uint32_t slots, const std::vector<AgentId>& agents)
      : wiring_(wiring), shared_(shared), scope_(scope), roster_(schedule.roster()), clocks_(wiring, scope, slots) {
    numbers_.resize(roster_.agents);
    cells_.resize(roster_.agents);
    races_.resize(roster_.agents);
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

  /// The first race of that agent.
  const std::optional<Violation>& race(AgentId agent) const { return races_[agent.value]; }

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
    if (before.lane == now.lane || races_[agent.value]) { return; }
    if (clocks_.clock(now.lane)[scope_.component[before.lane]] > before.index) { return; }
    const Place place = wiring_.lanes[now.lane].place(now.index);
    races_[agent.value] = Violation{
        ViolationKind::race, place,
        fmt::format("{} {} while nothing orders it and {}, which {} it", does, text(shared_.map(agent), address),
                    describe(roster_, wiring_.lanes[before.lane].place(before.index)), did)};
  }

  const Wiring& wiring_;
  const SharedCells& shared_;
  const ClockScope& scope_;
  Roster roster_;
  Clocks clocks_;
  std::vector<std::vector<std::uint32_t>> numbers_;
  std::vector<std::vector<History>> cells_;  ///< by agent and number of the shared cell
  std::vector<std::optional<Violation>> races_;
};

class RaceSearch {
 public:
  RaceSearch(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared, std::uint32_t slots)
      : schedule_(schedule), wiring_(wiring), shared_(shared), slots_(slots) {}

  /// Most schedules order their shared cells by the agent's own waits, which is quick to see. Agents where that is not
  /// enough are looked at with clocks that travel with the messages, a few at a time.
  std::optional<Violation> run() {
    const std::vector<AgentId> sharing = agents_that_share();
    if (sharing.empty()) { return std::nullopt; }
    const std::vector<Violation> suspects = races_among(sharing, local_scope(sharing));
    constexpr std::uint32_t kTogether = 64;
    for (std::size_t next = 0; next < suspects.size();) {
      std::vector<AgentId> agents;
      for (std::uint32_t lanes = 0; next < suspects.size() && lanes < kTogether; ++next) {
        agents.push_back(suspects[next].place.agent);
        lanes += wiring_.lanes_of(agents.back());
      }
      const std::vector<Violation> races = races_among(agents, travelling_scope(agents));
      if (!races.empty()) { return races.front(); }
    }
    return std::nullopt;
  }

 private:
  std::vector<AgentId> agents_that_share() const {
    std::vector<AgentId> agents;
    for (std::uint32_t agent = 0; agent + 1 < wiring_.first_lane.size(); ++agent) {
      if (!shared_.shared(AgentId{agent}).empty()) { agents.emplace_back(agent); }
    }
    return agents;
  }

  ClockScope empty_scope() const {
    const std::size_t lanes = wiring_.lanes.size();
    return {std::vector<std::uint32_t>(lanes, ClockScope::kNotFollowed), std::vector<std::uint32_t>(lanes),
            shared_.awaited(), false};
  }

  ClockScope local_scope(const std::vector<AgentId>& agents) const {
    ClockScope scope = empty_scope();
    for (const AgentId agent : agents) {
      for (std::uint32_t lane = 0; lane < wiring_.lanes_of(agent); ++lane) {
        scope.component[wiring_.index(agent, LaneId{lane})] = lane;
        scope.width[wiring_.index(agent, LaneId{lane})] = wiring_.lanes_of(agent);
      }
    }
    return scope;
  }

  ClockScope travelling_scope(const std::vector<AgentId>& agents) const {
    ClockScope scope = empty_scope();
    std::uint32_t next = 0;
    for (const AgentId agent : agents) {
      for (std::uint32_t lane = 0; lane < wiring_.lanes_of(agent); ++lane) {
        scope.component[wiring_.index(agent, LaneId{lane})] = next++;
      }
    }
    scope.width.assign(wiring_.lanes.size(), next);
    scope.over_messages = true;
    return scope;
  }

  std::vector<Violation> races_among(const std::vector<AgentId>& agents, const ClockScope& scope) const {
    RaceWatch watch(schedule_, wiring_, shared_, scope, slots_, agents);
    Replay replay(schedule_, wiring_, slots_);
    replay.watch(watch);
    require(!replay.run().has_value(), "a schedule that ends does not end with {} slots", slots_);
    std::vector<Violation> races;
    for (const AgentId agent : agents) {
      if (watch.race(agent)) { races.push_back(*watch.race(agent)); }
    }
    return races;
  }

  const Schedule& schedule_;
  const Wiring& wiring_;
  const SharedCells& shared_;
  std::uint32_t slots_;
};

}  // namespace

std::optional<Violation> find_race(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared,
                                   std::uint32_t slots) {
  return RaceSearch(schedule, wiring, shared, slots).run();
}

}  // namespace athanor
