#include "models/traces/program_draft.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include <fmt/core.h>

#include "models/traces/trace_options.hpp"

namespace athanor {

std::uint16_t ProgramDraft::stream(std::string_view name, bool ordered, bool host) {
  const auto found = streams_.find(name);
  if (found != streams_.end()) { return found->second; }
  if (worker_.streams.size() >= kMostStreams) {
    throw ScenarioError(Problem{"too-many-streams",
                                fmt::format("{} needs more than {} streams", worker_.name, kMostStreams),
                                {file_, 0, 0, ""},
                                "so many messages or communicators at once are beyond what is simulated"});
  }
  const auto stream = static_cast<std::uint16_t>(worker_.streams.size());
  worker_.streams.push_back({std::string(name), ordered, host});
  streams_.emplace(name, stream);
  return stream;
}

void ProgramDraft::add(std::uint64_t node, const Workload::Operation& operation) {
  if (nodes_.size() == UINT32_MAX ||
      wanted_.size() > UINT32_MAX) {  // operations and dependencies are numbered in 32 bits
    throw ScenarioError(Problem{"too-many-operations",
                                fmt::format("{} has more than {} operations or dependencies", worker_.name, UINT32_MAX),
                                {file_, 0, 0, ""},
                                "cut the trace to fewer steps"});
  }
  worker_.operations.push_back(operation);
  worker_.operations.back().first_dependency = static_cast<std::uint32_t>(wanted_.size());
  nodes_.push_back(node);
}

std::string ProgramDraft::text_of(const WorkloadDraft& draft, std::uint32_t operation) const {
  return fmt::format("{} '{}'", nodes_[operation], draft.workload.labels[worker_.operations[operation].label]);
}

ProgramDraft::Index ProgramDraft::index_of_nodes(WorkloadDraft& draft) const {
  Index index;
  index.reserve(nodes_.size());
  for (const std::uint64_t node : nodes_) { index.emplace_back(node, static_cast<std::uint32_t>(index.size())); }
  if (!std::is_sorted(index.begin(), index.end())) { std::sort(index.begin(), index.end()); }
  for (std::size_t i = 1; i < index.size(); ++i) {
    if (index[i].first != index[i - 1].first) { continue; }
    draft.complaints.add({"duplicate-node",
                          fmt::format("{}: two nodes have the id {}: '{}' and '{}'", worker_.name, index[i].first,
                                      draft.workload.labels[worker_.operations[index[i - 1].second].label],
                                      draft.workload.labels[worker_.operations[index[i].second].label]),
                          {file_, 0, 0, ""},
                          "ids name nodes once per file"});
  }
  return index;
}

void ProgramDraft::resolve(WorkloadDraft& draft, const Index& index, bool drop_absent) {
  auto& operations = worker_.operations;
  worker_.dependencies.reserve(wanted_.size());
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const std::size_t from = operations[i].first_dependency;
    const std::size_t to = i + 1 < operations.size() ? operations[i + 1].first_dependency : wanted_.size();
    operations[i].first_dependency = static_cast<std::uint32_t>(worker_.dependencies.size());
    for (std::size_t w = from; w < to; ++w) {
      const auto found =
          std::lower_bound(index.begin(), index.end(), std::pair<std::uint64_t, std::uint32_t>{wanted_[w], 0});
      if (found != index.end() && found->first == wanted_[w]) {
        worker_.dependencies.push_back(found->second);
      } else if (drop_absent) {
        draft.notes.count("dependencies on nodes that are not in the file were left out");
      } else {
        draft.complaints.add({"absent-node",
                              fmt::format("{}: node {} waits for node {}, which is not in the file", worker_.name,
                                          text_of(draft, i), wanted_[w]),
                              {file_, 0, 0, ""},
                              R"(record whole steps, or say "drop_absent": true to leave such dependencies out)"});
      }
    }
    operations[i].dependencies =
        static_cast<std::uint32_t>(worker_.dependencies.size()) - operations[i].first_dependency;
  }
  wanted_ = {};
}

std::vector<std::uint32_t> ProgramDraft::order(WorkloadDraft& draft) const {
  const auto& operations = worker_.operations;
  const auto count = static_cast<std::uint32_t>(operations.size());
  const auto before = [&](std::uint32_t i) {
    const auto first = worker_.dependencies.begin() + operations[i].first_dependency;
    return std::pair(first, first + operations[i].dependencies);
  };
  bool ordered = true;
  std::vector<std::uint32_t> first(count + 1, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (auto [at, end] = before(i); at != end; ++at) {
      ordered = ordered && *at < i;
      ++first[*at + 1];
    }
  }
  if (ordered) { return {}; }
  for (std::uint32_t i = 0; i < count; ++i) { first[i + 1] += first[i]; }
  std::vector<std::uint32_t> after(worker_.dependencies.size());
  std::vector<std::uint32_t> filled = first;
  std::vector<std::uint32_t> waiting(count);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i) {
    waiting[i] = operations[i].dependencies;
    if (waiting[i] == 0) { ready.push(i); }
    for (auto [at, end] = before(i); at != end; ++at) { after[filled[*at]++] = i; }
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const std::uint32_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (std::uint32_t a = first[next]; a < first[next + 1]; ++a) {
      if (--waiting[after[a]] == 0) { ready.push(after[a]); }
    }
  }
  if (order.size() == count) { return order; }
  complain_of_circle(draft, waiting);
  return {};
}

/// Whoever still waits does so for somebody who still waits: going on like this ends in a circle.
void ProgramDraft::complain_of_circle(WorkloadDraft& draft, const std::vector<std::uint32_t>& waiting) const {
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::uint32_t n) { return n > 0; });
  auto at = static_cast<std::uint32_t>(stuck - waiting.begin());
  std::vector<std::uint32_t> cycle;
  std::vector<bool> seen(waiting.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    cycle.push_back(at);
    const Workload::Operation& operation = worker_.operations[at];
    for (std::uint32_t d = 0; d < operation.dependencies; ++d) {
      const std::uint32_t other = worker_.dependencies[operation.first_dependency + d];
      if (waiting[other] > 0) { at = other; }
    }
  }
  constexpr std::size_t kTold = 6;
  std::string circle;
  const auto begin = std::find(cycle.begin(), cycle.end(), at);
  const auto length = static_cast<std::size_t>(cycle.end() - begin);
  for (std::size_t i = 0; i < std::min(length, kTold); ++i) {
    circle += fmt::format("{} waits for ", text_of(draft, *(begin + static_cast<std::ptrdiff_t>(i))));
  }
  if (length > kTold) { circle += fmt::format("{} more, the last of which waits for ", length - kTold); }
  draft.complaints.add({"circle",
                        fmt::format("{}: nodes wait for each other: {}{}", worker_.name, circle, text_of(draft, at)),
                        {file_, 0, 0, ""},
                        "such a trace never ends"});
}

void ProgramDraft::reorder(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) { place[order[i]] = i; }
  std::vector<Workload::Operation> operations;
  std::vector<std::uint64_t> nodes;
  operations.reserve(order.size());
  nodes.reserve(order.size());
  for (const std::uint32_t old : order) {
    operations.push_back(worker_.operations[old]);
    nodes.push_back(nodes_[old]);
  }
  for (std::uint32_t& dependency : worker_.dependencies) { dependency = place[dependency]; }
  worker_.operations = std::move(operations);
  nodes_ = std::move(nodes);
}

void ProgramDraft::finish(WorkloadDraft& draft, bool drop_absent) && {
  resolve(draft, index_of_nodes(draft), drop_absent);
  const std::vector<std::uint32_t> found = order(draft);
  if (!found.empty()) { reorder(found); }
  worker_.operations.shrink_to_fit();
  worker_.dependencies.shrink_to_fit();
  nodes_.shrink_to_fit();
  draft.workload.workers.push_back(std::move(worker_));
  draft.origins.push_back({file_, std::move(nodes_)});
}

}  // namespace athanor
