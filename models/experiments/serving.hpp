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
#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// How many replicas prefill, and how many decode.
struct PoolDivision {
  std::uint32_t prefill = 1;
  std::uint32_t decode = 1;
  bool operator==(const PoolDivision&) const = default;
};

/// A serving that can be simulated.
struct Serving {
  IterationParts parts;              ///< all but the price of calls; of replicas that decode, where others prefill
  ServingRules rules;                ///< their numbers are those of the first division, where there are any
  std::uint32_t prefill_tensor = 1;  ///< GPUs of a replica that prefills, where there is such a pool
  std::vector<PoolDivision> divisions =
      {};  ///< of pools; several: the best of them is searched; empty: there is one pool
  ServingLimits limits;
  RequestRules drawn;                                        ///< where nothing is recorded
  std::shared_ptr<const ServedRequests> recorded = nullptr;  ///< null: requests are drawn with the platform's seed
  std::string requests;                                      ///< in words
  std::map<const Column*, Ratio> measured;
  std::optional<Ratio> max_error;
  CostFigures costs;
  std::vector<std::string> notes;

  /// Of the division with most.
  std::uint32_t gpus() const;
  std::uint32_t gpus(const PoolDivision& division) const {
    return prefill_tensor * division.prefill + parts.served.tensor * division.decode;
  }
  /// As those that prefill share it.
  ServedModel prefilled() const;
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
  /// Where several GPUs share a model.
  bool has_collectives() const override;
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;
  void check_asked_sizes() const override;

 private:
  Record served(const Run& run) const;
  /// Throws SimulationError("request-too-long").
  ServedRequests requests(std::uint64_t seed) const;
  std::string replicas_text() const;

  std::shared_ptr<const Serving> serving_;
  WorkloadNccl nccl_;
};

/// Why no replica can serve a request.
struct RequestObstacle {
  std::string message;
  std::string hint;  ///< what to do
};

/// None: engines of these rules can serve the request when it is alone (fits_engine).
std::optional<RequestObstacle> obstacle_of(const ServedRequest& request, const ServingRules& rules);
/// Of the first request that has one, with its number.
std::optional<RequestObstacle> first_obstacle(const ServedRequests& requests, const ServingRules& rules);

}  // namespace athanor
