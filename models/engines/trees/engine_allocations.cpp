#include "models/engines/trees/engine_allocations.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kUnlimited = UINT32_MAX;

template <class Key>
std::uint32_t count_at(const std::map<Key, std::vector<std::uint32_t>>& holders, Key key) {
  const auto found = holders.find(key);
  return found == holders.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

void remove(std::vector<std::uint32_t>& holders, std::uint32_t job) {
  const auto found = std::find(holders.begin(), holders.end(), job);
  require(found != holders.end(), "job {} gives back what it does not hold", job);
  holders.erase(found);
}

template <class Key>
void remove(std::map<Key, std::vector<std::uint32_t>>& holders, Key key, std::uint32_t job) {
  std::vector<std::uint32_t>& here = holders[key];
  remove(here, job);
  if (here.empty()) { holders.erase(key); }
}

/// "job 0", "jobs 0 and 3", "jobs 0, 1, 2 and 5 more".
std::string name_jobs(const std::vector<std::uint32_t>& holders) {
  constexpr std::size_t kMostNamed = 3;
  const std::set<std::uint32_t> distinct(holders.begin(), holders.end());
  const std::vector<std::uint32_t> jobs(distinct.begin(), distinct.end());
  if (jobs.size() == 1) { return fmt::format("job {}", jobs[0]); }
  const bool all = jobs.size() <= kMostNamed;
  const auto listed = jobs.begin() + static_cast<std::ptrdiff_t>(all ? jobs.size() - 1 : kMostNamed);
  return fmt::format("jobs {} and {}", joined(std::span(jobs.begin(), listed), ", "),
                     all ? std::to_string(jobs.back()) : fmt::format("{} more", jobs.size() - kMostNamed));
}

/// `where` has `limit` streaming trees, all of which are held, by others or by the very job that asks for one more.
std::string held_streams(std::uint32_t limit, const std::string& where, const std::vector<std::uint32_t>& holders,
                         std::uint32_t job) {
  const bool alone = std::all_of(holders.begin(), holders.end(), [&](std::uint32_t holder) { return holder == job; });
  if (limit > 0 && alone) {
    return fmt::format("the job needs {} streaming trees at {}, which takes {}", holders.size() + 1, where, limit);
  }
  if (limit == 0) { return fmt::format("{} has no streaming tree", where); }
  if (limit == 1) { return fmt::format("the streaming tree of {} is held by {}", where, name_jobs(holders)); }
  return fmt::format("the {} streaming trees of {} are held by {}", limit, where, name_jobs(holders));
}

}  // namespace

void EngineAllocations::take(const AllocatedTree& tree) {
  (tree.streaming ? streams_ : trees_).push_back(tree.job);
  ++tops_[tree.switches.front()];
  for (const VertexId at : tree.switches) {
    at_switch_[at].push_back(tree.job);
    if (tree.streaming) { streams_at_switch_[at].push_back(tree.job); }
  }
  if (!tree.streaming) { return; }
  for (const LinkId port : tree.ports) { streams_at_port_[port].push_back(tree.job); }
}

void EngineAllocations::give_back(const AllocatedTree& tree) {
  remove(tree.streaming ? streams_ : trees_, tree.job);
  --tops_[tree.switches.front()];
  for (const VertexId at : tree.switches) {
    remove(at_switch_, at, tree.job);
    if (tree.streaming) { remove(streams_at_switch_, at, tree.job); }
  }
  if (!tree.streaming) { return; }
  for (const LinkId port : tree.ports) { remove(streams_at_port_, port, tree.job); }
}

bool EngineAllocations::full(bool streaming) const {
  return streaming ? streams_.size() >= limits_.streams : trees_.size() >= limits_.trees;
}

bool EngineAllocations::streams_full(VertexId at) const {
  return limits_.streams_per_switch != kUnlimited && count_at(streams_at_switch_, at) >= limits_.streams_per_switch;
}

bool EngineAllocations::full(VertexId at, std::uint32_t job, bool streaming) const {
  if (streaming && streams_full(at)) { return true; }
  if (limits_.jobs_per_switch == kUnlimited) { return false; }
  const auto found = at_switch_.find(at);
  if (found == at_switch_.end()) { return limits_.jobs_per_switch == 0; }
  const std::set<std::uint32_t> jobs(found->second.begin(), found->second.end());
  return !jobs.contains(job) && jobs.size() >= limits_.jobs_per_switch;
}

bool EngineAllocations::full(LinkId port, bool streaming) const {
  return streaming && limits_.streams_per_port != kUnlimited &&
         count_at(streams_at_port_, port) >= limits_.streams_per_port;
}

std::string EngineAllocations::why(bool streaming) const {
  const Holders& holders = streaming ? streams_ : trees_;
  const std::string_view kind = streaming ? "streaming" : "low-latency";
  if (holders.empty()) { return fmt::format("the subnet has no {} trees", kind); }
  return fmt::format("all {} {} trees of the subnet are taken, by {}", holders.size(), kind, name_jobs(holders));
}

std::string EngineAllocations::why(VertexId at, std::uint32_t job, bool streaming) const {
  require(full(at, job, streaming), "{} has room", fabric_.name(at));
  if (streaming && streams_full(at)) {
    const auto found = streams_at_switch_.find(at);
    return held_streams(limits_.streams_per_switch, fabric_.name(at),
                        found == streams_at_switch_.end() ? Holders{} : found->second, job);
  }
  if (limits_.jobs_per_switch == 0) { return fmt::format("{} has memory for no job", fabric_.name(at)); }
  const bool one = limits_.jobs_per_switch == 1;
  return fmt::format("{} has memory for {} job{}, and {} hold{} it", fabric_.name(at), limits_.jobs_per_switch,
                     one ? "" : "s", name_jobs(at_switch_.at(at)), one ? "s" : "");
}

std::string EngineAllocations::why(LinkId port, std::uint32_t job) const {
  const auto found = streams_at_port_.find(port);
  const std::string where =
      fmt::format("the port of {} to {}", fabric_.name(fabric_.source(port)), fabric_.name(fabric_.target(port)));
  return held_streams(limits_.streams_per_port, where, found == streams_at_port_.end() ? Holders{} : found->second,
                      job);
}

std::uint32_t EngineAllocations::trees(VertexId at) const { return count_at(at_switch_, at); }

std::uint32_t EngineAllocations::tops(VertexId at) const {
  const auto found = tops_.find(at);
  return found == tops_.end() ? 0 : found->second;
}

}  // namespace athanor
