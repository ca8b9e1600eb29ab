#include "models/workload/ranks_of_workers.hpp"

#include <set>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

using RankSets = std::vector<std::set<std::uint32_t>>;

/// Workers of a communicator have places of a group each; where one calls for all, it has all of them.
void add(const Workload::Communicator& communicator, RankSets& ranks) {
  for (const std::vector<std::uint32_t>& group : *communicator.groups) {
    const bool of_each = communicator.workers.size() == group.size();
    if (!of_each && communicator.workers.size() > 1) { continue; }
    for (std::size_t place = 0; place < group.size(); ++place) {
      ranks[communicator.workers[of_each ? place : 0]].insert(group[place]);
    }
  }
}

void add(const Workload::Channel& channel, RankSets& ranks) {
  for (const std::vector<std::uint32_t>& pair : *channel.pairs) {
    ranks[channel.from].insert(pair.front());
    ranks[channel.to].insert(pair.back());
  }
}

[[noreturn]] void fail(const Workload::Worker& worker, const std::string& what) {
  throw SimulationError("unknown-ranks", fmt::format("{} {}: who does what is not known", worker.name, what));
}

}  // namespace

std::vector<std::vector<std::uint32_t>> ranks_of_workers(const Workload& workload) {
  RankSets sets(workload.workers.size());
  std::set<std::uint32_t> called;
  for (const Workload::Call& call : workload.calls) { called.insert(call.communicator); }
  for (const std::uint32_t communicator : called) { add(workload.communicators[communicator], sets); }
  for (const Workload::Channel& channel : workload.channels) { add(channel, sets); }
  for (std::size_t w = 0; w < sets.size(); ++w) {
    const std::vector<std::uint32_t>& told = workload.workers[w].endpoints;
    if (!told.empty()) { sets[w] = {told.begin(), told.end()}; }
  }
  if (sets.size() == 1 && sets.front().empty()) { sets.front().insert(0); }
  std::vector<std::vector<std::uint32_t>> ranks;
  std::set<std::uint32_t> taken;
  for (std::size_t w = 0; w < sets.size(); ++w) {
    const Workload::Worker& worker = workload.workers[w];
    if (sets[w].size() != worker.ranks) {
      fail(worker,
           fmt::format("stands for {} ranks, and its calls and messages name {}", worker.ranks, sets[w].size()));
    }
    for (const std::uint32_t rank : sets[w]) {
      if (!taken.insert(rank).second) { fail(worker, fmt::format("and another worker both stand for rank {}", rank)); }
    }
    ranks.emplace_back(sets[w].begin(), sets[w].end());
  }
  return ranks;
}

}  // namespace athanor
