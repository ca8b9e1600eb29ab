#include "models/serving/serving_effort.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {

/// A replica's share of the requests, and how many of them run at once.
class ReplicaEffort {
 public:
  ReplicaEffort(const RequestMeans& means, const ServingRules& rules, const IterationLaw& law)
      : means_(means), rules_(rules), law_(law), requests_(means.count / rules.replicas) {}

  double running() const {
    const double most = most_running();
    if (means_.per_second == 0) { return most; }
    constexpr int kRounds = 30;  // of a fixed point, of which a rough value is enough
    double running = 1;
    for (int i = 0; i < kRounds; ++i) {
      const double wanted = means_.per_second / rules_.replicas * means_.output * iteration_seconds(running);
      running = std::clamp((running + wanted) / 2, 1.0, most);
    }
    return running;
  }

  double steps(double running) const {
    const double chunks = means_.prompt / rules_.engine.max_batched_tokens;
    double ends = requests_ * (chunks + 2 + 2 * preemptions());
    if (means_.per_second > 0) { ends += requests_; }
    return std::min(ends, requests_ * (chunks + (means_.output - 1) / running));
  }

 private:
  double kept() const { return means_.prompt + (rules_.engine.reserve_output ? 1 : 0.5) * means_.output; }
  double max_running() const { return static_cast<double>(rules_.engine.max_running); }
  double room() const { return static_cast<double>(rules_.engine.pages) * rules_.engine.page; }

  double most_running() const { return std::max(1.0, std::min({requests_, max_running(), room() / kept()})); }

  /// Of a request: half of those that come to run, with their prompts alone, beyond what there is room for later.
  double preemptions() const {
    if (rules_.engine.reserve_output || means_.per_second > 0) { return 0; }
    const double begun = std::min({requests_, max_running(), room() / means_.prompt});
    return std::max(0.0, begun / most_running() - 1) / 2;
  }

  double iteration_seconds(double running) const {
    const double tokens =
        std::min<double>(running * (1 + means_.prompt / means_.output), rules_.engine.max_batched_tokens);
    return seconds(law_.of_tokens(static_cast<std::uint32_t>(std::max(1.0, tokens)))) +
           seconds(law_.per_attended) * running * kept();
  }

  const RequestMeans& means_;
  const ServingRules& rules_;
  const IterationLaw& law_;
  double requests_;
};

}  // namespace

RequestMeans means_of(const ServedRequests& requests) {
  RequestMeans means{.count = static_cast<double>(requests.size()), .prompt = 0, .output = 0};
  for (const ServedRequest& each : requests) {
    means.prompt += each.prompt / means.count;
    means.output += each.output / means.count;
  }
  const double span = seconds(requests.back().arrival - requests.front().arrival);
  if (span > 0) { means.per_second = means.count / span; }
  return means;
}

RequestMeans means_of(const RequestRules& rules) {
  RequestMeans means{
      .count = static_cast<double>(rules.count), .prompt = rules.prompt.mean, .output = rules.output.mean};
  if (rules.between) { means.per_second = 1 / seconds(*rules.between); }
  if (rules.count == 0) { means.count = std::max(1.0, seconds(rules.duration) * means.per_second); }
  return means;
}

ServingEffort effort_of(const RequestMeans& means, const ServingRules& rules, const IterationLaw& law) {
  const ReplicaEffort replica(means, rules, law);
  const double running = replica.running();
  ServingEffort effort;
  effort.steps = replica.steps(running) * rules.replicas;
  effort.places = effort.steps * running;
  return effort;
}

}  // namespace athanor
