#include "algorithms/execution/references.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/proof/memory_map.hpp"

namespace athanor {

namespace {

/// Addresses [first, end) that a primitive of a lane stores.
struct Store {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::uint32_t lane = 0;
  std::uint64_t index = 0;
};

/// From the first address of the cells to the end of the last. Requires count > 0.
std::pair<std::int64_t, std::int64_t> hull(const MemoryMap& map, const Cells& cells, Elements count) {
  return {map.address(cells, 0), map.address(cells, count.count() - 1) + 1};
}

/// All stores of one agent, by their first address.
class Stores {
 public:
  Stores(const Schedule& schedule, const Wiring& wiring, std::uint32_t agent, const MemoryMap& map) {
    for (std::uint32_t lane = wiring.first_lane[agent]; lane < wiring.first_lane[agent + 1]; ++lane) {
      for (std::uint64_t index = 0; index < wiring.lanes[lane].primitives(); ++index) {
        const Primitive primitive = wiring.lanes[lane].at(schedule, index);
        if (!primitive.store || primitive.count == Elements::zero()) { continue; }
        const auto [first, end] = hull(map, *primitive.store, primitive.count);
        stores_.push_back({first, end, lane, index});
      }
    }
    std::sort(stores_.begin(), stores_.end(), [](const Store& a, const Store& b) { return a.first < b.first; });
    std::int64_t end = 0;
    for (const Store& store : stores_) { ends_.push_back(end = std::max(end, store.end)); }
  }

  /// May these cells be overwritten after the primitive that they name?
  bool overwrite(const Store& cells) const {
    const auto after = std::lower_bound(stores_.begin(), stores_.end(), cells.end,
                                        [](const Store& store, std::int64_t end) { return store.first < end; });
    auto left = static_cast<std::size_t>(after - stores_.begin());
    for (int looked = 0; left > 0 && ends_[left - 1] > cells.first; ++looked, --left) {
      const Store& store = stores_[left - 1];
      const bool before = store.lane == cells.lane && store.index <= cells.index;
      if ((store.end > cells.first && !before) || looked == kMostLooks) { return true; }
    }
    return false;
  }

 private:
  /// Cells that are stored to over and over again are not worth a longer search.
  static constexpr int kMostLooks = 256;

  std::vector<Store> stores_;
  std::vector<std::int64_t> ends_;  ///< the last of this store and those before
};

class Finder {
 public:
  Finder(const Stores& stores, const MemoryMap& map, bool finishes) : stores_(stores), map_(map), finishes_(finishes) {}

  References::Origin find(const Primitive& primitive, std::uint32_t lane, std::uint64_t index) const {
    if (primitive.sends.count == 0 || primitive.count == Elements::zero()) { return References::Origin::copy; }
    const auto lasts = [&](const std::optional<Cells>& cells) {
      if (!cells || cells->run != Elements::zero()) { return false; }
      const auto [first, end] = hull(map_, *cells, primitive.count);
      return !stores_.overwrite({first, end, lane, index});
    };
    const bool unchanged = primitive.inputs() == 1 && !(finishes_ && primitive.finish);
    if (lasts(primitive.store)) { return References::Origin::store; }
    return unchanged && lasts(primitive.operands[0]) ? References::Origin::operand : References::Origin::copy;
  }

 private:
  const Stores& stores_;
  const MemoryMap& map_;
  bool finishes_;
};

}  // namespace

References::References(const Schedule& schedule, const Wiring& wiring, bool finishes, bool may_refer)
    : copied_(wiring.receivers.size()) {
  for (std::uint32_t agent = 0; agent + 1 < wiring.first_lane.size(); ++agent) {
    const MemoryMap map(schedule.memory(AgentId{agent}));
    const Stores stores(schedule, wiring, agent, map);
    const Finder finder(stores, map, finishes);
    for (std::uint32_t lane = wiring.first_lane[agent]; lane < wiring.first_lane[agent + 1]; ++lane) {
      first_.push_back(origins_.size());
      for (std::uint64_t index = 0; index < wiring.lanes[lane].primitives(); ++index) {
        const Primitive primitive = wiring.lanes[lane].at(schedule, index);
        origins_.push_back(may_refer ? finder.find(primitive, lane, index) : Origin::copy);
        if (origins_.back() != Origin::copy) { continue; }
        for (std::uint32_t port = 0; port < primitive.sends.count; ++port) {
          Elements& most = copied_[wiring.outgoing[wiring.lanes[lane].first_out + primitive.sends.first + port]];
          most = std::max(most, primitive.count);
        }
      }
    }
  }
}

}  // namespace athanor
