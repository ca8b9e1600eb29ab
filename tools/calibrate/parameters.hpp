#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/shared_memory/thread_costs.hpp"

namespace athanor {

/// One figure of ThreadCosts that a fit may change, as a positive number: times in ps, rates in bytes per second,
/// sizes in bytes.
struct CostParameter {
  std::string name;  ///< "caches[1].rate"
  double least = 1;  ///< bounds that a plausible machine keeps
  double most = 1;
  bool may_vanish = false;  ///< at `least` it is as good as nothing, which is plausible
  std::function<double(const ThreadCosts&)> get;
  std::function<void(ThreadCosts&, double)> set;
};

/// All figures of costs with so many levels of caches: those of bytes on one processor, those of steps on one, and
/// those that take two. The sizes of private caches are none of them.
std::vector<CostParameter> byte_parameters(std::size_t levels);
std::vector<CostParameter> step_parameters();
std::vector<CostParameter> couple_parameters(std::size_t private_levels);

}  // namespace athanor
