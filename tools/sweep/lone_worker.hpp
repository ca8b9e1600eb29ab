#pragma once

#include "tools/sweep/workers.hpp"

namespace athanor {

/// This process alone.
class LoneWorker : public SweepWorkers {
 public:
  std::uint32_t processes() const override { return 1; }
  bool leads() const override { return true; }
  std::vector<SweepOutcome> serve(const std::function<bool(std::uint64_t&)>& /*next*/) override { return {}; }
  std::size_t under_way() const override { return 0; }
  void work(const SweepOrder& /*order*/, std::uint32_t /*threads*/,
            const std::function<bool()>& /*interrupted*/) override {}
};

/// How many processes a launcher says that it has started, this one among them; 1: no launcher says anything.
std::uint32_t launched_processes();

}  // namespace athanor
