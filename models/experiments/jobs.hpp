#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/execution/run_jobs.hpp"
#include "models/experiments/collective.hpp"

namespace athanor {

/// Which endpoints the jobs of a collective get.
enum class JobPlacement : std::uint8_t {
  blocks,       ///< job j those from j * ranks on
  interleaved,  ///< job j every so manieth, from j on: as many as there are jobs
};

/// What one of several jobs has of its own; what it has not is as the jobs' common collective.
struct OwnOfJob {
  std::optional<CollectiveKind> kind;
  std::optional<Bytes> size;                                ///< of the payload; none: that of the row
  std::optional<std::vector<const Algorithm*>> algorithms;  ///< those of files live as long as CollectiveSetup::imports
};

/// Several jobs that run at the same time, each on endpoints of its own.
struct JobsSetup {
  CollectiveSetup common;  ///< what all do that say nothing else; its ranks are those of each job
  std::uint32_t jobs = 1;
  JobPlacement placement = JobPlacement::blocks;
  std::vector<OwnOfJob> own;                             ///< by job; empty: all do the same
  std::vector<std::shared_ptr<const NcclRuntime>> nccl;  ///< by job; empty where the profile has no "nccl"

  /// The endpoints of a job, by rank.
  std::vector<std::uint32_t> endpoints(std::uint32_t job) const;
  /// A job's collective, as if it were alone: on the platform that on_endpoints() makes of its endpoints.
  CollectiveSetup alone(std::uint32_t job) const;
  /// What is to be run. Borrows from both.
  JobsRequest request(const Platform& platform, Bytes size, const SimulationOptions& options) const;
};

class JobsExperiment : public Experiment {
 public:
  explicit JobsExperiment(JobsSetup setup) : setup_(std::move(setup)), common_(setup_.common) {}

  const JobsSetup& setup() const { return setup_; }

  std::string_view subject() const override { return "collective"; }
  std::string variant() const override { return std::string(name(setup_.common.kind)); }
  std::uint32_t ranks() const override { return setup_.common.ranks; }
  std::uint32_t jobs() const override { return setup_.jobs; }
  std::span<const Bytes> sizes() const override { return setup_.common.sizes; }
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::string footer(const std::vector<Record>& records) const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return true; }
  bool may_use_switches(const Platform& platform) const override;
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  JobsSetup setup_;
  CollectiveExperiment common_;  ///< what all jobs have in common
};

}  // namespace athanor
