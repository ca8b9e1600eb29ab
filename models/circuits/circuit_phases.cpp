#include "models/circuits/circuit_phases.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Rounds in a row between the same pairs.
struct SamePairs {
  std::vector<Pair> pairs;                 ///< sorted
  std::map<Bytes, std::uint64_t> largest;  ///< how many rounds have so large a message at most
};

std::vector<SamePairs> grouped(const MessageRounds& rounds, Bytes element) {
  std::vector<SamePairs> groups;
  for (std::vector<RankMessage> round : rounds) {
    std::sort(round.begin(), round.end(),
              [](const auto& a, const auto& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
    std::vector<Pair> pairs;
    Elements most;
    Elements sum;  // several lanes of a pair share its circuits
    for (const RankMessage& message : round) {
      const Pair pair{message.from, message.to};
      if (pairs.empty() || pairs.back() != pair) {
        pairs.push_back(pair);
        sum = Elements::zero();
      }
      sum += message.count;
      most = std::max(most, sum);
    }
    if (groups.empty() || groups.back().pairs != pairs) { groups.push_back({std::move(pairs), {}}); }
    ++groups.back().largest[element * most.count()];
  }
  return groups;
}

/// Pairs that have circuits at the same time, and the peers of the busiest rank, each way.
class PairSet {
 public:
  void add(const SamePairs& group) {
    for (const Pair& pair : group.pairs) {
      if (!seen_.emplace(std::uint64_t{pair.first} << 32U | pair.second, true).second) { continue; }
      most_ = std::max({most_, ++out_[pair.first], ++in_[pair.second]});
    }
  }
  std::uint32_t most() const { return most_; }

 private:
  std::unordered_map<std::uint64_t, bool> seen_;
  std::unordered_map<std::uint32_t, std::uint32_t> out_;
  std::unordered_map<std::uint32_t, std::uint32_t> in_;
  std::uint32_t most_ = 0;
};

Time time_of(const SamePairs& group, const CircuitSwitch& circuits, std::uint32_t each) {
  Time time;
  for (const auto& [size, rounds] : group.largest) {
    time += (circuits.latency + transfer_time(size, circuits.rate * each)) * static_cast<std::int64_t>(rounds);
  }
  return time;
}

/// Groups `first` to before `end` over one set of circuits.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;
  Time time;               ///< without the change before it
  std::uint64_t more = 0;  ///< changes within it: a round with more peers than ports
};

class StretchSearch {
 public:
  StretchSearch(const std::vector<SamePairs>& groups, const CircuitSwitch& circuits)
      : groups_(groups), circuits_(circuits) {
    PairSet all;
    for (const SamePairs& group : groups) { all.add(group); }
    peers_ = all.most();
  }

  /// Of the busiest rank, in all rounds.
  std::uint32_t peers() const { return peers_; }
  /// Empty: these are more than its ports.
  std::vector<Stretch> one() const {
    if (peers_ > circuits_.ports) { return {}; }
    return {stretch(0, groups_.size(), peers_)};
  }

  std::vector<Stretch> each() const {
    std::vector<Stretch> all;
    for (std::size_t i = 0; i < groups_.size(); ++i) { all.push_back(alone(i)); }
    return all;
  }

  /// The stretches that together take least. Behind each comes a change, but where the last has the pairs of the first,
  /// which the next collective then finds: least times from every first stretch on to every such last one.
  std::vector<Stretch> best() const {
    const std::vector<std::vector<Stretch>> ways = all_stretches();
    Path best = path(ways, 0, groups_.size());
    for (const Stretch& first : ways[0]) {
      const Path middle = first.more > 0 ? Path{} : path(ways, first.end, groups_.size());
      for (std::size_t from = first.end + 1; from < groups_.size() && first.more == 0; ++from) {
        for (const Stretch& last : ways[from]) {
          const bool closes = last.end == groups_.size() && last.more == 0 && pairs_of(last) == pairs_of(first);
          if (!closes || middle.least[from] == Time::max()) { continue; }
          const Time time = first.time + middle.least[from] + circuits_.delay + last.time;
          if (time >= best.time) { continue; }
          best.time = time;
          best.stretches = middle.to(from);
          best.stretches.insert(best.stretches.begin(), first);
          best.stretches.push_back(last);
        }
      }
    }
    return best.stretches;
  }

  /// Whether the collective ends with the circuits that it began with, so that the next one finds them.
  bool same_ends(const std::vector<Stretch>& ways) const {
    return ways.front().more == 0 && ways.back().more == 0 && pairs_of(ways.front()) == pairs_of(ways.back());
  }

 private:
  /// From one group on, least times to have done those before each other one; a change comes before every stretch.
  struct Path {
    std::vector<Time> least = {};    ///< by group; max: not from there
    std::vector<Stretch> last = {};  ///< by where it ends
    Time time;                       ///< of `stretches`
    std::vector<Stretch> stretches = {};

    std::vector<Stretch> to(std::size_t end) const {
      std::vector<Stretch> all;
      for (; last[end].end == end && end > 0; end = last[end].first) { all.push_back(last[end]); }
      std::reverse(all.begin(), all.end());
      return all;
    }
  };

  Path path(const std::vector<std::vector<Stretch>>& ways, std::size_t from, std::size_t to) const {
    Path found{std::vector<Time>(to + 1, Time::max()), std::vector<Stretch>(to + 1), Time::zero(), {}};
    found.least[from] = Time::zero();
    for (std::size_t first = from; first < to; ++first) {
      if (found.least[first] == Time::max()) { continue; }
      for (const Stretch& way : ways[first]) {
        const Time time = found.least[first] + circuits_.delay * static_cast<std::int64_t>(1 + way.more) + way.time;
        if (time >= found.least[way.end]) { continue; }
        found.least[way.end] = time;
        found.last[way.end] = way;
      }
    }
    found.stretches = found.to(to);
    found.time = found.least[to];
    return found;
  }

  /// By their first group.
  std::vector<std::vector<Stretch>> all_stretches() const {
    std::vector<std::vector<Stretch>> ways(groups_.size());
    for (std::size_t first = 0; first < groups_.size(); ++first) {
      PairSet set;
      ways[first].push_back(alone(first));
      for (std::size_t end = first + 1; end <= groups_.size(); ++end) {
        set.add(groups_[end - 1]);
        if (set.most() > circuits_.ports) { break; }
        if (end > first + 1) { ways[first].push_back(stretch(first, end, set.most())); }
      }
    }
    return ways;
  }

  std::vector<Pair> pairs_of(const Stretch& way) const {
    std::vector<Pair> all;
    for (std::size_t i = way.first; i < way.end; ++i) {
      all.insert(all.end(), groups_[i].pairs.begin(), groups_[i].pairs.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  Stretch stretch(std::size_t first, std::size_t end, std::uint32_t peers) const {
    const std::vector<Time>& sums = sums_over(circuits_.ports / std::max(1U, peers));
    return {first, end, sums[end] - sums[first], 0};
  }

  /// With so many circuits for each pair: the time of the first i groups.
  const std::vector<Time>& sums_over(std::uint32_t each) const {
    std::vector<Time>& sums = sums_[each];
    if (!sums.empty()) { return sums; }
    sums.push_back(Time::zero());
    for (const SamePairs& group : groups_) { sums.push_back(sums.back() + time_of(group, circuits_, each)); }
    return sums;
  }

  Stretch alone(std::size_t group) const {
    PairSet set;
    set.add(groups_[group]);
    const std::uint32_t peers = std::max(1U, set.most());
    if (peers <= circuits_.ports) { return stretch(group, group + 1, peers); }
    const std::uint32_t full = peers / circuits_.ports;
    const std::uint32_t rest = peers % circuits_.ports;
    Stretch way{group, group + 1, time_of(groups_[group], circuits_, 1) * std::int64_t{full}, 0};
    if (rest > 0) { way.time += time_of(groups_[group], circuits_, circuits_.ports / rest); }
    std::uint64_t rounds = 0;
    for (const auto& [size, count] : groups_[group].largest) { rounds += count; }
    way.more = (full + (rest > 0 ? 1 : 0)) * rounds - 1;
    return way;
  }

  const std::vector<SamePairs>& groups_;
  const CircuitSwitch& circuits_;
  std::uint32_t peers_ = 0;
  mutable std::map<std::uint32_t, std::vector<Time>> sums_;  ///< by circuits for each pair, found when asked for
};

}  // namespace

CircuitRun run_over_circuits(const MessageRounds& rounds, Bytes element, const CircuitSwitch& circuits,
                             CircuitChange change) {
  const std::vector<SamePairs> groups = grouped(rounds, element);
  CircuitRun run{Time::zero(), Time::zero(), 0, rounds.size()};
  if (groups.empty()) { return run; }
  const StretchSearch search(groups, circuits);
  const std::vector<Stretch> one = change == CircuitChange::rounds ? std::vector<Stretch>{} : search.one();
  if (change == CircuitChange::never && one.empty()) {
    throw SimulationError("too-few-ports", fmt::format("circuits never change, and a rank has {} ports for {} peers",
                                                       circuits.ports, search.peers()));
  }
  const auto add = [&](const std::vector<Stretch>& ways) {
    CircuitRun way = run;
    for (const Stretch& each : ways) {
      way.time += each.time;
      way.changes += 1 + each.more;
    }
    if (search.same_ends(ways)) { --way.changes; }
    way.changing = circuits.delay * static_cast<std::int64_t>(way.changes);
    way.time += way.changing;
    return way;
  };
  if (change == CircuitChange::never) { return add(one); }
  const CircuitRun changed = add(change == CircuitChange::rounds ? search.each() : search.best());
  if (one.empty()) { return changed; }
  const CircuitRun stays = add(one);
  return stays.time <= changed.time ? stays : changed;
}

}  // namespace athanor
