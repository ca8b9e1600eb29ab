#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/embeddings/recommender_step.hpp"
#include "models/experiments/workload.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// A recommender whose training can be simulated.
struct Recommender {
  RecommenderSetup setup;
  ShardingPlan plan;
  double memory = 0;  ///< bytes of the fullest GPU that are counted
  std::optional<Time> measured;
  std::optional<Ratio> max_error;
  std::vector<std::string> notes;
};

/// A step of training a model with embedding tables that are spread over GPUs.
class RecommenderExperiment : public WorkloadExperiment {
 public:
  RecommenderExperiment(std::shared_ptr<const Recommender> recommender, WorkloadNccl nccl)
      : WorkloadExperiment(std::move(nccl)), recommender_(std::move(recommender)) {}

  const Recommender& recommender() const { return *recommender_; }

  /// Its exchanges as even ones: see with_even_exchanges().
  Workload workload() const override { return with_even_exchanges(step_of(recommender_->setup)); }
  WorkloadRun simulate(const Platform& platform, CollectiveTimer& timer, const WorkloadOptions& options) const override;
  void put_interval(const Platform& platform, const WorkloadRun& run, Record& record) const override;

  std::string_view subject() const override { return "recommender"; }
  std::string variant() const override { return recommender_->setup.model.name; }
  std::uint32_t ranks() const override { return recommender_->setup.grid.ranks; }
  std::vector<Record> run(const Run& run) const override;
  WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const override;
  std::vector<const Column*> columns(bool seeds) const override;
  /// As ExperimentKind::figures.
  static std::vector<const Column*> figures();
  std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const override;
  std::string participants() const override;
  std::optional<Reference> reference() const override;
  std::vector<IdleKeys> idle_keys(const Platform& platform) const override;

 private:
  std::shared_ptr<const Recommender> recommender_;
};

}  // namespace athanor
