#include "models/traffic/simulate_traffic.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "models/network/fabric_network.hpp"
#include "models/traffic/traffic_driver.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/percentile.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

FabricConnections connections_of(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed,
                                 std::uint32_t queue_pairs) {
  ConnectionBuilder connections(cluster, striped(queue_pairs, cluster));
  for (std::uint32_t c = 0; c < matrix.connections.size(); ++c) {
    const TrafficMatrix::Connection& connection = matrix.connections[c];
    require(connection.from < cluster.endpoints.size() && connection.to < cluster.endpoints.size(),
            "a message from {} to {} among {} endpoints", connection.from, connection.to, cluster.endpoints.size());
    connections.add(cluster.endpoints[connection.from], cluster.endpoints[connection.to], join_hash(seed, c));
  }
  return connections.take();
}

/// How long messages of a connection take where nothing else moves.
class TimesAlone {
 public:
  /// `many_paths`: packets of a message take several paths at the same time, so that only the first and the last link,
  /// which all of them have in common, hold it up.
  TimesAlone(const FabricConnections& connections, const FabricNetwork& network, bool many_paths)
      : connections_(connections), network_(network), many_paths_(many_paths) {}

  /// The link that takes longest for its share of the payload, and the latency of the longest path.
  Time of(ConnectionId connection, Bytes size) {
    pairs_on_.clear();
    for (const FlowGraph::Connection& pair : connections_.pairs_of(connection)) {
      const std::span<const FlowGraph::Use> path = connections_.path_of(pair);
      for (std::size_t hop = 0; hop < path.size(); ++hop) {
        if (many_paths_ && hop != 0 && hop + 1 != path.size()) { continue; }
        ++pairs_on_[path[hop].link];
      }
    }
    Time longest;
    for (const auto& [link, pairs] : pairs_on_) {
      const Bytes share = scaled_down(size, {pairs, connections_.queue_pairs});
      longest = std::max(longest, transfer_time(share, network_.payload_rate(link)));
    }
    return longest + connections_.latency(connection);
  }

 private:
  const FabricConnections& connections_;
  const FabricNetwork& network_;
  bool many_paths_;
  std::map<LinkIndex, std::uint32_t> pairs_on_;  ///< by link
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

void measure_rates(const TrafficMatrix& matrix, const std::optional<TrafficDriver::Arrived>& counted, TimesAlone& alone,
                   const FabricConnections& connections, SimulatedTraffic& result) {
  const TrafficMatrix::Window& window = *matrix.window;
  std::vector<double> within;
  if (counted) {
    for (const Bytes bytes : *counted) { within.push_back(static_cast<double>(bytes.count())); }
  } else {
    within = bytes_within(result.messages, connections.count(), window);
  }
  for (const double bytes : within) { result.rates.push_back(bytes / seconds(window.end - window.begin)); }
  constexpr Bytes kProbe{1'000'000'000};
  for (const ConnectionId c : connections.ids()) {
    const Time transfer = alone.of(c, kProbe) - connections.latency(c);
    // A packet that ends within the window counts as a whole, also where it began before.
    const double ratio = result.rates[c.value] * seconds(transfer) / static_cast<double>(kProbe.count());
    result.throughput_ratios.push_back(std::min(1.0, ratio));
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
                                  const NetworkOptions& options) {
  // Without contention a path more would be a cable more.
  const std::uint32_t queue_pairs = options.pairs_of_connections();
  const FabricConnections connections = connections_of(matrix, cluster, seed, queue_pairs);
  Simulator simulator(options.stop);
  TrafficDriver driver(simulator, matrix);
  FabricNetwork network(simulator, connections, *cluster.fabric, options, seed, driver);
  driver.start(network.network());
  simulator.run();

  SimulatedTraffic result;
  result.messages = driver.take_messages();
  if (driver.under_way() > 0) {
    refuse_undelivered(matrix, cluster, result.messages, driver.first_under_way(), driver.under_way());
  }
  const bool packets = options.level == NetworkLevel::packet;
  TimesAlone alone(connections, network, packets && options.packet.transport.any_order);
  for (MessageTimes& message : result.messages) {
    message.alone = alone.of(ConnectionId{message.connection}, message.size);
    result.time = std::max(result.time, message.end);
  }
  if (matrix.window) { measure_rates(matrix, driver.arrived_within(), alone, connections, result); }
  result.network = network.use(result.time);
  result.events = simulator.events();
  return result;
}

namespace {

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// A message of no time has all of its bandwidth.
double slowdown(const MessageTimes& message) {
  const Time took = message.end - message.start;
  return took == message.alone ? 1 : seconds(took) / seconds(message.alone);
}

CompletionTimes completion_of(const std::vector<MessageTimes>& messages) {
  std::vector<Time> times;
  std::vector<double> slowdowns;
  Wide sum = 0;
  for (const MessageTimes& message : messages) {
    times.push_back(message.end - message.start);
    slowdowns.push_back(slowdown(message));
    sum += times.back().count();
  }
  std::sort(times.begin(), times.end());
  std::sort(slowdowns.begin(), slowdowns.end());
  const auto count = static_cast<std::int64_t>(messages.size());
  return {Time{static_cast<std::int64_t>(sum / count)},   percentile(times, 50),    percentile(times, 99), times.back(),
          sum_of(slowdowns) / static_cast<double>(count), percentile(slowdowns, 99)};
}

}  // namespace

TrafficSummary summary_of(const SimulatedTraffic& traffic) {
  require(!traffic.messages.empty(), "traffic of no message");
  TrafficSummary summary;
  summary.messages = traffic.messages.size();
  summary.time = traffic.time;
  for (const MessageTimes& message : traffic.messages) { summary.bytes += message.size; }
  std::vector<double> ratios = traffic.throughput_ratios;
  if (ratios.empty()) {
    summary.completion = completion_of(traffic.messages);
    summary.goodput = static_cast<double>(summary.bytes.count()) / seconds(traffic.time);
    for (const MessageTimes& message : traffic.messages) { ratios.push_back(1 / slowdown(message)); }
  } else {
    summary.goodput = sum_of(traffic.rates);
  }
  const double sum = sum_of(ratios);
  const double squares = std::inner_product(ratios.begin(), ratios.end(), ratios.begin(), 0.0);
  summary.throughput_ratio = sum / static_cast<double>(ratios.size());
  summary.least_throughput_ratio = *std::min_element(ratios.begin(), ratios.end());
  summary.fairness = squares > 0 ? sum * sum / (static_cast<double>(ratios.size()) * squares) : 1;
  return summary;
}

}  // namespace athanor
