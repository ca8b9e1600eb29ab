#include "models/jobs/logs/kube_objects.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "models/jobs/logs/kube_pod.hpp"
#include "sim/parse.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// Kinds whose pods are replicas of roles, and where these stand.
constexpr std::array<std::pair<std::string_view, const char*>, 6> kReplicaKinds = {
    {{"PyTorchJob", "pytorchReplicaSpecs"},
     {"TFJob", "tfReplicaSpecs"},
     {"MPIJob", "mpiReplicaSpecs"},
     {"XGBoostJob", "xgbReplicaSpecs"},
     {"PaddleJob", "paddleReplicaSpecs"},
     {"JAXJob", "jaxReplicaSpecs"}}};

std::uint64_t tasks_of(const Shape& shape) {
  std::uint64_t sum = 0;
  for (const TaskGroup& group : shape) { sum += group.tasks; }
  return sum;
}

/// Another's domain, whose labels and annotations tell schedulers what to do.
bool is_for_schedulers(std::string_view key) {
  return key.starts_with("kueue.x-k8s.io/") || key.starts_with("scheduling.") || key.starts_with("volcano.sh/") ||
         key.find(".volcano.sh/") != std::string_view::npos || key.starts_with("athanor/");
}

YAML::Node child(const YAML::Node& map, const char* key) {
  if (map && map.IsMap()) {
    if (const YAML::Node found = map[key]) { return found; }
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

}  // namespace

std::optional<WallTime> kube_span_of(std::string_view text) {
  if (const auto span = parse_wall_time(text).value) { return *span < WallTime{} ? std::nullopt : span; }
  if (const auto plain = seconds_of_text(text)) { return plain; }
  WallTime sum;
  for (const auto& [unit, worth] : {std::pair{'h', 3600.0}, std::pair{'m', 60.0}, std::pair{'s', 1.0}}) {
    const std::size_t end = text.find(unit);
    if (end == std::string_view::npos) { continue; }
    const auto number = number_of(text.substr(0, end));
    if (!number || !(*number >= 0) || *number > 1e9) { return {}; }
    sum += WallTime{static_cast<std::int64_t>(*number * worth * 1e6)};
    text.remove_prefix(end + 1);
  }
  return text.empty() && sum > WallTime{} ? std::optional(sum) : std::nullopt;
}

void KubeObjects::read_class(const YAML::Node& object) {
  const auto value = whole_number_of(kube_text(object, "value"));
  if (!value || *value < -2'147'483'648 || *value > 2'147'483'647) {
    notes_.problem(object, "wrong-type", "this class of priority has no whole number as its \"value\"", "");
    return;
  }
  classes_[kube_text(child(object, "metadata"), "name")] = static_cast<std::int32_t>(*value);
}

void KubeObjects::read(const YAML::Node& object) {
  const std::string kind = kube_text(object, "kind");
  if (kind == "PriorityClass" || kind == "WorkloadPriorityClass") { return; }
  KubeJob job;
  job.place = notes_.place(object);
  const auto replicas =
      std::find_if(kReplicaKinds.begin(), kReplicaKinds.end(), [&](const auto& each) { return each.first == kind; });
  const bool known = replicas != kReplicaKinds.end() || kind == "Job" || kind == "JobSet" || kind == "PodGroup";
  if (!known) {
    notes_.log().leave_out(fmt::format("an object of kind \"{}\" is none of the jobs that are read", kind), job.place);
    return;
  }
  read_metadata(object, job);
  if (replicas != kReplicaKinds.end()) {
    read_replicas(object, replicas->second, job);
  } else if (kind == "JobSet") {
    read_job_set(object, job);
  } else if (kind == "PodGroup") {
    if (!child(child(object, "spec"), "minResources")) {
      notes_.log().leave_out("a PodGroup without \"minResources\" says nothing of what it asks for", job.place);
      return;
    }
    read_pod_group(object, job);
  } else if (kube_text(object, "apiVersion").starts_with("batch.volcano.sh/")) {
    read_volcano(object, job);
  } else {
    read_job(object, job);
  }
  finish(object, std::move(job));
}

void KubeObjects::read_metadata(const YAML::Node& object, KubeJob& job) {
  const YAML::Node metadata = child(object, "metadata");
  job.name = kube_text(metadata, "name");
  if (job.name.empty()) { job.name = kube_text(metadata, "generateName"); }
  job.user = kube_text(metadata, "namespace");
  job.submitted = date_of(kube_text(metadata, "creationTimestamp"));
  read_labels(child(metadata, "labels"), job);
  const YAML::Node annotations = child(metadata, "annotations");
  const auto submitted = span_at(annotations, "athanor/submitted");
  if (submitted) { job.submitted = *submitted; }
  job.duration = span_at(annotations, "athanor/duration").value_or(duration_.value_or(WallTime{}));
  if (job.duration == WallTime{}) {
    notes_.problem(object, "missing-duration", "nothing says how long this job runs",
                   "write \"duration\" beside \"file\", or annotate it with athanor/duration: 2h");
  }
  if (!annotations || !annotations.IsMap()) { return; }
  for (const auto& each : annotations) {
    const std::string& key = each.first.Scalar();
    if (!is_for_schedulers(key) || key == "athanor/submitted" || key == "athanor/duration") { continue; }
    if (key == "volcano.sh/preemptable") { job.preemptible = each.second.IsScalar() && each.second.Scalar() == "true"; }
    notes_.log().has_no_effect(fmt::format("annotation \"{}\"", key), notes_.place(each.first));
  }
}

void KubeObjects::read_labels(const YAML::Node& labels, KubeJob& job) {
  if (!labels || !labels.IsMap()) { return; }
  for (const auto& each : labels) {
    const std::string& key = each.first.Scalar();
    if (key == "kueue.x-k8s.io/queue-name" && each.second.IsScalar()) {
      job.queue = each.second.Scalar();
    } else if (key == "kueue.x-k8s.io/priority-class" && each.second.IsScalar()) {
      job.priority_class = each.second.Scalar();
    } else if (is_for_schedulers(key)) {
      notes_.log().has_no_effect(fmt::format("label \"{}\"", key), notes_.place(each.first));
    }
  }
}

void KubeObjects::read_replicas(const YAML::Node& object, const char* specs, KubeJob& job) {
  const YAML::Node spec = child(object, "spec");
  notes_.known_keys(spec, kube_text(object, "kind"), {specs, "runPolicy", "elasticPolicy"});
  const YAML::Node roles = child(spec, specs);
  if (!roles || !roles.IsMap()) {
    notes_.problem(object, "missing-key", fmt::format("there is no \"{}\" in its \"spec\"", specs), "");
    return;
  }
  for (const auto& role : roles) {
    notes_.known_keys(role.second, "a replica", {"replicas", "template"});
    add_pods(role.second, kube_count(role.second, "replicas", 1, notes_), job);
  }
  if (const YAML::Node elastic = child(spec, "elasticPolicy")) { read_elastic_policy(elastic, job); }
  read_run_policy(child(spec, "runPolicy"), job);
}

void KubeObjects::read_elastic_policy(const YAML::Node& policy, KubeJob& job) {
  notes_.known_keys(policy, "elasticPolicy",
                    {"minReplicas", "maxReplicas", "nProcPerNode", "standalone", "rdzvBackend", "rdzvHost", "rdzvPort",
                     "rdzvId", "rdzvConf"});
  if (job.shape.size() != 1 || job.shape.front().each.gpus == 0) {
    notes_.problem(policy, "elastic", "an elastic job here has one kind of replicas, with GPUs",
                   "leave out \"elasticPolicy\", or all replicas but the workers");
    return;
  }
  const std::uint32_t replicas = job.shape.front().tasks;
  const std::uint32_t least = kube_count(policy, "minReplicas", replicas, notes_);
  const std::uint32_t most = kube_count(policy, "maxReplicas", replicas, notes_);
  if (least == 0 || least > replicas || most < replicas || most > 1'000'000) {
    notes_.problem(
        policy, "out-of-range",
        fmt::format("{} replicas are not between \"minReplicas\" {} and \"maxReplicas\" {}", replicas, least, most),
        "as in 4 replicas with {minReplicas: 2, maxReplicas: 8}");
    return;
  }
  if (least == most) { return; }
  job.least_gpus = least * job.shape.front().each.gpus;
  job.most_gpus = most * job.shape.front().each.gpus;
}

void KubeObjects::read_run_policy(const YAML::Node& policy, KubeJob& job) {
  notes_.known_keys(policy, "runPolicy", {"schedulingPolicy", "activeDeadlineSeconds", "backoffLimit", "suspend"});
  set_limits(policy, job);
  const YAML::Node scheduling = child(policy, "schedulingPolicy");
  notes_.known_keys(scheduling, "schedulingPolicy", {"minAvailable", "queue", "priorityClass"});
  if (const std::string queue = kube_text(scheduling, "queue"); !queue.empty()) { job.queue = queue; }
  if (const std::string name = kube_text(scheduling, "priorityClass"); !name.empty()) { job.priority_class = name; }
  const bool elastic = job.most_gpus > 0;
  check_minimum(scheduling, elastic ? job.least_gpus / job.shape.front().each.gpus : tasks_of(job.shape));
  check_suspend(policy, job);
}

void KubeObjects::read_volcano(const YAML::Node& object, KubeJob& job) {
  const YAML::Node spec = child(object, "spec");
  notes_.known_keys(
      spec, "a Volcano Job",
      {"tasks", "minAvailable", "queue", "priorityClassName", "schedulerName", "runningEstimate", "maxRetry"});
  const YAML::Node tasks = child(spec, "tasks");
  if (!tasks || !tasks.IsSequence()) {
    notes_.problem(object, "missing-key", "there is no list \"tasks\" in its \"spec\"", "");
    return;
  }
  for (const YAML::Node& task : tasks) {
    notes_.known_keys(task, "a task", {"name", "replicas", "template", "minAvailable"});
    const std::uint32_t replicas = kube_count(task, "replicas", 1, notes_);
    check_minimum(task, replicas);
    add_pods(task, replicas, job);
  }
  if (const std::string queue = kube_text(spec, "queue"); !queue.empty()) { job.queue = queue; }
  if (const std::string name = kube_text(spec, "priorityClassName"); !name.empty()) { job.priority_class = name; }
  job.predicted = span_at(spec, "runningEstimate");
  job.retries = kube_count(spec, "maxRetry", job.retries, notes_);
  read_minimum(spec, job);
}

void KubeObjects::read_job(const YAML::Node& object, KubeJob& job) {
  const YAML::Node spec = child(object, "spec");
  add_job_pods(spec, 1, job);
  set_limits(spec, job);
  check_suspend(spec, job);
}

void KubeObjects::read_job_set(const YAML::Node& object, KubeJob& job) {
  const YAML::Node spec = child(object, "spec");
  notes_.known_keys(spec, "a JobSet", {"replicatedJobs", "suspend"});
  const YAML::Node jobs = child(spec, "replicatedJobs");
  if (!jobs || !jobs.IsSequence()) {
    notes_.problem(object, "missing-key", "there is no list \"replicatedJobs\" in its \"spec\"", "");
    return;
  }
  for (const YAML::Node& each : jobs) {
    notes_.known_keys(each, "a replicated job", {"name", "replicas", "template"});
    add_job_pods(child(child(each, "template"), "spec"), kube_count(each, "replicas", 1, notes_), job);
  }
  check_suspend(spec, job);
}

void KubeObjects::add_job_pods(const YAML::Node& spec, std::uint32_t times, KubeJob& job) {
  notes_.known_keys(
      spec, "a Job",
      {"parallelism", "completions", "completionMode", "template", "activeDeadlineSeconds", "backoffLimit", "suspend"});
  const std::uint32_t parallel = kube_count(spec, "parallelism", 1, notes_);
  if (kube_count(spec, "completions", parallel, notes_) != parallel) {
    notes_.problem(child(spec, "completions"), "not-a-gang",
                   fmt::format("{} \"completions\" with {} pods at once: pods of a job begin together here",
                               kube_text(spec, "completions"), parallel),
                   "make \"parallelism\" and \"completions\" equal, or write jobs of one pod each");
  }
  const std::uint64_t all = std::uint64_t{parallel} * times;
  if (all > 1'000'000) {
    notes_.problem(spec, "out-of-range", fmt::format("these are {} pods", all), "a job has 1000000 at most");
    return;
  }
  add_pods(spec, static_cast<std::uint32_t>(all), job);
}

void KubeObjects::read_pod_group(const YAML::Node& object, KubeJob& job) {
  const YAML::Node spec = child(object, "spec");
  notes_.known_keys(spec, "a PodGroup", {"minMember", "minResources", "queue", "priorityClassName"});
  YAML::Node resources;
  resources["requests"] = child(spec, "minResources");
  const std::uint32_t members = std::max(1U, kube_count(spec, "minMember", 1, notes_));
  Demand each = kube_demand_of(resources, members, notes_);
  if (each.gpus % members != 0 || each.gpus / members > 128 || each.nics % members != 0) {
    notes_.problem(child(spec, "minResources"), "uneven",
                   fmt::format("{} GPUs and {} NICs cannot be divided by {} members", each.gpus, each.nics, members),
                   "its members are taken to be alike, with at most 128 GPUs each");
    return;
  }
  each.gpus = static_cast<std::uint16_t>(each.gpus / members);
  each.nics = static_cast<std::uint16_t>(each.nics / members);
  each.cpu_milli /= members;
  each.memory_mib /= members;
  job.shape.push_back({members, each});
  if (const std::string queue = kube_text(spec, "queue"); !queue.empty()) { job.queue = queue; }
  if (const std::string name = kube_text(spec, "priorityClassName"); !name.empty()) { job.priority_class = name; }
}

void KubeObjects::add_pods(const YAML::Node& holder, std::uint32_t count, KubeJob& job) {
  const YAML::Node pods = child(holder, "template");
  if (!pods) {
    const SourceLocation place = holder && holder.IsDefined() ? notes_.place(holder) : job.place;
    notes_.problem(place, "missing-key", "there is no \"template\" of its pods", "it stands in \"spec\"");
    return;
  }
  const YAML::Node pod = child(pods, "spec");
  const YAML::Node annotations = child(child(pods, "metadata"), "annotations");
  if (annotations && annotations.IsMap()) {
    for (const auto& each : annotations) {
      if (!is_for_schedulers(each.first.Scalar())) { continue; }
      notes_.log().has_no_effect(fmt::format("annotation \"{}\" of pods", each.first.Scalar()),
                                 notes_.place(each.first));
    }
  }
  if (job.priority_class.empty()) { job.priority_class = kube_priority_class(pod); }
  const Demand each = kube_pod_demand(pod ? pod : pods, notes_);
  if (count > 0) { job.shape.push_back({count, each}); }
}

void KubeObjects::check_minimum(const YAML::Node& spec, std::uint64_t all) {
  const YAML::Node minimum = child(spec, "minAvailable");
  if (!minimum || kube_text(spec, "minAvailable") == std::to_string(all)) { return; }
  notes_.problem(minimum, "elastic",
                 fmt::format("\"minAvailable\" is {}, and there are {} pods: these run all or none",
                             kube_text(spec, "minAvailable"), all),
                 "leave it out, or make it the number of all pods, or, with \"elasticPolicy\", of \"minReplicas\"; a "
                 "Job of Volcano whose pods are alike may have fewer");
}

void KubeObjects::read_minimum(const YAML::Node& spec, KubeJob& job) {
  const std::uint64_t all = tasks_of(job.shape);
  const bool alike = job.shape.size() == 1 && job.shape.front().each.gpus > 0;
  const std::uint32_t least = kube_count(spec, "minAvailable", static_cast<std::uint32_t>(all), notes_);
  if (!alike || least == 0 || least >= all) { return check_minimum(spec, all); }
  const std::uint32_t of_each = job.shape.front().each.gpus;
  job.least_gpus = least * of_each;
  job.most_gpus = static_cast<std::uint32_t>(all) * of_each;
}

void KubeObjects::check_suspend(const YAML::Node& spec, const KubeJob& job) {
  const bool by_kueue = !job.queue.empty();
  if (by_kueue || kube_text(spec, "suspend") != "true") { return; }
  notes_.problem(child(spec, "suspend"), "suspended", "a suspended job outside of any queue never runs",
                 "leave out \"suspend\", or label it with kueue.x-k8s.io/queue-name");
}

void KubeObjects::set_limits(const YAML::Node& spec, KubeJob& job) {
  const std::optional<WallTime> limit = span_at(spec, "activeDeadlineSeconds");
  if (limit && *limit > WallTime{}) { job.limit = limit; }
  job.retries = kube_count(spec, "backoffLimit", job.retries, notes_);
}

std::optional<WallTime> KubeObjects::span_at(const YAML::Node& map, const char* key) {
  const YAML::Node value = child(map, key);
  if (!value) { return {}; }
  const auto span = kube_span_of(value.IsScalar() ? value.Scalar() : "");
  if (!span) {
    notes_.problem(value, "wrong-type", fmt::format("\"{}\" is no span of time", key), "write it like 2h or 30min");
  }
  return span;
}

void KubeObjects::finish(const YAML::Node& object, KubeJob job) {
  if (!job.priority_class.empty()) {
    const auto at = classes_.find(job.priority_class);
    if (at != classes_.end()) {
      job.priority = at->second;
    } else {
      notes_.problem(object, "unknown-priority-class",
                     fmt::format("no object is the class of priority \"{}\"", job.priority_class),
                     "add a PriorityClass with its \"value\" to the file");
    }
  }
  if (!notes_.ok()) { return; }
  if (gpu_milli_of(job.shape) == 0) { return notes_.log().leave_out("it asks for no GPU", job.place); }
  jobs_.push_back(std::move(job));
}

}  // namespace athanor
