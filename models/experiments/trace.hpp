#pragma once

#include <string>
#include <vector>

#include "models/experiments/scenario/trace_section.hpp"
#include "models/experiments/workload.hpp"

namespace athanor {

/// A trace that is replayed on the platform.
class TraceExperiment : public WorkloadExperiment {
 public:
  /// Requires a trace that was read.
  TraceExperiment(TraceConfig config, WorkloadNccl nccl)
      : WorkloadExperiment(std::move(nccl)), config_(std::move(config)) {}

  Workload workload() const override { return config_.trace->workload; }
  WorkloadRun simulate(const Platform& platform, CollectiveTimer& timer, const WorkloadOptions& options) const override;
  void put_interval(const Platform& platform, const WorkloadRun& run, Record& record) const override;

  std::string_view subject() const override { return "trace"; }
  std::string variant() const override { return std::string(name(config_.trace->format)); }
  std::uint32_t ranks() const override { return config_.trace->ranks; }
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;

 private:
  TraceConfig config_;
};

}  // namespace athanor
