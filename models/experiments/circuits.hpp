#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/catalog.hpp"
#include "models/circuits/circuit_phases.hpp"
#include "models/circuits/circuit_switch.hpp"
#include "models/circuits/rotor.hpp"
#include "models/execution/run.hpp"
#include "models/experiments/experiment.hpp"

namespace athanor {

/// The "circuits" of a scenario: what is sent over circuits, and when these change.
struct CircuitsConfig {
  enum class Demand : std::uint8_t {
    all_to_all,   ///< every rank has a part for every other one
    permutation,  ///< rank r has everything for rank r + ranks / 2
  };

  CircuitSwitch circuits;
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::vector<const Algorithm*> algorithms;  ///< the fastest counts; those that do not fit are passed over
  bool each = false;                         ///< all are reported, one by one
  CircuitChange change = CircuitChange::best;
  std::optional<Rotor> rotor;  ///< then neither collective nor change count
  Demand demand = Demand::all_to_all;
  std::vector<Bytes> sizes;  ///< of a rank, as collectives count them
  std::uint32_t ranks = 1;   ///< of the cluster
};

/// Collectives, or what a demand asks for, over optical circuit switches, beside the same on the cluster's own fabric
/// of packets. Software costs nothing.
class CircuitsExperiment : public Experiment {
 public:
  /// `imports`: algorithms of the configuration that stand in files.
  CircuitsExperiment(CircuitsConfig config, std::vector<std::shared_ptr<const Algorithm>> imports)
      : config_(std::move(config)), imports_(std::move(imports)) {}

  std::string_view subject() const override { return "circuits"; }
  std::string variant() const override;
  std::uint32_t ranks() const override { return config_.ranks; }
  std::span<const Bytes> sizes() const override { return config_.sizes; }
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string refusal(const Platform& platform, Ability ability) const override;
  bool has_collectives() const override { return false; }
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  std::vector<Record> collectives(const Run& run) const;
  Record demanded(const Run& run) const;
  /// The same on the cluster's own fabric.
  RunResult over_packets(const Run& run, CollectiveKind kind) const;

  CircuitsConfig config_;
  std::vector<std::shared_ptr<const Algorithm>> imports_;
};

}  // namespace athanor
