#include "algorithms/synthesis/spreading.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>
#include <tuple>

#include "algorithms/synthesis/parents.hpp"

namespace athanor {

namespace {

/// Which units a rank, or a group of them, has or will have.
using Units = std::vector<std::uint64_t>;

void put(Units& units, std::uint32_t unit) { units[unit / 64] |= std::uint64_t{1} << (unit % 64); }

/// Groups of ranks, the widest links inside: one partition for each step down in capacity by kStep or more.
class Groups {
 public:
  explicit Groups(const CapacityGraph& graph) : ranks_(graph.ranks) {
    std::vector<std::int64_t> capacities;
    for (const CapacityLink& link : graph.links) { capacities.push_back(link.capacity); }
    std::sort(capacities.begin(), capacities.end(), std::greater<>());
    for (std::size_t i = 0; i + 1 < capacities.size(); ++i) {
      if (capacities[i] >= kStep * capacities[i + 1]) { join(graph, capacities[i]); }
    }
  }

  std::size_t partitions() const { return groups_.size(); }
  std::uint32_t group(std::size_t partition, std::uint32_t rank) const { return groups_[partition][rank]; }

 private:
  static constexpr std::int64_t kStep = 3;

  /// Those whom links of that capacity join.
  void join(const CapacityGraph& graph, std::int64_t least) {
    std::vector<std::uint32_t> parent(ranks_);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::uint32_t rank) {
      while (parent[rank] != rank) { rank = parent[rank] = parent[parent[rank]]; }
      return rank;
    };
    for (const CapacityLink& link : graph.links) {
      if (link.capacity >= least) { parent[root(link.from)] = root(link.to); }
    }
    std::vector<std::uint32_t> groups;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) { groups.push_back(root(rank)); }
    groups_.push_back(std::move(groups));
  }

  std::uint32_t ranks_;
  std::vector<std::vector<std::uint32_t>> groups_;
};

/// The collective as it unfolds in time.
class Spreading {
 public:
  Spreading(const CapacityGraph& graph, std::uint32_t units, std::uint64_t seed)
      : graph_(graph),
        units_(units),
        total_(graph.ranks * units),
        state_(seed * 2 + 1),
        groups_(graph),
        out_(graph.ranks),
        idle_(graph.links.size(), true),
        copies_(total_, 1),
        has_(graph.ranks, Units((total_ + 63) / 64)),
        promised_(has_),
        promised_to_groups_(groups_.partitions(), has_),
        parents_(total_, std::vector<std::uint32_t>(graph.ranks, kNoParent)) {
    for (std::uint32_t i = 0; i < graph.links.size(); ++i) { out_[graph.links[i].from].push_back(i); }
    for (std::uint32_t unit = 0; unit < total_; ++unit) {
      promise(unit, unit / units_);
      put(has_[unit / units_], unit);
    }
  }

  /// By unit and rank, from whom it comes.
  Parents run() && {
    run_until_idle();
    strict_ = false;  // groups whose ranks do not reach each other inside
    run_until_idle();
    return std::move(parents_);
  }

 private:
  static constexpr std::int64_t kPeriod = std::int64_t{1} << 40;
  static constexpr std::uint32_t kLookedAt = 512;  ///< units, of which the rarest is taken

  void run_until_idle() {
    std::vector<std::uint32_t> order(graph_.links.size());
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size(); i > 1; --i) { std::swap(order[i - 1], order[random() % i]); }
    for (const std::uint32_t link : order) { start(link); }
    while (!arrivals_.empty()) {
      const auto [time, turn, link, unit] = arrivals_.top();
      arrivals_.pop();
      now_ = time;
      const std::uint32_t rank = graph_.links[link].to;
      put(has_[rank], unit);
      idle_[link] = true;
      start(link);
      for (const std::uint32_t next : out_[rank]) { start(next); }
    }
  }

  std::uint64_t random() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }

  void promise(std::uint32_t unit, std::uint32_t rank) {
    put(promised_[rank], unit);
    for (std::size_t i = 0; i < groups_.partitions(); ++i) {
      put(promised_to_groups_[i][groups_.group(i, rank)], unit);
    }
  }

  void start(std::uint32_t link) {
    if (!idle_[link]) { return; }
    const std::uint32_t unit = choose(graph_.links[link]);
    if (unit == kNoParent) { return; }
    const std::uint32_t rank = graph_.links[link].to;
    promise(unit, rank);
    ++copies_[unit];
    parents_[unit][rank] = graph_.links[link].from;
    idle_[link] = false;
    arrivals_.emplace(now_ + kPeriod / graph_.links[link].capacity, random(), link, unit);
  }

  /// What may go over a link, of units 64 i .. 64 i + 63.
  std::uint64_t candidates(const CapacityLink& link, std::size_t i) const {
    std::uint64_t units = has_[link.from][i] & ~promised_[link.to][i];
    for (std::size_t partition = 0; strict_ && units != 0 && partition < groups_.partitions(); ++partition) {
      const std::uint32_t group = groups_.group(partition, link.to);
      if (group != groups_.group(partition, link.from)) { units &= ~promised_to_groups_[partition][group][i]; }
    }
    return units;
  }

  std::uint32_t choose(const CapacityLink& link) {
    const std::size_t words = has_.front().size();
    const std::size_t first = random() % words;
    std::uint32_t best = kNoParent;
    std::uint32_t looked_at = 0;
    for (std::size_t i = 0; i < words && looked_at < kLookedAt; ++i) {
      const std::size_t word = (first + i) % words;
      for (std::uint64_t units = candidates(link, word); units != 0; units &= units - 1) {
        const auto unit = static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(units));
        if (best == kNoParent || copies_[unit] < copies_[best]) { best = unit; }
        ++looked_at;
      }
    }
    return best;
  }

  using Arrival = std::tuple<std::int64_t, std::uint64_t, std::uint32_t, std::uint32_t>;

  const CapacityGraph& graph_;
  std::uint32_t units_;
  std::uint32_t total_;
  std::uint64_t state_;
  Groups groups_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<bool> idle_;
  std::vector<std::uint32_t> copies_;
  std::vector<Units> has_;
  std::vector<Units> promised_;
  std::vector<std::vector<Units>> promised_to_groups_;
  Parents parents_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::int64_t now_ = 0;
  bool strict_ = true;
};

}  // namespace

std::vector<SpanningTree> spread_trees(const CapacityGraph& graph, std::int64_t units, std::uint64_t seed) {
  Parents parents = Spreading(graph, static_cast<std::uint32_t>(units), seed).run();
  balance(graph, parents);
  return trees_of(parents, static_cast<std::uint32_t>(units));
}

}  // namespace athanor
