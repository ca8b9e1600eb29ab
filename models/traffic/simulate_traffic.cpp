#include "models/traffic/simulate_traffic.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "models/execution/path_layout.hpp"
#include "models/execution/plan_network.hpp"
#include "models/traffic/traffic_driver.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

Plan plan_of(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed, std::uint32_t queue_pairs) {
  Plan plan;
  plan.queue_pairs = striped(queue_pairs, cluster);
  PathLayout paths(plan, cluster);
  for (std::uint32_t c = 0; c < matrix.connections.size(); ++c) {
    const TrafficMatrix::Connection& connection = matrix.connections[c];
    require(connection.from < cluster.endpoints.size() && connection.to < cluster.endpoints.size(),
            "a message from {} to {} among {} endpoints", connection.from, connection.to, cluster.endpoints.size());
    paths.add({cluster.endpoints[connection.from], cluster.endpoints[connection.to], join_hash(seed, c)},
              [](std::span<const LinkId>) { return ConnectionCost{}; });
  }
  return plan;
}

/// How long messages of a connection take where nothing else moves.
class TimesAlone {
 public:
  /// `many_ways`: packets of a message take several paths at the same time, so that only the first and the last link,
  /// which all of them have in common, hold it up.
  TimesAlone(const Plan& plan, const PlanNetwork& network, bool many_ways)
      : plan_(plan), network_(network), many_ways_(many_ways) {}

  /// The link that takes longest for its share of the payload, and the latency of the longest path.
  Time of(std::uint32_t connection, Bytes size) {
    pairs_on_.clear();
    for (std::uint32_t pair = 0; pair < plan_.queue_pairs; ++pair) {
      const NetworkPlan::Connection& path =
          plan_.network.connections[std::size_t{connection} * plan_.queue_pairs + pair];
      for (std::uint32_t u = path.first_use; u < path.first_use + path.uses; ++u) {
        if (many_ways_ && u != path.first_use && u + 1 != path.first_use + path.uses) { continue; }
        ++pairs_on_[plan_.network.uses[u].link];
      }
    }
    Time longest;
    for (const auto& [link, pairs] : pairs_on_) {
      const Bytes share = scaled_down(size, {pairs, plan_.queue_pairs});
      longest = std::max(longest, transfer_time(share, network_.payload_rate(link)));
    }
    return longest + plan_.latency(connection);
  }

 private:
  const Plan& plan_;
  const PlanNetwork& network_;
  bool many_ways_;
  std::map<std::uint32_t, std::uint32_t> pairs_on_;  ///< by link
};

/// Bytes of each connection within the window, where the network does not count them: as if each message arrived evenly
/// from the end of the one before on.
std::vector<double> bytes_within(const std::vector<MessageTimes>& messages, std::size_t connections,
                                 const TrafficMatrix::Window& window) {
  std::vector<double> bytes(connections, 0);
  std::vector<Time> before(connections);
  for (const MessageTimes& message : messages) {
    Time& since = before[message.connection];
    const Time from = std::max(since, message.start);
    const Time begin = std::max(from, window.begin);
    const Time end = std::min(message.end, window.end);
    if (end > begin) {
      bytes[message.connection] +=
          static_cast<double>(message.size.count()) * (seconds(end - begin) / seconds(message.end - from));
    }
    since = message.end;
  }
  return bytes;
}

void measure_rates(const TrafficMatrix& matrix, const std::optional<std::vector<Bytes>>& counted, TimesAlone& alone,
                   const Plan& plan, SimulatedTraffic& result) {
  const TrafficMatrix::Window& window = *matrix.window;
  const std::size_t connections = matrix.connections.size();
  std::vector<double> within;
  if (counted) {
    for (const Bytes bytes : *counted) { within.push_back(static_cast<double>(bytes.count())); }
  } else {
    within = bytes_within(result.messages, connections, window);
  }
  for (const double bytes : within) { result.rates.push_back(bytes / seconds(window.end - window.begin)); }
  constexpr Bytes kProbe{1'000'000'000};
  for (std::uint32_t c = 0; c < connections; ++c) {
    const Time transfer = alone.of(c, kProbe) - plan.latency(c);
    // A packet that ends within the window counts as a whole, also where it began before.
    const double kept = result.rates[c] * seconds(transfer) / static_cast<double>(kProbe.count());
    result.kept.push_back(std::min(1.0, kept));
  }
}

[[noreturn]] void refuse_undelivered(const TrafficMatrix& matrix, const Cluster& cluster,
                                     const std::vector<MessageTimes>& messages, std::uint32_t first,
                                     std::size_t count) {
  const TrafficMatrix::Connection& connection = matrix.connections[messages[first].connection];
  throw SimulationError(
      "undelivered",
      fmt::format("{} of {} messages were never delivered, such as the one from {} to {} that started at {:.2f} us",
                  count, messages.size(), cluster.fabric->name(cluster.endpoints[connection.from]),
                  cluster.fabric->name(cluster.endpoints[connection.to]), microseconds(messages[first].start)));
}

}  // namespace

SimulatedTraffic simulate_traffic(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed,
                                  const SimulationOptions& options) {
  // Without contention a path more would be a cable more.
  const Plan plan = plan_of(matrix, cluster, seed, options.level == NetworkLevel::ideal ? 1 : options.queue_pairs);
  Simulator simulator;
  TrafficDriver driver(simulator, matrix);
  PlanNetwork network(simulator, plan, *cluster.fabric, options, seed, driver);
  driver.start(network.network());
  simulator.run();

  SimulatedTraffic result;
  result.messages = driver.take_messages();
  if (driver.under_way() > 0) {
    refuse_undelivered(matrix, cluster, result.messages, driver.first_under_way(), driver.under_way());
  }
  const bool packets = options.level == NetworkLevel::packet;
  TimesAlone alone(plan, network, packets && options.packet.transport.any_order);
  for (MessageTimes& message : result.messages) {
    message.alone = alone.of(message.connection, message.size);
    result.time = std::max(result.time, message.end);
  }
  if (matrix.window) { measure_rates(matrix, driver.arrived_within(), alone, plan, result); }
  result.observed = network.observed(result.time);
  result.loads = network.loads(result.observed);
  result.ports = network.ports(result.observed);
  result.packets = network.packets();
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
