#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"

namespace athanor {

/// Who listens while a case runs. What is empty is not asked or told.
struct RunObserver {
  std::function<void(const std::string& what)> begins;  ///< "[3/10] all_reduce of 1 MiB": before each simulation
  std::function<void(Record record)> ends;              ///< each row as soon as it is known
  std::function<bool()> interrupted;                    ///< asked between simulations: end early?
};

/// Runs a case at each of its sizes, with each of its seeds. False: interrupted, by the observer between simulations or
/// by the options' stop within one; what `ends` was told of is whole. Throws SimulationError, which names the scenario,
/// the case and the size.
bool run(const Scenario& scenario, const Case& scenario_case, const RunOptions& options, const RunObserver& observer);

/// The same without anybody who listens: all its records, or those before the stop.
std::vector<Record> run(const Scenario& scenario, const Case& scenario_case, const RunOptions& options = {});

/// What stands above the results of a case: what it simulates on what, with which software.
struct Heading {
  std::vector<std::pair<std::string, std::string>> lines;  ///< label, text: {"cluster", "..."}

  /// "" where there is no such line.
  std::string at(std::string_view label) const;
  /// Lines that begin with '#'.
  std::string text() const;
};
Heading heading_of(const Scenario& scenario, const Case& scenario_case);

}  // namespace athanor
