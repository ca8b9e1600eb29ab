#include "algorithms/proof/races.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "algorithms/proof/replay.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// Whose progress vector clocks follow, and how far the knowledge of it travels.
struct ClockScope {
  std::vector<bool> followed;  ///< by lane in the wiring
  std::vector<bool> awaited;   ///< by lane: does some lane ever wait for this one?
  bool over_messages = false;  ///< do messages and freed slots carry clocks, or only waits?
};

constexpr auto kByLane = [](const auto& entry, std::uint32_t lane) { return entry.lane < lane; };

/// The clocks of all lanes during a replay: of which followed lanes a lane knows how many primitives have ended. Kept
/// as sorted lists, for most lanes know of few others. Requires that `scope` outlives it.
class Clocks {
 public:
  Clocks(const Wiring& wiring, const ClockScope& scope, std::uint32_t slots)
      : wiring_(wiring),
        scope_(scope),
        slots_(slots),
        clocks_(wiring.lanes.size()),
        history_(wiring.lanes.size()),
        sent_(scope.over_messages ? wiring.receivers.size() : 0),
        received_(sent_.size()),
        messages_(sent_.size() * slots),
        releases_(messages_.size()) {}

  /// Joins what the primitive waits for, receives and finds free. To be called first.
  void start(const Execution& execution) {
    Clock& mine = clocks_[execution.lane];
    if (const auto& wait = execution.primitive.wait) {
      join(mine, history_[wiring_.index(wiring_.lanes[execution.lane].agent, wait->lane)].after(wait->ended));
    }
    if (!scope_.over_messages) { return; }
    for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
      const std::uint32_t connection = execution.first_received + i;
      join(mine, messages_[slot(connection, received_[connection])]);
    }
    for (const std::uint32_t connection : execution.sent) {
      if (sent_[connection] >= slots_) { join(mine, releases_[slot(connection, sent_[connection])]); }
    }
  }
  /// Passes the clock on. To be called last.
  void end(const Execution& execution) {
    if (scope_.followed[execution.lane]) { advance(execution.lane, execution.index + 1); }
    const Clock& mine = clocks_[execution.lane];
    if (scope_.awaited[execution.lane]) {
      History& history = history_[execution.lane];
      history.entries.insert(history.entries.end(), mine.begin(), mine.end());
      history.ends.push_back(history.entries.size());
    }
    if (!scope_.over_messages) { return; }
    for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
      const std::uint32_t connection = execution.first_received + i;
      releases_[slot(connection, received_[connection]++)] = mine;
    }
    for (const std::uint32_t connection : execution.sent) { messages_[slot(connection, sent_[connection]++)] = mine; }
  }

  /// Primitives of the followed lane `other` that have ended for certain when `lane` starts its present one.
  std::uint64_t ended(std::uint32_t lane, std::uint32_t other) const {
    const auto entry = std::lower_bound(clocks_[lane].begin(), clocks_[lane].end(), other, kByLane);
    return entry != clocks_[lane].end() && entry->lane == other ? entry->ended : 0;
  }

 private:
  struct Entry {
    std::uint32_t lane = 0;
    std::uint64_t ended = 0;
  };
  using Clock = std::vector<Entry>;
  /// The clock of a lane at the end of each primitive, one after the other.
  struct History {
    std::vector<Entry> entries;
    std::vector<std::size_t> ends;
    std::span<const Entry> after(std::uint64_t primitives) const;
  };

  /// Most joins tell of no new lane; only the others make a new list.
  void join(Clock& into, std::span<const Entry> from) {
    auto mine = into.begin();
    auto next = from.begin();
    for (; next != from.end(); ++next) {
      while (mine != into.end() && mine->lane < next->lane) { ++mine; }
      if (mine == into.end() || mine->lane != next->lane) { break; }
      mine->ended = std::max(mine->ended, next->ended);
    }
    if (next == from.end()) { return; }
    joined_.assign(into.begin(), mine);
    for (; next != from.end(); ++next) {
      for (; mine != into.end() && mine->lane < next->lane; ++mine) { joined_.push_back(*mine); }
      joined_.push_back(*next);
      if (mine == into.end() || mine->lane != next->lane) { continue; }
      joined_.back().ended = std::max(mine->ended, next->ended);
      ++mine;
    }
    joined_.insert(joined_.end(), mine, into.end());
    into.swap(joined_);
  }
  void advance(std::uint32_t lane, std::uint64_t ended) {
    Clock& mine = clocks_[lane];
    const auto entry = std::lower_bound(mine.begin(), mine.end(), lane, kByLane);
    if (entry == mine.end() || entry->lane != lane) {
      mine.insert(entry, {lane, ended});
    } else {
      entry->ended = ended;
    }
  }
  std::size_t slot(std::uint32_t connection, std::uint64_t message) const {
    return connection * std::size_t{slots_} + message % slots_;
  }

  const Wiring& wiring_;
  const ClockScope& scope_;
  std::uint32_t slots_;
  std::vector<Clock> clocks_;        ///< of each lane
  std::vector<History> history_;     ///< of each awaited lane
  std::vector<std::uint64_t> sent_;  ///< on each connection
  std::vector<std::uint64_t> received_;
  std::vector<Clock> messages_;  ///< in the slots of each connection
  std::vector<Clock> releases_;  ///< of the receives that freed these slots
  Clock joined_;
};

std::span<const Clocks::Entry> Clocks::History::after(std::uint64_t primitives) const {
  if (primitives == 0) { return {}; }
  const std::size_t first = primitives == 1 ? 0 : ends[primitives - 2];
  return std::span(entries).subspan(first, ends[primitives - 1] - first);
}

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

SharedCells::SharedCells(const Schedule& schedule, const Wiring& wiring)
    : wiring_(wiring), awaited_(wiring.lanes.size()) {
  const std::uint32_t agents = schedule.agent_count().agents;
  cells_.resize(agents);
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    maps_.emplace_back(schedule.memory(AgentId{agent}));
    if (wiring.lanes_of(AgentId{agent}) > 1) { cells_[agent].resize(static_cast<std::size_t>(maps_.back().size())); }
  }
}

void SharedCells::on_primitive(const Execution& execution) {
  const std::uint32_t agent = wiring_.lanes[execution.lane].agent.value;
  const Primitive& primitive = execution.primitive;
  if (primitive.wait) { awaited_[wiring_.index(AgentId{agent}, primitive.wait->lane)] = true; }
  if (cells_[agent].empty()) { return; }
  for (const auto& operand : primitive.operands) {
    if (operand) { touch(agent, *operand, primitive.count, execution.lane, false); }
  }
  if (primitive.store) { touch(agent, *primitive.store, primitive.count, execution.lane, true); }
}

void SharedCells::touch(std::uint32_t agent, const Cells& cells, Elements count, std::uint32_t lane, bool write) {
  maps_[agent].each_run(cells, count, [&](std::int64_t first, std::int64_t length) {
    for (std::int64_t address = first; address < first + length; ++address) {
      Cell& cell = cells_[agent][static_cast<std::size_t>(address)];
      if (cell.lane == 0) { cell.lane = lane + 1; }
      cell.several = cell.several || cell.lane != lane + 1;
      cell.written = cell.written || write;
    }
  });
}

std::vector<std::uint32_t> SharedCells::shared(AgentId agent) const {
  const std::vector<Cell>& cells = cells_[agent.value];
  std::vector<std::uint32_t> numbers(cells.size());
  std::uint32_t count = 0;
  for (std::size_t address = 0; address < cells.size(); ++address) {
    if (cells[address].several && cells[address].written) { numbers[address] = ++count; }
  }
  return count > 0 ? numbers : std::vector<std::uint32_t>{};
}

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
