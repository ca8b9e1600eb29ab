#pragma once

#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/simulate_side_by_side.hpp"
#include "models/nccl/execution/runtime.hpp"

namespace athanor {

/// Several jobs on one fabric, whose steps are repeated beside each other, and traffic beside them.
class SideBySideExperiment : public Experiment {
 public:
  /// A key of a job that does nothing there.
  struct IdleKey {
    std::string pointer;
    const char* why;
    const char* instead;
  };

  /// Requires a setup with jobs.
  /// `at_rest`: as keys_at_rest().
  SideBySideExperiment(SideBySideSetup setup, WorkloadNccl nccl, std::vector<IdleKey> idle,
                       std::vector<std::string> at_rest)
      : setup_(std::move(setup)), nccl_(std::move(nccl)), idle_(std::move(idle)), at_rest_(std::move(at_rest)) {}

  const SideBySideSetup& setup() const { return setup_; }

  std::string_view subject() const override { return "side_by_side"; }
  std::string variant() const override;
  std::uint32_t ranks() const override;
  std::uint32_t jobs() const override { return static_cast<std::uint32_t>(setup_.jobs.size()); }
  std::span<const Bytes> sizes() const override;
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::string footer(const std::vector<Record>& records) const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return true; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  std::vector<std::string> keys_at_rest() const override { return at_rest_; }
  void check_asked_sizes() const override;

 private:
  SideBySideSetup setup_;
  WorkloadNccl nccl_;
  std::vector<IdleKey> idle_;
  std::vector<std::string> at_rest_;
};

class ExperimentReader;
std::unique_ptr<ExperimentReader> side_by_side_reader();

}  // namespace athanor
