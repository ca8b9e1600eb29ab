#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/expert_exchange_section.hpp"

namespace athanor {

/// Tokens to their experts and back, once each, with nothing beside: a row for each way.
class ExpertExchangeExperiment : public Experiment {
 public:
  /// Requires settings that fit the cluster.
  explicit ExpertExchangeExperiment(ExpertExchangeConfig config);

  std::string_view subject() const override { return "expert_exchange"; }
  std::string variant() const override { return std::string(name(config_.settings.kind)); }
  std::uint32_t ranks() const override { return config_.layer.ranks; }
  std::span<const Bytes> sizes() const override { return sizes_; }
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
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
  Record record_of(const Run& run, bool combines) const;

  ExpertExchangeConfig config_;
  TokenRouting routing_;
  std::array<Bytes, 1> sizes_{Bytes::zero()};
};

}  // namespace athanor
