#include "models/experiments/scenario/workload_trainings.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/resolve_training.hpp"
#include "models/experiments/training.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

std::uint64_t degrees_of(const ParallelPlan& plan) { return std::uint64_t{plan.tensor} * plan.context * plan.pipeline; }

Cluster first_endpoints(const Cluster& cluster, std::uint32_t count) {
  std::vector<std::uint32_t> endpoints(count);
  std::iota(endpoints.begin(), endpoints.end(), 0U);
  return cluster_of_job(cluster, endpoints);
}

}  // namespace

void visit(Fields& fields, ReadingContext& context, WorkloadTraining& training) {
  fields.required("name", training.name, "What jobs call it by");
  visit(fields, context, training.config);
}

void visit(Fields& fields, ContentionRules& contention) {
  fields.optional("links", contention.links, "Whether trainings slow each other down where their calls meet on links",
                  {{"shared", ContentionRules::Links::shared}, {"ignored", ContentionRules::Links::ignored}});
  const bool ignored = fields.reading() && contention.links == ContentionRules::Links::ignored;
  if (ignored) {
    if (!fields.has("phases") && !fields.has("interleaved") && !fields.has("priorities")) { return; }
    fields.problem("links", "no-effect", "links that are not shared need no phases, shifts or priorities",
                   R"(leave these out, or write "links": "shared")");
  }
  fields.optional("interleaved", contention.interleaved,
                  "Their steps are shifted in time so that calls meet as little as they can (CASSINI)");
  fields.optional(
      "priorities", contention.priorities,
      "Who gets links first: none, or by_intensity: who computes most for the time of its busiest link (Crux)",
      {{"none", ContentionRules::Priorities::none}, {"by_intensity", ContentionRules::Priorities::by_intensity}});
  const bool shifted = fields.reading() && contention.interleaved;
  if (shifted && !fields.has("phases")) { return; }
  if (shifted) {
    fields.problem("phases", "no-effect", "steps that are shifted on purpose do not begin at any time",
                   R"(leave out "phases" or "interleaved")");
  }
  fields.optional("phases", contention.phases,
                  "Steps of trainings that meet begin at any time of each other's: the mean over so many draws of when",
                  {1, 1000});
}

bool TrainingResolution::problem(const SourceLocation& place, std::string code, std::string message, std::string hint) {
  context_.problems.add({std::move(code), std::move(message), place, std::move(hint)});
  return false;
}

bool TrainingResolution::is_possible(const WorkloadJobKind& job) {
  if (!described_.mixture.empty()) {
    return problem(job.place, "not-simulated", "trainings of a workload are simulated on nodes of one kind",
                   "describe a cluster of one kind of node, or give jobs a \"duration\" alone");
  }
  const bool shared = std::any_of(job.tasks.begin(), job.tasks.end(),
                                  [](const WorkloadTasks& t) { return t.gpu_milli || !t.mig.empty(); });
  return !shared ||
         problem(job.place, "conflict", "a training has its GPUs to itself", R"(leave out "gpu_milli" and "mig")");
}

/// 0 where something is in the way.
std::uint32_t TrainingResolution::gpus_of(const WorkloadJobKind& job, const TrainingConfig& config) {
  const std::uint64_t others = degrees_of(config.plan);
  std::uint64_t gpus = job.gpus.value_or(0);
  for (const WorkloadTasks& tasks : job.tasks) { gpus += std::uint64_t{tasks.count} * tasks.gpus; }
  if (gpus == 0 && !config.data) {
    problem(job.place, "missing-key", fmt::format("nothing says on how many GPUs '{}' is trained", job.training),
            "give the job \"gpus\", or the training's \"parallel\" its \"data\"");
    return 0;
  }
  const std::uint64_t planned = others * config.data.value_or(1);
  if (gpus == 0) { gpus = planned; }
  if (config.data && gpus != planned) {
    problem(job.place, "conflict",
            fmt::format("the job has {} GPUs, and the plan of '{}' is for {}", gpus, job.training, planned),
            "leave out \"gpus\", or \"data\" of the plan");
    return 0;
  }
  if (gpus > cluster_.endpoints.size()) {
    problem(job.place, "job-too-large", fmt::format("{} GPUs, and the cluster has {}", gpus, cluster_.endpoints.size()),
            "make the cluster larger, or the job smaller");
    return 0;
  }
  return static_cast<std::uint32_t>(gpus);
}

/// Users ask for whole nodes where they can.
void TrainingResolution::spread(WorkloadJobKind& job, std::uint32_t gpus) const {
  if (!job.tasks.empty()) { return; }
  const std::uint16_t of_node = nodes_.nodes[NodeId{0}].gpus;
  job.gpus.reset();
  const bool whole = gpus % of_node == 0;
  WorkloadTasks& tasks = job.tasks.emplace_back();
  tasks.count = whole ? gpus / of_node : gpus;
  tasks.gpus = whole ? of_node : std::uint16_t{1};
}

std::uint32_t TrainingResolution::training_on(std::uint32_t number, std::uint32_t gpus) {
  const auto [found, fresh] = known_.try_emplace({number, gpus}, kNone);
  if (!fresh) { return found->second; }
  TrainingConfig config = written_[number].config;
  const auto training = resolve_training(context_, described_, first_endpoints(cluster_, gpus), config);
  if (!training) { return kNone; }
  for (const std::string& note : training->notes) {
    all_.notes.push_back(fmt::format("training '{}' on {} GPUs: {}", written_[number].name, gpus, note));
  }
  found->second = static_cast<std::uint32_t>(all_.trainings.size());
  all_.trainings.push_back(training);
  return found->second;
}

void TrainingResolution::resolve(WorkloadJobKind& job) {
  if (job.training.empty()) { return; }
  const auto named = [&](const WorkloadTraining& each) { return each.name == job.training; };
  const auto written = std::find_if(written_.begin(), written_.end(), named);
  if (written == written_.end()) {
    std::vector<std::string> names;
    for (const WorkloadTraining& each : written_) { names.push_back(each.name); }
    problem(job.place, "no-training", fmt::format("no training is called '{}'", job.training),
            names.empty() ? R"(describe it in "trainings" of the workload)" : "there is " + enumeration(names));
    return;
  }
  if (!is_possible(job)) { return; }
  const std::uint32_t gpus = gpus_of(job, written->config);
  if (gpus == 0) { return; }
  const std::uint32_t training = training_on(static_cast<std::uint32_t>(written - written_.begin()), gpus);
  if (training == kNone) { return; }
  spread(job, gpus);
  all_.activities.push_back({training, job.steps.value_or(0)});
  job.activity = ActivityId{static_cast<std::uint32_t>(all_.activities.size())};
}

WorkloadTrainings TrainingResolution::take() {
  for (std::uint32_t number = 0; number < written_.size(); ++number) {
    const auto used = [&](const auto& each) { return each.first.first == number; };
    if (std::any_of(known_.begin(), known_.end(), used) || !context_.problems.empty()) { continue; }
    problem(written_[number].config.place, "no-effect", fmt::format("no job trains '{}'", written_[number].name),
            "leave it out, or name it in a job");
  }
  return std::move(all_);
}

}  // namespace athanor
