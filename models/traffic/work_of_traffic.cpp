#include "models/traffic/work_of_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/network/connections.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

// Bytes; the peak of memory of permutations of packets and of random flows, divided by how many there were.
constexpr double kConnectionBytes = 300;
constexpr double kMessageBytes = 100;
constexpr std::size_t kRoutesLookedAt = 2000;

struct Routes {
  double links = 0;    ///< of a connection, in the mean
  double crossed = 0;  ///< different ones, by all connections
  double meeting = 0;  ///< share of connections that share a link with another one
  double most = 1;     ///< connections on one link
  double latency = 0;  ///< of a connection, seconds, in the mean
  double rate = 0;     ///< bytes a second of a connection that shares links evenly, in the mean
};

Routes look_at_routes(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed) {
  const std::size_t all = matrix.connections.size();
  const std::size_t looked_at = std::min(all, kRoutesLookedAt);
  std::unordered_map<std::uint32_t, std::uint32_t> load;
  std::vector<std::vector<LinkId>> paths(looked_at);
  Routes routes;
  for (std::size_t i = 0; i < looked_at; ++i) {
    const std::size_t number = (2 * i + 1) * all / (2 * looked_at);
    const TrafficMatrix::Connection& each = matrix.connections[number];
    const RouteRequest request{cluster.endpoints[each.from], cluster.endpoints[each.to], join_hash(seed, number)};
    cluster.router->route(request, paths[i]);
    for (const LinkId link : paths[i]) { ++load[link.value]; }
    routes.links += static_cast<double>(paths[i].size()) / static_cast<double>(looked_at);
  }
  for (const std::vector<LinkId>& path : paths) {
    const bool meets = std::any_of(path.begin(), path.end(), [&](LinkId link) { return load[link.value] > 1; });
    routes.meeting += (meets ? 1.0 : 0.0) / static_cast<double>(looked_at);
    double rate = static_cast<double>(Bandwidth::max().count());
    for (const LinkId link : path) {
      routes.latency += seconds(cluster.fabric->link(link).latency) / static_cast<double>(looked_at);
      rate = std::min(rate, static_cast<double>(cluster.fabric->link(link).usable.count()) / load[link.value]);
    }
    routes.rate += rate / static_cast<double>(looked_at);
  }
  const double scale = static_cast<double>(all) / static_cast<double>(looked_at);
  routes.crossed = std::min(static_cast<double>(load.size()) * scale, static_cast<double>(cluster.fabric->links()));
  for (const auto& [link, count] : load) { routes.most = std::max(routes.most, count * scale); }
  return routes;
}

void add_packets(const TrafficMatrix& matrix, const Routes& routes, double rounds, const NetworkOptions& options,
                 WorkCount& work) {
  constexpr double kSome = 0.1;  // where more share links, hardly anything settles before one of them ends
  const TransportSpec& transport = options.packet.transport;
  const auto payload = static_cast<double>(transport.payload.count());
  const bool skips = to_double(options.skip_error) > 0;
  const bool settles = skips && routes.meeting < kSome;
  double most = std::numeric_limits<double>::infinity();
  if (settles) { most = packets_until_settled(2 * routes.latency, routes.rate, payload); }
  double packets = 0;
  for (const TrafficMatrix::Message& each : matrix.messages) {
    packets += std::min(most, std::ceil(static_cast<double>(each.size.count()) / payload) * rounds);
  }
  if (skips && !settles) { packets *= kLooking; }
  const double ports = 2 * routes.crossed;  // those of acknowledgements, too
  add_hops(packets * routes.links * (1 + 1.0 / transport.acknowledge_every), ports * kPortBytes, work);
  work.bytes += ports * kPortBytes;
}

/// Each end that comes alone changes the rates of those whose links it shares, directly or by others: about half of
/// what is under way. Messages of one size end together as far as their rates are equal.
double reshared(const TrafficMatrix& matrix, const Routes& routes) {
  if (routes.meeting == 0) { return 0; }
  std::set<std::pair<std::int64_t, std::int64_t>> kinds;
  for (const TrafficMatrix::Message& each : matrix.messages) { kinds.insert({each.size.count(), each.start.count()}); }
  const auto messages = static_cast<double>(matrix.messages.size());
  const double ends = std::min(messages, static_cast<double>(kinds.size()) * std::max(1.0, routes.most));
  return ends * std::min(static_cast<double>(matrix.connections.size()), messages) / 2;
}

/// How often each message is sent: in a window again and again.
double rounds_of(const TrafficMatrix& matrix, const Routes& routes) {
  if (!matrix.window) { return 1; }
  const double bytes = seconds(matrix.window->end) * routes.rate;
  return std::max(1.0, bytes / static_cast<double>(matrix.messages.front().size.count()));
}

}  // namespace

WorkCount work_of(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed,
                  const NetworkOptions& options) {
  constexpr double kLaidOut = 0.3;  // of what a connection costs whose class is looked for
  const Routes routes = look_at_routes(matrix, cluster, seed);
  const double pairs = striped(options.pairs_of_connections(), cluster);
  const double rounds = rounds_of(matrix, routes);
  const double connections = static_cast<double>(matrix.connections.size()) * pairs;
  const double messages = static_cast<double>(matrix.messages.size()) * rounds * pairs;
  WorkCount work;
  work[Work::run] = 1;
  work[Work::link] = cluster.fabric->links();
  work[Work::connection] = connections * kLaidOut;
  work[Work::message] = messages;
  work.bytes = connections * kConnectionBytes + messages * kMessageBytes;
  if (options.level == NetworkLevel::packet) { add_packets(matrix, routes, rounds, options, work); }
  if (options.level == NetworkLevel::flow) { work[Work::reshared] = reshared(matrix, routes) * pairs * pairs * rounds; }
  return work;
}

}  // namespace athanor
