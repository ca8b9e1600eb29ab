#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/id_vector.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// A job of a JobList, in the order of submission.
using JobId = Id<struct JobTag>;
/// What a job asks for: one of JobList::shapes. Jobs that ask for the same have the same.
using ShapeId = Id<struct ShapeTag>;
/// A name of a user, a queue or a job: one of JobList::names.
using NameId = Id<struct NameTag>;
/// What a job does as far as its speed is simulated: whoever does that numbers them. 0: nothing that is.
using ActivityId = Id<struct ActivityTag>;
/// A set of types of GPUs: one of JobList::gpu_types. 0: any.
using GpuTypesId = Id<struct GpuTypesTag>;
/// How fast a job works on which GPUs: one of JobList::gpu_speeds. 0: as fast on all.
using GpuSpeedsId = Id<struct GpuSpeedsTag>;
/// By type, as multiples of full speed; on others it is full.
using GpuSpeeds = std::map<std::string, double>;
/// Names of jobs that have to be completed before: one of JobList::dependencies. 0: none.
using DependenciesId = Id<struct DependenciesTag>;
/// What a job reads and writes: one of DataRules::io. 0: what jobs do that say nothing.
using IoId = Id<struct IoTag>;

/// What one task takes of the node that it runs on.
struct Demand {
  std::uint16_t gpus = 0;       ///< whole ones
  std::uint16_t gpu_milli = 0;  ///< thousandths of one GPU, which it shares; at most 999, and not beside whole ones
  std::uint8_t slice = 0;       ///< of kMigSlices, whose share `gpu_milli` then is; 0: it shares the GPU as it is
  std::uint16_t nics = 0;
  GpuTypesId gpu_types = {};     ///< one of which its GPUs have
  std::uint32_t cpu_milli = 0;   ///< thousandths of a core
  std::uint32_t memory_mib = 0;  ///< MiB

  auto operator<=>(const Demand&) const = default;
};

/// Tasks (pods, ranks, processes) that are alike.
struct TaskGroup {
  std::uint32_t tasks = 1;
  Demand each;

  auto operator<=>(const TaskGroup&) const = default;
};

/// All tasks of a job, which begin together.
using Shape = std::vector<TaskGroup>;
std::uint64_t gpu_milli_of(const Shape& shape);

/// What somebody submits.
struct Job {
  NameId name;
  NameId user;
  NameId queue;
  ShapeId shape;
  ActivityId activity = {};
  WallTime submitted;
  WallTime duration;                    ///< of an undisturbed run at full speed: its work
  WallTime limit = WallTime::max();     ///< after which it is ended
  WallTime expected = WallTime::max();  ///< how long it runs, as far as schedulers know
  std::int32_t priority = 0;            ///< the higher the sooner, where a scheduler asks for it
  bool preemptible = false;             ///< it may use nodes that are taken back, where a scheduler has such
  NameId application;                   ///< whose profile says how fast it works, and how long; "": none
  std::uint32_t batch = 0;              ///< of all its GPUs together; of an application
  std::uint32_t least_gpus = 0;         ///< of an elastic job, whose tasks are alike: schedulers may give it fewer
  std::uint32_t most_gpus = 0;          ///< or more than its shape says; 0: it is not elastic

  bool is_elastic() const { return most_gpus > 0; }
  IoId io;
  GpuSpeedsId gpu_speeds;
  DependenciesId after;                ///< schedulers hear of it when all jobs of these names have been completed
  std::uint32_t retries = UINT32_MAX;  ///< after so many failures and one more it is given up
};

/// All jobs of a workload, in the order of submission, and of their list where that is the same.
class JobList {
 public:
  JobList();

  IdVector<JobId, Job> jobs;

  /// The id of an equal one, or of a new one.
  ShapeId shape(const Shape& shape);
  NameId name(std::string_view name);
  /// Of names in any order.
  DependenciesId dependencies(std::vector<NameId> names);
  /// Of types in any order; of none: any.
  GpuTypesId gpu_types(std::vector<std::string> types);
  GpuSpeedsId gpu_speeds(const GpuSpeeds& speeds);

  const Shape& shape(ShapeId id) const { return shapes_[id]; }
  const Shape& shape(JobId id) const { return shapes_[jobs[id].shape]; }
  std::size_t shapes() const { return shapes_.size(); }
  const std::string& name(NameId id) const { return names_[id]; }
  /// What a job is called: by its number, "job 17", where it has no name.
  std::string title(JobId id) const;
  const std::vector<NameId>& dependencies(DependenciesId id) const { return dependencies_[id]; }
  const IdVector<DependenciesId, std::vector<NameId>>& dependencies() const { return dependencies_; }
  const std::vector<std::string>& gpu_types(GpuTypesId id) const { return gpu_types_[id]; }
  const IdVector<GpuSpeedsId, GpuSpeeds>& gpu_speeds() const { return gpu_speeds_; }
  std::size_t gpu_type_sets() const { return gpu_types_.size(); }
  std::size_t size() const { return jobs.size(); }
  /// Sorts jobs by submission; those of one instant stay as they were.
  void sort();

 private:
  IdVector<ShapeId, Shape> shapes_;
  IdVector<NameId, std::string> names_;
  IdVector<GpuTypesId, std::vector<std::string>> gpu_types_;
  IdVector<GpuSpeedsId, GpuSpeeds> gpu_speeds_;
  IdVector<DependenciesId, std::vector<NameId>> dependencies_;
  std::unordered_map<std::string, NameId> name_ids_;
  std::unordered_map<std::uint64_t, std::vector<ShapeId>> shape_ids_;  ///< by hash
};

}  // namespace athanor
