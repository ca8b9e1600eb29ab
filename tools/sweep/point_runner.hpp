#pragma once

#include <functional>
#include <optional>

#include "tools/cli/manifest.hpp"
#include "tools/sweep/database.hpp"
#include "tools/sweep/order.hpp"

namespace athanor {

/// Simulates points, one after the other, in one thread; clusters that stay the same from one to the next are built
/// once. `interrupted` is asked between sizes.
class PointRunner {
 public:
  PointRunner(const SweepOrder& order, std::function<bool()> interrupted);

  /// What is wrong with a point is its outcome, not an exception. None: interrupted.
  std::optional<SweepOutcome> run(std::uint64_t point);

 private:
  bool simulate(std::uint64_t point, SweepOutcome& outcome);

  const SweepOrder& order_;
  std::function<bool()> interrupted_;
  PriceList prices_;
  InputsRead inputs_;
  ScenarioReader reader_;
};

}  // namespace athanor
