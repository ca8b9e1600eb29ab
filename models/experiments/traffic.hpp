#pragma once

#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/traffic_section.hpp"

namespace athanor {

/// Point-to-point messages between endpoints, over a range of sizes. Software costs nothing.
class TrafficExperiment : public Experiment {
 public:
  /// Requires settings that were resolved.
  explicit TrafficExperiment(TrafficConfig traffic) : traffic_(std::move(traffic)) {}

  std::string_view subject() const override { return "traffic"; }
  std::string variant() const override { return std::string(name(traffic_.pattern)); }
  std::uint32_t ranks() const override { return traffic_.endpoints.value_or(1); }
  std::span<const Bytes> sizes() const override { return traffic_.sizes; }
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
  TrafficConfig traffic_;
};

/// The line above all Record::flows.
std::string flow_names();

/// Throws UsageError where one of the sizes that were asked for is none of a message.
void refuse_empty_messages(std::span<const Bytes> sizes);

}  // namespace athanor
