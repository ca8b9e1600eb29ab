#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include "models/experiments/scenario/traffic_section.hpp"
#include "models/traffic/traffic_matrix.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Pattern = TrafficConfig::Pattern;
constexpr std::uint64_t kMostMessages = 10'000'000;

/// Turns the names of endpoints into numbers, and tells of those that are not there.
class Resolver {
 public:
  Resolver(const Cluster& cluster, std::uint32_t endpoints, Problems& problems)
      : cluster_(cluster), endpoints_(endpoints), problems_(problems) {}

  void resolve(EndpointConfig& endpoint) {
    if (!endpoint.name.empty()) { return find(endpoint); }
    if (endpoint.number < endpoints_) { return; }
    problems_.add({"no-such-endpoint",
                   fmt::format("endpoint {} takes no part: they go from 0 to {}", endpoint.number, endpoints_ - 1),
                   endpoint.place, ""});
  }

 private:
  void find(EndpointConfig& endpoint) {
    if (names_.empty()) {
      for (const VertexId vertex : cluster_.endpoints) { names_.push_back(cluster_.fabric->name(vertex)); }
    }
    const auto found = std::find(names_.begin(), names_.begin() + endpoints_, endpoint.name);
    if (found != names_.begin() + endpoints_) {
      endpoint.number = static_cast<std::uint32_t>(found - names_.begin());
      return;
    }
    const std::string near = nearest(endpoint.name, names_);
    problems_.add({"unknown-endpoint", fmt::format("no endpoint that takes part is called '{}'", endpoint.name),
                   endpoint.place,
                   near.empty() || near == endpoint.name
                       ? fmt::format("they are {} to {}", names_.front(), names_[endpoints_ - 1])
                       : fmt::format("did you mean '{}'?", near)});
  }

  const Cluster& cluster_;
  std::uint32_t endpoints_;
  Problems& problems_;
  std::vector<std::string> names_;
};

/// What a pattern asks of how many take part.
void check_endpoints(const TrafficConfig& traffic, std::uint32_t endpoints, Problems& problems) {
  const auto refuse = [&](const char* key, const char* code, std::string message, std::string hint) {
    problems.add({code, std::move(message), traffic.places.find(key)->second, std::move(hint)});
  };
  std::uint32_t side = 1;
  while (std::uint64_t{side} * side < endpoints) { ++side; }
  if (endpoints < 2) {
    refuse("", "too-few-endpoints", "one endpoint has nobody to send to", "traffic needs two at least");
  } else if (traffic.pattern == Pattern::bit_reversal && endpoints < 4) {
    refuse("pattern", "wrong-endpoints", "the reversal of one bit is that bit: two endpoints have nothing to send",
           "bit_reversal needs four at least");
  } else if (traffic.pattern == Pattern::transpose && endpoints < 4) {
    refuse("pattern", "wrong-endpoints", fmt::format("{} endpoints form no square", endpoints),
           "transpose needs four at least");
  } else if (traffic.pattern == Pattern::bit_reversal && !std::has_single_bit(endpoints)) {
    refuse("pattern", "wrong-endpoints", fmt::format("bit_reversal needs a power of two, and {} take part", endpoints),
           fmt::format("write \"endpoints\": {}", std::bit_floor(endpoints)));
  } else if (traffic.pattern == Pattern::transpose && side * side != endpoints) {
    refuse("pattern", "wrong-endpoints", fmt::format("transpose needs a square number, and {} take part", endpoints),
           fmt::format("write \"endpoints\": {}", (side - 1) * (side - 1)));
  } else if (traffic.pattern == Pattern::shift && traffic.by % endpoints == 0) {
    refuse("by", "to-itself",
           fmt::format("a shift by {} among {} endpoints sends everyone to itself", traffic.by, endpoints),
           "choose another \"by\"");
  } else if (traffic.sender_count && *traffic.sender_count >= endpoints) {
    refuse("senders", "too-many-senders",
           fmt::format("{} senders and a receiver, but {} endpoints take part", *traffic.sender_count, endpoints),
           fmt::format("\"senders\" is at most {}", endpoints - 1));
  }
}

void check_pair(const EndpointConfig& from, const EndpointConfig& to, Problems& problems) {
  if (from.number != to.number) { return; }
  problems.add(
      {"to-itself", fmt::format("endpoint {} sends to itself", from.number), from.place, "a message has two ends"});
}

std::uint64_t pairs_of(const TrafficConfig& traffic, std::uint64_t endpoints) {
  switch (traffic.pattern) {
    case Pattern::permutation:
    case Pattern::incast:
    case Pattern::shift:
    case Pattern::bit_reversal:
    case Pattern::transpose: return endpoints;
    case Pattern::random: return traffic.messages;
    case Pattern::all_to_all: return endpoints * (endpoints - 1);
    case Pattern::pairs: return traffic.pairs.size();
    case Pattern::htsim: return traffic.imported.messages.size();
  }
  return 0;
}

void check_number(const TrafficConfig& traffic, std::uint32_t endpoints, Problems& problems) {
  const std::uint64_t each = pairs_of(traffic, endpoints) * traffic.connections;
  if (each <= kMostMessages / traffic.rounds) { return; }
  problems.add(
      {"too-many-messages",
       fmt::format("{} messages in each of {} rounds, and {} are the most", each, traffic.rounds, kMostMessages),
       traffic.places.find("")->second, "take fewer endpoints, connections or rounds"});
}

void check_imported(const TrafficConfig& traffic, std::uint32_t endpoints, Problems& problems) {
  for (const TrafficMatrix::Connection& connection : traffic.imported.connections) {
    const std::uint32_t highest = std::max(connection.from, connection.to);
    if (highest < endpoints) { continue; }
    problems.add({"no-such-endpoint",
                  fmt::format("the file has a flow of host {}, and hosts go from 0 to {}", highest, endpoints - 1),
                  traffic.places.find("pattern")->second, "simulate a cluster of as many hosts"});
    return;
  }
}

std::vector<std::uint32_t> senders_of(const TrafficConfig& traffic) {
  std::vector<std::uint32_t> senders;
  for (const EndpointConfig& sender : traffic.senders) { senders.push_back(sender.number); }
  if (!senders.empty()) { return senders; }
  const std::uint32_t endpoints = *traffic.endpoints;
  const std::uint32_t count = traffic.sender_count.value_or(endpoints - 1);
  for (std::uint32_t k = 1; k <= count; ++k) { senders.push_back((traffic.receiver.number + k) % endpoints); }
  return senders;
}

EndpointPairs pairs_of(const TrafficConfig& traffic, std::uint32_t endpoints, std::uint64_t seed) {
  switch (traffic.pattern) {
    case Pattern::permutation: return permutation_pairs(endpoints, seed);
    case Pattern::incast: return incast_pairs(senders_of(traffic), traffic.receiver.number);
    case Pattern::random: return random_pairs(endpoints, traffic.messages, seed);
    case Pattern::shift: return shift_pairs(endpoints, traffic.by);
    case Pattern::bit_reversal: return bit_reversal_pairs(endpoints);
    case Pattern::transpose: return transpose_pairs(endpoints);
    case Pattern::all_to_all: return all_to_all_pairs(endpoints);
    case Pattern::pairs:
    case Pattern::htsim: break;
  }
  require(false, "{} is no pattern that is computed", name(traffic.pattern));
  return {};
}

/// One more message on as many connections of its own as the text says.
void add(const TrafficConfig& traffic, std::uint32_t from, std::uint32_t to, Bytes size, Time start,
         TrafficMatrix& matrix) {
  for (std::uint32_t k = 0; k < traffic.connections; ++k) {
    matrix.messages.push_back({static_cast<std::uint32_t>(matrix.connections.size()), size, start});
    matrix.connections.push_back({from, to});
  }
}

}  // namespace

void resolve(TrafficConfig& traffic, const Cluster& cluster, Problems& problems) {
  const auto all = static_cast<std::uint32_t>(cluster.endpoints.size());
  const std::uint32_t endpoints = traffic.endpoints.value_or(all);
  if (endpoints > all) {
    problems.add({"too-many-endpoints",
                  fmt::format("{} endpoints, but the cluster has {}: {}", endpoints, all, cluster.description),
                  traffic.places.find("endpoints")->second, fmt::format("\"endpoints\" is at most {}", all)});
    return;
  }
  traffic.endpoints = endpoints;
  const std::size_t before = problems.size();
  check_endpoints(traffic, endpoints, problems);
  check_number(traffic, endpoints, problems);
  check_imported(traffic, endpoints, problems);
  Resolver resolver(cluster, endpoints, problems);
  resolver.resolve(traffic.receiver);
  for (EndpointConfig& sender : traffic.senders) { resolver.resolve(sender); }
  for (TrafficConfig::Pair& pair : traffic.pairs) {
    resolver.resolve(pair.from);
    resolver.resolve(pair.to);
  }
  if (problems.size() > before) { return; }
  for (const EndpointConfig& sender : traffic.senders) { check_pair(sender, traffic.receiver, problems); }
  for (const TrafficConfig::Pair& pair : traffic.pairs) { check_pair(pair.from, pair.to, problems); }
}

TrafficMatrix make_traffic(const TrafficConfig& traffic, Bytes size, std::uint64_t seed) {
  if (traffic.pattern == Pattern::htsim && traffic.connections == 1 && traffic.start == Time::zero() &&
      !traffic.window) {
    return traffic.rounds == 1 ? traffic.imported : repeated(traffic.imported, traffic.rounds);
  }
  TrafficMatrix matrix;
  for (const TrafficMatrix::Message& message : traffic.imported.messages) {
    const TrafficMatrix::Connection& connection = traffic.imported.connections[message.connection];
    add(traffic, connection.from, connection.to, message.size, traffic.start + message.start, matrix);
  }
  for (const TrafficConfig::Pair& pair : traffic.pairs) {
    add(traffic, pair.from.number, pair.to.number, pair.size.value_or(size), traffic.start + pair.start, matrix);
  }
  if (traffic.imported.messages.empty() && traffic.pairs.empty()) {
    for (const auto& [from, to] : pairs_of(traffic, traffic.endpoints.value(), seed)) {
      add(traffic, from, to, size, traffic.start, matrix);
    }
  }
  matrix.window = traffic.window;
  return traffic.rounds == 1 ? matrix : repeated(matrix, traffic.rounds);
}

}  // namespace athanor
