#include "models/training/parameter_server/parameter_server.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "models/network/fabric_network.hpp"
#include "models/training/parameter_server/server_process.hpp"
#include "sim/check.hpp"
#include "sim/percentile.hpp"
#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

__extension__ using WideBits = unsigned __int128;

constexpr int kPoint = 60;  ///< binary digits behind the point of roots

constexpr std::uint64_t square_root(WideBits value) {
  WideBits root = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const WideBits more = root | (WideBits{1} << bit);
    if (more * more <= value) { root = more; }
  }
  return static_cast<std::uint64_t>(root);
}

/// 2^(1/2), 2^(1/4), ... 2^(1/2^32).
constexpr std::array<std::uint64_t, 32> roots_of_two() {
  std::array<std::uint64_t, 32> roots{};
  std::uint64_t root = std::uint64_t{2} << kPoint;
  for (std::uint64_t& each : roots) {
    root = square_root(WideBits{root} << kPoint);
    each = root;
  }
  return roots;
}

Time whole(Wide picoseconds) {
  if (picoseconds > INT64_MAX) { Picoseconds::overflow(); }
  return Time{static_cast<std::int64_t>(picoseconds)};
}

Time draw_normal(const ComputeTime& time, RandomStream& stream) {
  std::int64_t sum = 0;  // of twelve numbers below 2^32, whose deviation together is 2^32
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t two = stream.bits();
    sum += static_cast<std::int64_t>((two >> 32U) + (two & 0xffffffffU));
  }
  const Wide beyond = Wide{time.deviation.count()} * (sum - (std::int64_t{6} << 32U));
  return whole(std::max<Wide>(0, time.mean.count() + beyond / (Wide{1} << 32U)));
}

Time draw_exponential(const ComputeTime& time, RandomStream& stream) {
  constexpr std::int64_t kLogarithmOfTwo = 744'261'117;  // of 2^30 parts of ln 2 = 0.693147180...
  const Wide beyond = Wide{(time.mean - time.least).count()} * static_cast<std::int64_t>(minus_log2(stream.bits()));
  return whole(time.least.count() + (beyond >> 32U) * kLogarithmOfTwo / (1 << 30));
}

Time draw_pareto(const ComputeTime& time, RandomStream& stream) {
  constexpr std::uint64_t kMost = std::uint64_t{30} << 32U;
  const Ratio shape = time.shape;
  const Time least = scaled_up(time.mean, {shape.numerator - shape.denominator, shape.numerator});
  const WideBits exponent = WideBits{minus_log2(stream.bits())} * static_cast<std::uint64_t>(shape.denominator) /
                            static_cast<std::uint64_t>(shape.numerator);
  return times_power_of_two(least, static_cast<std::uint64_t>(std::min<WideBits>(exponent, kMost)));
}

}  // namespace

std::uint64_t minus_log2(std::uint64_t bits) {
  bits |= 1U;
  const auto above = static_cast<unsigned>(std::countl_zero(bits));
  std::uint64_t logarithm = std::uint64_t{63 - above} << 32U;
  std::uint64_t mantissa = bits << above;  // 1 <= mantissa / 2^63 < 2
  for (int digit = 31; digit >= 0; --digit) {
    const WideBits square = WideBits{mantissa} * mantissa;
    const bool two = (square >> 127U) != 0;
    mantissa = static_cast<std::uint64_t>(square >> (two ? 64U : 63U));
    if (two) { logarithm |= std::uint64_t{1} << static_cast<unsigned>(digit); }
  }
  return (std::uint64_t{64} << 32U) - logarithm;
}

Time times_power_of_two(Time value, std::uint64_t exponent) {
  static constexpr std::array<std::uint64_t, 32> kRoots = roots_of_two();
  require(value >= Time::zero() && exponent < std::uint64_t{31} << 32U, "2^({}/2^32) x {} ps", exponent, value.count());
  std::uint64_t factor = std::uint64_t{1} << kPoint;
  for (unsigned digit = 0; digit < 32; ++digit) {
    if ((exponent >> (31 - digit) & 1U) == 0) { continue; }
    factor = static_cast<std::uint64_t>(WideBits{factor} * kRoots[digit] >> kPoint);
  }
  const WideBits product = WideBits{static_cast<std::uint64_t>(value.count())} * factor;  // below 2^124
  const auto shift = static_cast<unsigned>(kPoint) - static_cast<unsigned>(exponent >> 32U);
  return whole(static_cast<Wide>(product >> shift));
}

Time draw(const ComputeTime& time, RandomStream& stream) {
  switch (time.kind) {
    case ComputeTime::Kind::constant: return time.mean;
    case ComputeTime::Kind::normal: return draw_normal(time, stream);
    case ComputeTime::Kind::exponential: return draw_exponential(time, stream);
    case ComputeTime::Kind::pareto: return draw_pareto(time, stream);
  }
  return time.mean;
}

namespace {

void check(const ParameterServerSetup& setup, std::size_t endpoints) {
  const auto exists = [&](std::uint32_t endpoint) {
    require(endpoint < endpoints, "endpoint {} of {}", endpoint, endpoints);
  };
  require(!setup.workers.empty() && !setup.shards.empty(), "no workers or no servers");
  for (const std::uint32_t worker : setup.workers) { exists(worker); }
  for (const std::vector<std::uint32_t>& shard : setup.shards) {
    require(!shard.empty() && shard.size() == setup.shards.front().size(), "shards of different numbers of copies");
    for (const std::uint32_t copy : shard) { exists(copy); }
  }
  require(setup.backup_workers < setup.workers.size(), "{} backups of {} workers", setup.backup_workers,
          setup.workers.size());
  require(setup.warm_up > 0 && setup.steps > 0, "{} steps after {}", setup.steps, setup.warm_up);
  for (const ParameterServerSetup::Straggler& each : setup.stragglers) {
    require(each.worker < setup.workers.size(), "worker {} of {}", each.worker, setup.workers.size());
  }
}

FabricConnections connections_of(const ServerProcess& process, const Cluster& cluster, std::uint64_t seed,
                                 std::uint32_t queue_pairs) {
  ConnectionBuilder connections(cluster, striped(queue_pairs, cluster));
  std::uint32_t number = 0;
  for (const ServerProcess::Route& route : process.routes()) {
    connections.add(cluster.endpoints[route.from], cluster.endpoints[route.to], join_hash(seed, number++));
  }
  return connections.take();
}

}  // namespace

std::string_view name(ParameterServerSetup::Update update) {
  using Update = ParameterServerSetup::Update;
  switch (update) {
    case Update::synchronous: return "synchronous";
    case Update::asynchronous: return "asynchronous";
    case Update::stale: return "stale";
  }
  return "";
}

Time ParameterServerResult::mean_iteration() const {
  if (iterations.empty()) { return Time::zero(); }
  Wide sum = 0;
  for (const Time each : iterations) { sum += each.count(); }
  return Time{static_cast<std::int64_t>(sum / static_cast<Wide>(iterations.size()))};
}

Time ParameterServerResult::p95_iteration() const {
  if (iterations.empty()) { return Time::zero(); }
  return percentile(iterations, 95);
}

ParameterServerResult simulate_parameter_server(const ParameterServerSetup& setup, const Cluster& cluster,
                                                std::uint64_t seed, const NetworkOptions& options) {
  check(setup, cluster.endpoints.size());
  Simulator simulator(options.stop);
  ServerProcess process(simulator, setup, seed);
  const std::uint32_t queue_pairs = options.pairs_of_connections();
  const FabricConnections connections = connections_of(process, cluster, seed, queue_pairs);
  FabricNetwork network(simulator, connections, *cluster.fabric, options, seed, process);
  process.start(network.network());
  simulator.run();
  ParameterServerResult result = process.take_result();
  result.network = network.use(result.end);
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
