#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/jobs/schedulers/gpu_row.hpp"
#include "sim/random.hpp"

namespace athanor {

/// A job that a PolluxSearch gives GPUs to.
struct PolluxJob {
  std::uint32_t least_gpus = 1;  ///< or none at all
  std::uint32_t most_gpus = 1;
  GpuRow present;         ///< zeros: it waits
  double if_moved = 1;    ///< what is left of its speed where it runs and gets other GPUs than it has
  double fair_speed = 1;  ///< with its fair share of the cluster
};

/// How hard it looks, and for what.
struct PolluxRules {
  std::uint32_t population = 100;
  std::uint32_t generations = 100;
  bool keep_apart = true;  ///< no node hosts two jobs that span nodes
};

/// GPUs for all jobs, such that the harmonic mean of their speeds, each over what its fair share would give, is high: a
/// genetic search (Qiao et al., "Pollux", OSDI 2021).
class PolluxSearch {
 public:
  /// Rows of all jobs, in their order.
  using Solution = std::vector<GpuRow>;
  /// Of a job by its index, on so many nodes with so many GPUs altogether.
  using SpeedOf = std::function<double(std::size_t, std::uint32_t, std::uint32_t)>;

  /// `capacity`: GPUs of each node. Borrows `speed` and `random`.
  PolluxSearch(std::vector<std::uint32_t> capacity, std::vector<PolluxJob> jobs, const SpeedOf& speed,
               const PolluxRules& rules, RandomStream& random);

  /// Goes on from these, and returns as many as the population has, the best first.
  std::vector<Solution> improve(const std::vector<Solution>& from);
  /// The mean of 1 / (speed over fair speed): what is made small.
  double cost(const Solution& solution) const;

 private:
  struct Candidate {
    std::vector<GpuRow> rows;
    std::vector<double> costs;  ///< of each job
    double cost = 0;            ///< their mean
  };

  Candidate candidate(Solution rows);
  Candidate child(const Candidate& mother, const Candidate& father);
  void mutate(Candidate& candidate);
  /// Takes GPUs away, at random, until all limits hold.
  void repair(Candidate& candidate);
  void limit_jobs(Candidate& candidate);
  void limit_nodes(Candidate& candidate);
  void part_spanning_jobs(Candidate& candidate);
  void add_up(Candidate& candidate) const;
  double cost_of(std::size_t job, const GpuRow& row) const;

  std::vector<std::uint32_t> capacity_;
  std::vector<PolluxJob> jobs_;
  const SpeedOf& speed_;
  PolluxRules rules_;
  RandomStream& random_;
  mutable std::vector<std::vector<double>> speeds_;  ///< of each job by nodes and GPUs; below 0: not asked for yet
};

}  // namespace athanor
