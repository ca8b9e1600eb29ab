#include "models/traffic/traffic_matrix.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

TrafficMatrix repeated(const TrafficMatrix& matrix, std::uint32_t rounds) {
  require(matrix.triggers.empty() && !matrix.window && rounds > 0, "rounds of a matrix that has triggers of its own");
  TrafficMatrix all;
  all.connections = matrix.connections;
  all.messages.reserve(matrix.messages.size() * rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool is_last = round + 1 == rounds;
    if (!is_last) {
      all.triggers.push_back(static_cast<std::uint32_t>(matrix.messages.size()));
      all.fires.push_back(round);
    }
    for (TrafficMatrix::Message message : matrix.messages) {
      message.trigger = round == 0 ? TrafficMatrix::kNoTrigger : round - 1;
      message.first_fired = round;
      message.fired = is_last ? 0 : 1;
      all.messages.push_back(message);
    }
  }
  return all;
}

std::uint32_t never_fired(const TrafficMatrix& matrix) {
  std::vector<std::uint32_t> awaited = matrix.triggers;
  std::vector<std::vector<std::uint32_t>> started_by(matrix.triggers.size());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t m = 0; m < matrix.messages.size(); ++m) {
    const std::uint32_t trigger = matrix.messages[m].trigger;
    (trigger == TrafficMatrix::kNoTrigger ? ready : started_by[trigger]).push_back(m);
  }
  while (!ready.empty()) {
    const TrafficMatrix::Message& message = matrix.messages[ready.back()];
    ready.pop_back();
    for (std::uint32_t f = message.first_fired; f < message.first_fired + message.fired; ++f) {
      const std::uint32_t trigger = matrix.fires[f];
      if (awaited[trigger] == 0 || --awaited[trigger] > 0) { continue; }
      ready.insert(ready.end(), started_by[trigger].begin(), started_by[trigger].end());
      started_by[trigger].clear();
    }
  }
  const auto stuck = std::find_if(started_by.begin(), started_by.end(), [](const auto& list) { return !list.empty(); });
  return stuck == started_by.end() ? TrafficMatrix::kNoTrigger : static_cast<std::uint32_t>(stuck - started_by.begin());
}

}  // namespace athanor
