#include "models/serving/simulate_serving.hpp"

#include <algorithm>

#include "sim/error.hpp"

namespace athanor {

namespace {

class Dispatch {
 public:
  Dispatch(const ServingRules& rules, std::vector<ReplicaEngine>& engines) : rules_(rules), engines_(engines) {}

  ReplicaEngine& engine_for(Time arrival) {
    switch (rules_.balance) {
      case Balance::round_robin: return engines_[next_++ % engines_.size()];
      case Balance::least_load: break;
    }
    ReplicaEngine* best = nullptr;
    std::uint64_t least = UINT64_MAX;
    for (ReplicaEngine& engine : engines_) {
      engine.advance(arrival);
      const std::uint64_t load = engine.outstanding(arrival);
      if (load < least) { best = &engine; }
      least = std::min(least, load);
    }
    return *best;
  }

 private:
  const ServingRules& rules_;
  std::vector<ReplicaEngine>& engines_;
  std::size_t next_ = 0;
};

}  // namespace

ServingRun simulate_serving(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& law,
                            const std::stop_token& stop) {
  constexpr std::uint32_t kBetweenStops = 1024;  // requests
  ServingRun run;
  run.outcomes.resize(requests.size());
  std::vector<ReplicaEngine> engines;
  engines.reserve(rules.replicas);
  for (std::uint32_t i = 0; i < rules.replicas; ++i) {
    engines.emplace_back(rules.engine, law, requests, run.outcomes, stop);
  }
  Dispatch dispatch(rules, engines);
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    if (i % kBetweenStops == 0 && stop.stop_requested()) { throw Interrupted(); }
    dispatch.engine_for(requests[i].arrival).arrive(i);
  }
  for (ReplicaEngine& engine : engines) {
    engine.advance(Time::max());
    run.replicas.push_back(engine.account());
  }
  for (const ServedOutcome& outcome : run.outcomes) { run.end = std::max(run.end, outcome.finished); }
  return run;
}

}  // namespace athanor
