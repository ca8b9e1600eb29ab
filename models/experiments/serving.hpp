#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/experiments/experiment.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/serving/iteration_time.hpp"
#include "models/serving/request_rules.hpp"
#include "models/serving/serving_summary.hpp"
#include "models/serving/simulate_serving.hpp"

namespace athanor {

/// A serving that can be simulated.
struct Serving {
  IterationParts parts;  ///< all but the price of calls
  ServingRules rules;
  ServingLimits limits;
  RequestRules drawn;                                        ///< where nothing is recorded
  std::shared_ptr<const ServedRequests> recorded = nullptr;  ///< null: requests are drawn with the platform's seed
  std::string requests;                                      ///< in words
  std::map<const Column*, Ratio> measured;
  std::optional<Ratio> max_error;
  std::vector<std::string> notes;

  std::uint32_t gpus() const { return parts.served.tensor * rules.replicas; }
};

/// A model that answers requests, on replicas that each batch what has come to them.
class ServingExperiment : public Experiment {
 public:
  ServingExperiment(std::shared_ptr<const Serving> serving, WorkloadNccl nccl)
      : serving_(std::move(serving)), nccl_(std::move(nccl)) {}

  const Serving& serving() const { return *serving_; }

  std::string_view subject() const override { return "serving"; }
  std::string variant() const override { return serving_->parts.served.model.name; }
  std::uint32_t ranks() const override { return serving_->gpus(); }
  std::span<const Bytes> sizes() const override;
  std::string label(Bytes size) const override;
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  const RepetitionSummary* repetitions() const override;
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
  Record served(const Run& run) const;
  /// Throws SimulationError("request-too-long").
  ServedRequests requests(std::uint64_t seed) const;

  std::shared_ptr<const Serving> serving_;
  WorkloadNccl nccl_;
};

/// Why no replica can serve a request.
struct RequestObstacle {
  std::string message;
  std::string hint;  ///< what to do
};

/// None: an engine of these rules can serve the request when it is alone (fits_engine).
std::optional<RequestObstacle> obstacle_of(const ServedRequest& request, const EngineRules& rules);
/// Of the first request that has one, with its number.
std::optional<RequestObstacle> first_obstacle(const ServedRequests& requests, const EngineRules& rules);

}  // namespace athanor
