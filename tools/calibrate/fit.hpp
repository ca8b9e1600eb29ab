#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/software/thread_costs.hpp"
#include "tools/calibrate/search.hpp"

namespace athanor {

using CostParameter = FittedCost<ThreadCosts>;

/// All figures of costs with so many levels of caches: those of bytes on one processor, those of steps on one, and
/// those that take two. The sizes of private caches are none of them.
std::vector<CostParameter> byte_parameters(std::size_t levels);
std::vector<CostParameter> step_parameters();
std::vector<CostParameter> couple_parameters(std::size_t private_levels);

struct FitSettings {
  std::vector<Bytes> private_caches;  ///< of one processor, from the nearest on; at least one
  std::uint32_t processors = 2;
  int evaluations = 2000;  ///< of the model by each search, at most
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Finds the costs with which the model takes as long as the probes did: the least sum of |log(simulated / measured)|
/// over those told to the fit, which a few wild measurements hardly move. First the rates of caches and memory from
/// copies, then what steps cost on one processor, then what two need, and then all of it together, each found by the
/// subplex method (Rowan 1990) on the logarithms of the costs. Fills in `simulated` of all probes.
///
/// Throws SimulationError("not-fitted") where a cost ends at the bound of what is plausible, naming it: the machine was
/// not quiet, or is not one that the model describes.
ThreadCosts fit_thread_costs(std::vector<TimedProbe>& probes, const FitSettings& settings);

}  // namespace athanor
