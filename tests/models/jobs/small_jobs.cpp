#include "small_jobs.hpp"

#include <algorithm>
#include <string>

#include "sim/check.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

template <class Entry>
auto kind_of(const std::vector<Entry>& catalog, std::string_view name, std::string_view keys) {
  const auto at = std::find_if(catalog.begin(), catalog.end(), [&](const Entry& entry) { return entry.name == name; });
  require(at != catalog.end(), "the catalog has no {}", name);
  auto kind = at->make();
  const Document document = Document::parse(std::string(keys), "keys");
  Problems problems;
  read_document(document, problems, [&](Fields& fields) { kind->visit(fields); });
  problems.throw_if_any();
  return kind;
}

}  // namespace

WallTime wall_seconds(std::int64_t seconds) { return WallTime{seconds * 1'000'000}; }

JobList list_of(const std::vector<SmallJob>& jobs) {
  JobList list;
  for (const SmallJob& small : jobs) {
    Job job;
    job.shape = list.shape({{small.gpus, {.gpus = 1}}});
    job.submitted = wall_seconds(small.submitted);
    job.duration = wall_seconds(small.duration);
    job.expected = wall_seconds(small.expected > 0 ? small.expected : small.duration);
    list.jobs.push_back(job);
  }
  list.sort();
  return list;
}

NodeList equal_nodes(std::uint32_t nodes, std::uint16_t gpus) {
  NodeList list;
  list.gpu_types = {"GPU"};
  for (std::uint32_t node = 0; node < nodes; ++node) { list.nodes.push_back({.gpus = gpus}); }
  return list;
}

std::unique_ptr<Scheduler> scheduler_of(std::string_view name, const JobList& jobs, const NodeList& nodes,
                                        std::string_view keys) {
  return kind_of(schedulers(), name, keys)->make(jobs, nodes);
}

std::unique_ptr<PlacementPolicy> placement_of(std::string_view name, const JobList& jobs, const NodeList& nodes,
                                              std::string_view keys, std::uint64_t seed) {
  return kind_of(placements(), name, keys)->make(nodes, jobs, seed);
}

JobsRun run_of(const JobList& jobs, const NodeList& nodes, std::string_view scheduler, std::string_view keys,
               std::string_view placement, const JobsRules& rules) {
  const auto policy = placement_of(placement, jobs, nodes);
  const auto decides = scheduler_of(scheduler, jobs, nodes, keys);
  FullSpeed speeds;
  return simulate_jobs(jobs, nodes, *policy, *decides, speeds, rules);
}

}  // namespace athanor
