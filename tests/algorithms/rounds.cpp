#include "tests/algorithms/rounds.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/check.hpp"

namespace athanor {

namespace {

struct Runner {
  AgentId agent;
  LaneId lane;
  Lane shape;
  std::vector<std::uint32_t> ends;  ///< time of each primitive that has ended

  bool done() const { return ends.size() == shape.loops * shape.steps; }
};

class Counting {
 public:
  explicit Counting(const Schedule& schedule) : schedule_(schedule) {
    for (std::uint32_t agent = 0; agent < schedule.agent_count().agents; ++agent) {
      for (std::uint32_t lane = 0; lane < schedule.lanes(AgentId{agent}); ++lane) {
        index_[{agent, lane}] = runners_.size();
        runners_.push_back({AgentId{agent}, LaneId{lane}, schedule.lane(AgentId{agent}, LaneId{lane}), {}});
      }
    }
  }

  Cost run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Runner& runner : runners_) {
        while (!runner.done() && advance(runner)) { moved = true; }
      }
    }
    for (const Runner& runner : runners_) { require(runner.done(), "the schedule does not end"); }
    return total();
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  bool advance(Runner& runner) {
    const Primitive primitive = schedule_.at(runner.agent, runner.lane, runner.ends.size() / runner.shape.steps,
                                             static_cast<std::uint32_t>(runner.ends.size() % runner.shape.steps));
    std::uint32_t time = runner.ends.empty() ? 0 : runner.ends.back();
    if (primitive.wait && primitive.wait->ended > 0) {
      const Runner& other = runners_.at(index_.at({runner.agent.value, primitive.wait->lane.value}));
      if (other.ends.size() < primitive.wait->ended) { return false; }
      time = std::max(time, other.ends.at(primitive.wait->ended - 1));
    }
    for (std::uint32_t port = 0; port < primitive.receives.count; ++port) {
      const auto& arrived = messages_[{runner.agent.value, runner.lane.value, primitive.receives.first + port}];
      if (arrived.empty()) { return false; }
      time = std::max(time, arrived.front());
    }
    finish(runner, primitive, time + (primitive.sends.count > 0 ? 1 : 0));
    return true;
  }

  void finish(Runner& runner, const Primitive& primitive, std::uint32_t end) {
    for (std::uint32_t port = 0; port < primitive.receives.count; ++port) {
      messages_[{runner.agent.value, runner.lane.value, primitive.receives.first + port}].pop_front();
    }
    for (std::uint32_t port = 0; port < primitive.sends.count; ++port) {
      const Endpoint far = schedule_.target(runner.agent, runner.lane, PortId{primitive.sends.first + port});
      messages_[{far.agent.value, far.lane.value, far.port.value}].push_back(end);
    }
    runner.ends.push_back(end);
    sent_[runner.agent.value] += primitive.count * primitive.sends.count;
    if (primitive.inputs() > 1) { reduced_[runner.agent.value] += primitive.count * (primitive.inputs() - 1); }
  }

  Cost total() {
    Cost cost;
    for (const Runner& runner : runners_) {
      if (!runner.ends.empty()) { cost.steps = std::max(cost.steps, runner.ends.back()); }
    }
    for (std::uint32_t rank = 0; rank < schedule_.agent_count().ranks; ++rank) {
      cost.sent = std::max(cost.sent, sent_[rank]);
      cost.reduced = std::max(cost.reduced, reduced_[rank]);
    }
    return cost;
  }

  const Schedule& schedule_;
  std::vector<Runner> runners_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index_;
  std::map<Key, std::deque<std::uint32_t>> messages_;
  std::map<std::uint32_t, Elements> sent_;
  std::map<std::uint32_t, Elements> reduced_;
};

}  // namespace

Cost counted(const Schedule& schedule) { return Counting(schedule).run(); }

}  // namespace athanor
