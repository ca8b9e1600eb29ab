#include "models/serving/simulate_serving.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "sim/error.hpp"

namespace athanor {

namespace {

/// Sends each request to the replica that has fewest. Replicas are looked at only when one of them may have finished a
/// request, so that what they do in between is computed at once.
class LeastLoaded {
 public:
  LeastLoaded(const ServedRequests& requests, std::vector<ReplicaEngine>& engines)
      : requests_(requests), engines_(engines), states_(engines.size()) {
    for (std::uint32_t i = 0; i < engines.size(); ++i) { by_load_.insert({0, i}); }
  }

  void send(std::uint32_t request) {
    const Time now = requests_[request].arrival;
    look_at_changed(now);
    const std::uint32_t chosen = by_load_.begin()->second;
    engines_[chosen].arrive(request);
    look_at(chosen, now);
  }

 private:
  struct State {
    std::uint64_t load = 0;
    Time changes = Time::max();  ///< not before
  };

  void look_at_changed(Time now) {
    changed_.clear();
    while (!changes_.empty() && changes_.top().first <= now) {
      const auto [time, engine] = changes_.top();
      changes_.pop();
      if (states_[engine].changes == time) { changed_.push_back(engine); }
    }
    for (const std::uint32_t engine : changed_) { look_at(engine, now); }
  }

  void look_at(std::uint32_t engine, Time now) {
    State& state = states_[engine];
    const Time changes = engines_[engine].look_ahead(now);
    const std::uint64_t load = engines_[engine].outstanding(now);
    if (load != state.load) {
      by_load_.erase({state.load, engine});
      by_load_.insert({load, engine});
    }
    state = {load, changes};
    if (changes < Time::max()) { changes_.push({changes, engine}); }
  }

  using Change = std::pair<Time, std::uint32_t>;

  const ServedRequests& requests_;
  std::vector<ReplicaEngine>& engines_;
  std::vector<State> states_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> by_load_;
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;  ///< those of before are passed over
  std::vector<std::uint32_t> changed_;
};

void send_all(const ServedRequests& requests, const ServingRules& rules, std::vector<ReplicaEngine>& engines,
              const std::stop_token& stop) {
  constexpr std::uint32_t kBetweenStops = 1024;  // requests
  LeastLoaded least_loaded(requests, engines);
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    if (i % kBetweenStops == 0 && stop.stop_requested()) { throw Interrupted(); }
    switch (rules.balance) {
      case Balance::round_robin: engines[i % engines.size()].arrive(i); break;
      case Balance::least_load: least_loaded.send(i); break;
    }
  }
}

}  // namespace

ServingRun simulate_serving(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& law,
                            const std::stop_token& stop) {
  ServingRun run;
  run.outcomes.resize(requests.size());
  std::vector<ReplicaEngine> engines;
  engines.reserve(rules.replicas);
  for (std::uint32_t i = 0; i < rules.replicas; ++i) {
    engines.emplace_back(rules.engine, law, requests, run.outcomes, stop);
  }
  send_all(requests, rules, engines, stop);
  for (ReplicaEngine& engine : engines) {
    engine.advance(Time::max());
    run.replicas.push_back(engine.account());
  }
  for (const ServedOutcome& outcome : run.outcomes) { run.end = std::max(run.end, outcome.finished); }
  return run;
}

}  // namespace athanor
