#include "models/experiments/scenario/workload_checks.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/jobs/dependencies.hpp"
#include "models/jobs/failures/standby_nodes.hpp"
#include "models/jobs/inventory.hpp"
#include "models/jobs/mig.hpp"
#include "models/jobs/task_count.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

std::string counted(std::uint32_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// What else a task asks for.
std::string beside_gpus(const Demand& demand) {
  std::string text;
  if (demand.nics > 0) { text += ", " + counted(demand.nics, "NIC"); }
  if (demand.cpu_milli > 0) { text += fmt::format(", {} CPU cores", demand.cpu_milli / 1000.0); }
  if (demand.memory_mib > 0) { text += fmt::format(", {} MiB", demand.memory_mib); }
  return text;
}

std::string text_of(const Shape& shape, const JobList& jobs) {
  std::vector<std::string> parts;
  for (const TaskGroup& group : shape) {
    std::string text = counted(group.tasks, "task");
    if (group.each.slice > 0) {
      text += fmt::format(" of a slice of {} eighths of a GPU", mig_slice(group.each.slice).eighths);
    } else if (group.each.gpu_milli > 0) {
      text += fmt::format(" of {} thousandths of a GPU", group.each.gpu_milli);
    } else {
      text += " of " + counted(group.each.gpus, "GPU");
    }
    if (group.each.gpu_types.value != 0) {
      text += fmt::format(" ({})", joined(jobs.gpu_types(group.each.gpu_types), " or "));
    }
    text += beside_gpus(group.each);
    parts.push_back(std::move(text));
  }
  return enumeration(parts);
}

SourceLocation place_of(const WorkloadConfig& workload) { return workload.log ? workload.log->place : workload.place; }

void check_shapes(const WorkloadConfig& workload, Problems& problems) {
  const JobList& jobs = *workload.jobs;
  const NodeList& nodes = *workload.nodes;
  Inventory inventory(nodes, jobs);
  const StandbyNodes standby(workload.rules.failures.spares, inventory);
  const auto placement = workload.placement->make(nodes, jobs, 1);
  std::vector<bool> known(jobs.shapes());
  for (const JobId id : jobs.jobs.ids()) {
    const Job& job = jobs.jobs[id];
    if (known[job.shape.value]) { continue; }
    known[job.shape.value] = true;
    const Shape& shape = jobs.shape(job.shape);
    if (const auto where = placement->place(shape, inventory)) {
      inventory.give_back(*where, shape);
      continue;
    }
    const std::uint32_t spares = workload.rules.failures.spares;
    const std::string without = spares > 0 ? fmt::format(", {} of which stand by", spares) : "";
    problems.add({"job-too-large",
                  fmt::format("{}, a job of {}, does not fit on {}{} with {} ({}), though nothing else runs",
                              jobs.title(id), text_of(shape, jobs), counted(nodes.count(), "node"), without,
                              counted(nodes.gpus(), "GPU"), joined(nodes.gpu_types, ", ")),
                  place_of(workload), "make the cluster larger, or the job smaller, or choose another placement"});
  }
}

void check_failures(const WorkloadConfig& workload, Problems& problems) {
  const FailureRules& failures = workload.rules.failures;
  std::vector<std::string> tiers;
  for (const NodeTier& tier : workload.nodes->tiers) { tiers.push_back(tier.name); }
  for (const FailureSource& source : failures.sources) {
    const bool known = std::find(tiers.begin(), tiers.end(), source.tier) != tiers.end();
    if (source.what != FailureSource::What::tier || known) { continue; }
    problems.add({"no-tier", fmt::format("the cluster has no tier '{}' that could fail", source.tier), workload.place,
                  tiers.empty() ? "it has none" : "it has " + enumeration(tiers)});
  }
  for (const FailureSource& source : failures.sources) {
    if (source.nodes <= workload.nodes->count()) { continue; }
    problems.add({"out-of-range",
                  fmt::format("a rack has {}, and the cluster {}", counted(source.nodes, "node"),
                              counted(workload.nodes->count(), "node")),
                  workload.place, "make \"nodes\" of the source smaller"});
  }
  if (failures.spares >= workload.nodes->count()) {
    problems.add(
        {"out-of-range",
         fmt::format("{} of {} stand by, and none is left", failures.spares, counted(workload.nodes->count(), "node")),
         workload.place, "make \"spares\" smaller"});
  }
}

void check_shrinking(const WorkloadConfig& workload, Problems& problems) {
  if (!workload.rules.failures.shrink) { return; }
  const auto& jobs = workload.jobs->jobs;
  if (std::none_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.is_elastic(); })) {
    problems.add({"no-effect", "elastic jobs shrink, and none is", workload.place,
                  R"(leave out "shrink", or write "elastic" of a job)"});
  }
  if (workload.scheduler->places_jobs()) {
    problems.add({"no-effect",
                  fmt::format("'{}' says itself how many GPUs jobs have after failures", workload.scheduler_name),
                  workload.place, R"(leave out "shrink")"});
  }
}

/// Tasks that are lost alone wait for places where somebody places them alone.
void check_lost_tasks(const WorkloadConfig& workload, Problems& problems) {
  if (workload.rules.failures.restart != Restart::lost_tasks) { return; }
  if (!workload.scheduler->places_lost_tasks()) {
    std::vector<std::string> who;
    for (const SchedulerEntry& each : schedulers()) {
      if (each.make()->places_lost_tasks()) { who.push_back(fmt::format("'{}'", each.name)); }
    }
    problems.add({"not-simulated",
                  fmt::format("'{}' places whole jobs, and no tasks that they have lost", workload.scheduler_name),
                  workload.place,
                  fmt::format(R"(leave out "restart": "lost_tasks", or choose {})", joined(who, " or "))});
  }
  if (workload.rules.checkpoints.memory) {
    problems.add({"not-simulated",
                  "what nodes have in memory is not known of jobs that wait for places of tasks that they have lost",
                  workload.place, R"(leave out "memory" of "checkpoints", or "restart": "lost_tasks")"});
  }
}

/// Whether what checkpoints are for is there: failures, and nodes for copies.
void check_checkpoints(const WorkloadConfig& workload, Problems& problems) {
  using Rule = CheckpointRules::Rule;
  const CheckpointRules& rules = workload.rules.checkpoints;
  const bool computed = rules.rule != Rule::none && rules.rule != Rule::fixed;
  if (computed && workload.rules.failures.sources.empty()) {
    problems.add({"no-effect", "how often checkpoints are written follows from failures, and nothing fails",
                  workload.place, R"(write "failures", or an "interval" in place of the "rule")"});
  }
  if (!rules.memory) { return; }
  constexpr std::uint32_t kDefault = 2;  // of copies, which is right for jobs on one node, too
  std::uint32_t most = kDefault;
  for (const Job& job : workload.jobs->jobs) {
    const std::uint32_t tasks = std::max(tasks_of(workload.jobs->shape(job.shape)), job.most_gpus);
    most = std::max(most, std::min(tasks, workload.nodes->count()));
  }
  if (rules.memory->copies <= most) { return; }
  problems.add({"no-effect",
                fmt::format("{} copies are on different nodes of a job, and no job has more than {}",
                            rules.memory->copies, counted(most, "node")),
                workload.place, fmt::format("make \"copies\" of \"memory\" {} or less", most)});
}

void check_retries(const WorkloadJobKind& job, const WorkloadConfig& workload, Problems& problems) {
  if (!job.retries || !workload.rules.failures.sources.empty()) { return; }
  problems.add({"no-effect", "a job is tried again, and nothing fails", job.place,
                R"(leave out "retries", or write "failures")"});
}

void check_preemptible(const WorkloadJobKind& job, const WorkloadConfig& workload, Problems& problems) {
  if (!job.preemptible || workload.scheduler->minds_preemptible()) { return; }
  problems.add({"no-effect",
                fmt::format("'{}' treats jobs that are preemptible as it does others", workload.scheduler_name),
                job.place, R"(leave out "preemptible", or have the scheduler "volcano" with "tdm" in its "tiers")"});
}

void check_kind(const WorkloadJobKind& job, const WorkloadConfig& workload, Problems& problems) {
  check_retries(job, workload, problems);
  check_preemptible(job, workload, problems);
}

void check_dependencies(const WorkloadConfig& workload, Problems& problems) {
  std::set<std::string> names;
  for (const WorkloadJob& job : workload.written) { names.insert(job.name); }
  for (const WorkloadJob& job : workload.written) {
    for (const std::string& name : job.after) {
      if (!name.empty() && names.contains(name)) { continue; }
      problems.add({"no-such-job", fmt::format("no job is called '{}'", name), job.place,
                    R"(name jobs by their "name" in "after")"});
    }
  }
  const std::vector<NameId> circle = circle_of_dependencies(*workload.jobs);
  if (circle.empty()) { return; }
  std::vector<std::string> parts;
  for (const NameId each : circle) { parts.push_back("'" + workload.jobs->name(each) + "'"); }
  parts.push_back(parts.front());
  problems.add({"cycle", fmt::format("jobs wait for each other in a circle: {}", joined(parts, " after ")),
                workload.place, R"(take one of them out of an "after")"});
}

void check_measured(const WorkloadConfig& workload, Problems& problems) {
  const auto is_known = [](const auto& figure) { return figure.second.has_value(); };
  const auto has_wait = [](const auto& wait) { return wait.has_value(); };
  const bool measured = std::any_of(workload.measured.begin(), workload.measured.end(), is_known);
  const bool logged = std::any_of(workload.logged_waits.begin(), workload.logged_waits.end(), has_wait);
  if (!workload.max_error || measured || logged) { return; }
  problems.add({"no-effect", "\"max_error\" is of figures that were measured, and none is named", workload.place,
                R"(leave it out, or write "measured": {"wait_s_mean": 120})"});
}

}  // namespace

void check(const WorkloadConfig& workload, Problems& problems) {
  const std::size_t before = problems.size();
  check_failures(workload, problems);
  check_shrinking(workload, problems);
  check_lost_tasks(workload, problems);
  check_checkpoints(workload, problems);
  check_dependencies(workload, problems);
  check_measured(workload, problems);
  for (const WorkloadJob& job : workload.written) { check_kind(job, workload, problems); }
  if (workload.arrivals) {
    for (const WorkloadArrivals::Class& each : workload.arrivals->classes) { check_kind(each, workload, problems); }
  }
  if (problems.size() > before) { return; }
  try {
    check_shapes(workload, problems);
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) { problems.add(problem); }
  }
  const Mistake mistake = workload.scheduler->refusal(*workload.jobs, *workload.nodes);
  if (!mistake.message.empty()) { problems.add({mistake.code, mistake.message, place_of(workload), mistake.hint}); }
}

}  // namespace athanor
