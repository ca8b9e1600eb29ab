#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// What GPUs are shared out for (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
/// Workloads", OSDI 2020).
enum class GavelPolicy : std::uint8_t {
  max_min_fairness,  ///< who gets least, of what an equal share of all GPUs would give it, gets as much as possible
  makespan,          ///< the last one is done as early as possible
  fifo,              ///< earlier jobs are on faster GPUs
};

struct GavelJob {
  std::uint32_t gpus = 1;
  std::vector<double> speeds;  ///< by type of GPU; 0: it cannot be there
  double remaining = 1;        ///< of its work, in seconds at full speed; above 0
};

/// Which share of time each job has GPUs of each type: shares[job][type]. At most all of the time in all, and no more
/// GPUs than there are, on average. A linear program; of its solutions one that leaves the least unused, which jobs get
/// in proportion to their speeds. Throws SimulationError where the solver finds none. `jobs`: in the order of their
/// submission. `gpus`: by type.
std::vector<std::vector<double>> gavel_shares(GavelPolicy policy, const std::vector<GavelJob>& jobs,
                                              const std::vector<std::uint32_t>& gpus);

}  // namespace athanor
