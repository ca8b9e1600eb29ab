#pragma once

#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/parameter_server_section.hpp"

namespace athanor {

/// Training with parameters on servers, over a range of sizes of the model. Software of the network costs nothing.
class ParameterServerExperiment : public Experiment {
 public:
  /// Requires settings that were resolved.
  explicit ParameterServerExperiment(ParameterServerConfig config) : config_(std::move(config)) {}

  std::string_view subject() const override { return "parameter_server"; }
  std::string variant() const override { return std::string(name(config_.setup.update)); }
  std::uint32_t ranks() const override { return static_cast<std::uint32_t>(config_.setup.workers.size()); }
  std::span<const Bytes> sizes() const override { return config_.sizes; }
  std::string_view sizes_key() const override { return "parameters"; }
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  const RepetitionSummary* repetitions() const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return false; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  ParameterServerConfig config_;
};

}  // namespace athanor
