#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/layouts/layout_plan.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/training/compute_profile.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// Layouts that can be planned, and where.
struct LayoutsSetup {
  LayoutTask task;
  GpuRates gpu;
  ComputeProfile compute;
  std::string model;  ///< "14 operators in 48 repetitions"
  std::map<const Column*, Ratio> measured;
  std::optional<Ratio> max_error;
  std::vector<std::string> notes;
};

/// Operators on tensors that are laid out over a mesh of devices, and the collectives that follow.
class LayoutsExperiment : public Experiment {
 public:
  LayoutsExperiment(std::shared_ptr<const LayoutsSetup> setup, WorkloadNccl nccl)
      : setup_(std::move(setup)), nccl_(std::move(nccl)) {}

  std::string_view subject() const override { return "layouts"; }
  std::string variant() const override;
  std::uint32_t ranks() const override { return setup_->task.mesh.devices(); }
  std::span<const Bytes> sizes() const override;
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  /// Those that somebody may have measured.
  static std::vector<const Column*> measurable();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::vector<std::string> warnings(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  std::optional<Reference> reference() const override;
  bool has_collectives() const override { return true; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  Record planned(const Run& run) const;

  std::shared_ptr<const LayoutsSetup> setup_;
  WorkloadNccl nccl_;
};

/// "data 4 x tensor 8".
std::string text_of(const DeviceMesh& mesh);

}  // namespace athanor
