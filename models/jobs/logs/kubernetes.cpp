#include <algorithm>

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "models/jobs/logs/entry.hpp"
#include "models/jobs/logs/kube_objects.hpp"
#include "sim/byte_source.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

constexpr Bytes kMostBytes{std::int64_t{1} << 28};

std::vector<YAML::Node> documents_of(const std::string& path) {
  const std::string text = ByteSource(path, kMostBytes).rest();
  try {
    return YAML::LoadAll(text);
  } catch (const YAML::Exception& error) {
    throw ScenarioError({"syntax",
                         fmt::format("this is no YAML: {}", error.msg),
                         {path, error.mark.line + 1, error.mark.column + 1, ""},
                         ""});
  }
}

/// Objects, also those within lists that kubectl prints.
std::vector<YAML::Node> objects_of(const std::string& path) {
  std::vector<YAML::Node> objects;
  for (const YAML::Node& document : documents_of(path)) {
    if (!document.IsMap()) { continue; }
    const YAML::Node items = document["items"];
    if (!items || !items.IsSequence()) {
      objects.push_back(document);
      continue;
    }
    for (const YAML::Node& item : items) { objects.push_back(item); }
  }
  return objects;
}

/// All have a time of submission, or none has.
void check_times(const std::vector<KubeJob>& jobs) {
  const auto has_time = [](const KubeJob& job) { return job.submitted.has_value(); };
  const auto without = std::find_if_not(jobs.begin(), jobs.end(), has_time);
  if (without == jobs.end() || std::none_of(jobs.begin(), jobs.end(), has_time)) { return; }
  throw ScenarioError({"missing-time", fmt::format("nothing says when \"{}\" is submitted", without->name),
                       without->place,
                       "other jobs have a creationTimestamp or an annotation athanor/submitted: give it one, too"});
}

}  // namespace

/// Manifests of jobs as users hand them to Kubernetes. They say nothing of how long a job runs: a key or an annotation
/// does.
struct KubernetesObjects final : LogFormat {
  static constexpr std::string_view kName = "kubernetes";
  static constexpr std::string_view kMeaning =
      "YAML of PyTorchJob, MPIJob, TFJob, Volcano's Job, Job, JobSet, PodGroup";

  void visit(Fields& fields) override {
    fields.optional("duration", duration_, "How long jobs run that have no annotation athanor/duration", {WallTime{1}});
  }

  void read(const std::string& path, const FileReader& /*files*/, JobLog& log) const override {
    const std::vector<YAML::Node> all = objects_of(path);
    KubeNotes notes(path, log);
    KubeObjects objects(duration_, notes);
    for (const YAML::Node& object : all) {
      if (kube_text(object, "kind").ends_with("PriorityClass")) { objects.read_class(object); }
    }
    for (const YAML::Node& object : all) { objects.read(object); }
    notes.throw_if_any();
    check_times(objects.jobs());
    for (const KubeJob& job : objects.jobs()) {
      LoggedJob logged;
      logged.name = job.name;
      logged.user = job.user;
      logged.queue = job.queue;
      logged.shape = job.shape;
      logged.submitted = job.submitted.value_or(LogTime{});
      logged.duration = job.duration;
      logged.limit = job.limit;
      logged.predicted = job.predicted;
      logged.priority = job.priority;
      logged.preemptible = job.preemptible;
      logged.retries = job.retries;
      logged.least_gpus = job.least_gpus;
      logged.most_gpus = job.most_gpus;
      log.add(logged);
    }
  }

 private:
  std::optional<WallTime> duration_;
};

template LogFormatEntry log_format_entry_of<KubernetesObjects>();

}  // namespace athanor
