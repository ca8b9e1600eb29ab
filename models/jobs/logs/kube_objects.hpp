#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/logs/kube_notes.hpp"

namespace athanor {

/// A job as an object of Kubernetes says it.
struct KubeJob {
  std::string name;
  std::string user;  ///< its namespace
  std::string queue;
  std::string priority_class;
  Shape shape;
  std::uint32_t least_gpus = 0;  ///< as of Job
  std::uint32_t most_gpus = 0;   ///< the same
  std::optional<LogTime> submitted;
  WallTime duration;
  std::optional<WallTime> limit;
  std::uint32_t retries = UINT32_MAX;  ///< after failures; none said: always
  std::optional<WallTime> predicted;
  std::int32_t priority = 0;
  bool preemptible = false;  ///< as of Job
  SourceLocation place;
};

/// Reads objects of the kinds that are jobs: PyTorchJob and its like, MPIJob, Volcano's Job, Job, JobSet, PodGroup.
/// What is wrong is among the notes.
class KubeObjects {
 public:
  /// Borrows the notes. `duration`: of jobs without an annotation that says it.
  KubeObjects(std::optional<WallTime> duration, KubeNotes& notes) : duration_(duration), notes_(notes) {}

  /// Values of classes of priority, which are to be known before jobs name them.
  void read_class(const YAML::Node& object);
  void read(const YAML::Node& object);
  const std::vector<KubeJob>& jobs() const { return jobs_; }

 private:
  void read_replicas(const YAML::Node& object, const char* specs, KubeJob& job);
  void read_run_policy(const YAML::Node& policy, KubeJob& job);
  void read_volcano(const YAML::Node& object, KubeJob& job);
  void read_job(const YAML::Node& object, KubeJob& job);
  void read_job_set(const YAML::Node& object, KubeJob& job);
  void read_pod_group(const YAML::Node& object, KubeJob& job);
  void add_job_pods(const YAML::Node& spec, std::uint32_t times, KubeJob& job);
  void add_pods(const YAML::Node& holder, std::uint32_t count, KubeJob& job);
  void read_metadata(const YAML::Node& object, KubeJob& job);
  void read_labels(const YAML::Node& labels, KubeJob& job);
  /// Of replicas that are alike.
  void read_elastic_policy(const YAML::Node& policy, KubeJob& job);
  void check_minimum(const YAML::Node& spec, std::uint64_t all);
  /// A job that runs with some of its pods is elastic.
  void read_minimum(const YAML::Node& spec, KubeJob& job);
  void check_suspend(const YAML::Node& spec, const KubeJob& job);
  void set_limits(const YAML::Node& spec, KubeJob& job);
  std::optional<WallTime> span_at(const YAML::Node& map, const char* key);
  void finish(const YAML::Node& object, KubeJob job);

  std::optional<WallTime> duration_;
  KubeNotes& notes_;
  std::map<std::string, std::int32_t> classes_;
  std::vector<KubeJob> jobs_;
};

/// "2h30m", "90s", "2 h", "3600": a span of time; none where it is none.
std::optional<WallTime> kube_span_of(std::string_view text);

}  // namespace athanor
