#include "tools/calibrate/tables/row_times.hpp"

#include <algorithm>
#include <optional>

#include "models/execution/choice.hpp"

namespace athanor {

namespace {

void add(const HopCost& hop, std::vector<std::int64_t>& key) {
  key.insert(key.end(), {hop.latency.count(), hop.rate.count(), hop.pace.count(), hop.efficiency.numerator,
                         hop.efficiency.denominator});
}

/// All that differs between the protocols of two profiles.
std::vector<std::int64_t> key_of(const RunRequest& request, const Candidate& candidate) {
  const Protocol& protocol = candidate.protocol();
  const Layout& layout = candidate.layout();
  const auto algorithm = std::find(request.algorithms.begin(), request.algorithms.end(), &candidate.algorithm());
  std::vector<std::int64_t> key{algorithm - request.algorithms.begin(),
                                protocol.overhead.count(),
                                protocol.keep_rate.count(),
                                layout.chunk.count(),
                                protocol.payload.numerator,
                                protocol.payload.denominator,
                                layout.channels,
                                layout.slices,
                                protocol.slots,
                                layout.as<PeerRoundShape>().parts};
  add(protocol.node, key);
  add(protocol.network, key);
  add(protocol.engine, key);
  return key;
}

}  // namespace

Time RowTimes::simulated(const RunRequest& request, const Candidate& candidate) {
  const auto [found, is_new] = known_.try_emplace(key_of(request, candidate));
  if (is_new) { found->second = candidate.run(request.options).simulated.time; }
  return found->second;
}

Time RowTimes::fastest(const RunRequest& request) {
  std::optional<Time> best;
  for (const Algorithm* algorithm : request.algorithms) {
    for (const Candidate& candidate : candidates_of(request, *algorithm).fitting) {
      const Time time = overlapped_launch(simulated(request, candidate) + candidate.launch(), candidate.host_time());
      best = std::min(best.value_or(time), time);
    }
  }
  return best ? *best : choose_fastest(request).result.time;  // falls back, or says why nothing runs
}

}  // namespace athanor
