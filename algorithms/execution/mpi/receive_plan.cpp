#include "algorithms/execution/mpi/receive_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "algorithms/proof/memory_map.hpp"

namespace athanor {

namespace {

/// Addresses [first, end) that a primitive of a lane reads or stores.
struct Access {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::uint32_t lane = 0;
  std::uint64_t index = 0;
};

/// What the lanes of an agent know of each other by their waits.
class Knowledge {
 public:
  /// In the order of a lane's primitives: from `index` on, `lane` knows that so many of `other` have ended.
  void learn(std::uint32_t lane, std::uint64_t index, std::uint32_t other, std::uint64_t ended) {
    std::vector<Step>& steps = steps_[{lane, other}];
    if (steps.empty() || ended > steps.back().ended) { steps.push_back({index, ended}); }
  }

  /// The primitive of `lane` that is the first to start after the one of `other` has ended, as far as waits tell.
  std::optional<std::uint64_t> first_after(std::uint32_t lane, std::uint32_t other, std::uint64_t index) const {
    const auto steps = steps_.find({lane, other});
    if (steps == steps_.end()) { return std::nullopt; }
    const auto found = std::upper_bound(steps->second.begin(), steps->second.end(), index,
                                        [](std::uint64_t i, const Step& step) { return i < step.ended; });
    return found == steps->second.end() ? std::nullopt : std::optional(found->index);
  }

 private:
  struct Step {
    std::uint64_t index = 0;
    std::uint64_t ended = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Step>> steps_;  ///< of a lane, about another
};

/// Everything that the lanes of one agent do to its memory.
class Accesses {
 public:
  Accesses(const Schedule& schedule, const Wiring& wiring, AgentId agent) : map_(schedule.memory(agent)) {
    for (std::uint32_t lane = wiring.first_lane[agent.value]; lane < wiring.first_lane[agent.value + 1]; ++lane) {
      const WiredLane& wired = wiring.lanes[lane];
      for (std::uint64_t index = 0; index < wired.primitives(); ++index) {
        const Primitive primitive = wired.at(schedule, index);
        if (const auto& wait = primitive.wait) {
          knowledge_.learn(lane, index, wiring.index(agent, wait->lane), wait->ended);
        }
        for (const auto& operand : primitive.operands) { add(operand, primitive.count, lane, index); }
        add(primitive.store, primitive.count, lane, index);
      }
    }
    std::sort(accesses_.begin(), accesses_.end(), [](const Access& a, const Access& b) { return a.first < b.first; });
    std::int64_t end = 0;
    for (const Access& access : accesses_) { ends_.push_back(end = std::max(end, access.end)); }
  }

  /// After how many ended primitives of the lane nothing touches the store of its primitive `index` before that one.
  std::optional<std::uint64_t> untouched_from(const Cells& store, Elements count, std::uint32_t lane,
                                              std::uint64_t index) const {
    const Access wanted = hull(store, count, lane, index);
    const auto after = std::lower_bound(accesses_.begin(), accesses_.end(), wanted.end,
                                        [](const Access& access, std::int64_t end) { return access.first < end; });
    std::uint64_t from = 0;
    auto left = static_cast<std::size_t>(after - accesses_.begin());
    for (int looked = 0; left > 0 && ends_[left - 1] > wanted.first; ++looked, --left) {
      if (looked == kMostLooks) { return std::nullopt; }
      if (accesses_[left - 1].end <= wanted.first) { continue; }
      const auto over = over_from(accesses_[left - 1], wanted);
      if (!over || *over > index) { return std::nullopt; }
      from = std::max(from, *over);
    }
    return from;
  }

 private:
  /// Cells that are used over and over again are not worth a longer search.
  static constexpr int kMostLooks = 256;

  /// Requires count > 0.
  Access hull(const Cells& cells, Elements count, std::uint32_t lane, std::uint64_t index) const {
    const std::int64_t last = count.count() - 1;
    std::int64_t end = map_.address(cells, last) + 1;
    const std::int64_t run = cells.run.count();
    if (run > 0 && last >= run) { end = std::max(end, map_.address(cells, last / run * run - 1) + 1); }
    return {map_.address(cells, 0), end, lane, index};
  }

  void add(const std::optional<Cells>& cells, Elements count, std::uint32_t lane, std::uint64_t index) {
    if (cells && count > Elements::zero()) { accesses_.push_back(hull(*cells, count, lane, index)); }
  }

  /// After how many ended primitives of the wanted store's lane the access is over for certain; 0 where it comes later.
  std::optional<std::uint64_t> over_from(const Access& access, const Access& wanted) const {
    if (access.lane == wanted.lane) { return access.index < wanted.index ? access.index + 1 : 0; }
    const auto later = knowledge_.first_after(access.lane, wanted.lane, wanted.index);
    if (later && *later <= access.index) { return 0; }
    const auto known = knowledge_.first_after(wanted.lane, access.lane, access.index);
    return known ? std::optional(*known + 1) : std::nullopt;
  }

  MemoryMap map_;
  Knowledge knowledge_;
  std::vector<Access> accesses_;    ///< by their first address
  std::vector<std::int64_t> ends_;  ///< the last of this access and those before
};

bool stores_what_it_receives(const Primitive& primitive, bool finishes) {
  return primitive.receives.count == 1 && primitive.inputs() == 1 && !(finishes && primitive.finish) &&
         primitive.store && primitive.store->run == Elements::zero() && primitive.count > Elements::zero();
}

}  // namespace

ReceivePlan::ReceivePlan(const Schedule& schedule, const Wiring& wiring, AgentId agent, bool finishes) {
  const Accesses accesses(schedule, wiring, agent);
  for (std::uint32_t lane = wiring.first_lane[agent.value]; lane < wiring.first_lane[agent.value + 1]; ++lane) {
    const WiredLane& wired = wiring.lanes[lane];
    if (receives_.empty()) { first_connection_ = wired.first_in; }
    receives_.resize(receives_.size() + wired.shape.in_ports);
    for (std::uint64_t index = 0; index < wired.primitives(); ++index) {
      const Primitive primitive = wired.at(schedule, index);
      PlannedReceive planned{index, std::nullopt};
      if (stores_what_it_receives(primitive, finishes)) {
        planned.straight_from = accesses.untouched_from(*primitive.store, primitive.count, lane, index);
      }
      for (std::uint32_t port = 0; port < primitive.receives.count; ++port) {
        receives_[wired.first_in - first_connection_ + primitive.receives.first + port].push_back(planned);
      }
    }
  }
}

}  // namespace athanor
