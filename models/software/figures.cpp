#include "models/software/figures.hpp"

#include <algorithm>
#include <cmath>

#include "sim/units.hpp"

namespace athanor {

namespace {

constexpr double kMicrosecond = 1e6;  // in ps
constexpr double kGigabyte = 1e9;     // per second
constexpr std::int64_t kShareUnit = 10'000;

void assign(Time& cost, double value) { cost = Time{std::max<std::int64_t>(1, std::llround(value))}; }
void assign(Bandwidth& cost, double value) { cost = Bandwidth{std::max<std::int64_t>(1, std::llround(value))}; }
void assign(Ratio& cost, double value) { cost = {std::llround(value * static_cast<double>(kShareUnit)), kShareUnit}; }

double number(Time cost) { return static_cast<double>(cost.count()); }
double number(Bandwidth cost) { return static_cast<double>(cost.count()); }
double number(Ratio cost) { return to_double(cost); }

/// Least, most and typical, in us, GB/s or as shares.
struct Range {
  double least;
  double most;
  double typical;
};

/// `reach` finds the cost in a constant and in another profile alike.
template <class Reach>
Figure figure(std::string name, FigureOwner owner, FigureKind kind, FigureUnit unit, Range range, Reach reach) {
  const double scale = unit == FigureUnit::time ? kMicrosecond : unit == FigureUnit::bandwidth ? kGigabyte : 1;
  const double least = range.least * scale;
  const double most = range.most * scale;
  return {std::move(name),
          owner,
          kind,
          unit,
          FigureFamily::none,
          least,
          most,
          range.typical * scale,
          [reach](const Profile& profile) { return number(reach(profile)); },
          [=](Profile& profile, double value) { assign(reach(profile), std::clamp(value, least, most)); }};
}

template <class Reach>
Figure of_nccl(std::string name, FigureOwner owner, FigureKind kind, FigureUnit unit, Range range, Reach reach) {
  return figure(
      std::move(name), owner, kind, unit, range, [reach](auto& profile) -> auto& { return reach(*profile.nccl); });
}

/// Step, rate of a block, latency and, but of Simple, rate between nodes.
using ProtocolRanges = std::array<Range, 4>;

void add_protocol(NcclProtocol protocol, const ProtocolRanges& ranges, std::vector<Figure>& all) {
  const auto add = [&](const char* key, FigureOwner owner, FigureKind kind, FigureUnit unit, Range range, auto reach) {
    all.push_back(of_nccl(
        std::string(name(protocol)) + "." + key, owner, kind, unit, range,
        [ protocol, reach ](auto& nccl) -> auto& { return reach(nccl.of(protocol)); }));
  };
  using Unit = FigureUnit;
  using Owner = FigureOwner;
  add(
      "step", Owner::gpu, FigureKind::step, Unit::time, ranges[0], [](auto& costs) -> auto& { return costs.step; });
  add(
      "rate", Owner::gpu, FigureKind::rate, Unit::bandwidth, ranges[1],
      [](auto& costs) -> auto& { return costs.rate; });
  add(
      "network_latency", Owner::transport, FigureKind::network_time, Unit::time, ranges[2],
      [](auto& costs) -> auto& { return costs.network_latency; });
  all.back().family = FigureFamily::network_latency;
  // A block of Simple that sends through a NIC writes its buffers as fast as those of a neighbour; what the NIC makes
  // of it is `network_efficiency`. A rate of its own would be told by slow NICs alone, and limit fast ones.
  if (protocol == NcclProtocol::simple) { return; }
  add(
      "network_rate", Owner::transport, FigureKind::network_rate, Unit::bandwidth, ranges[3],
      [](auto& costs) -> auto& { return costs.network_rate; });
  all.back().family = FigureFamily::network_rate;
}

void add_calls(std::vector<Figure>& all) {
  const auto add = [&](const char* name, FigureOwner owner, FigureKind kind, Range range, auto reach) {
    all.push_back(of_nccl(name, owner, kind, FigureUnit::time, range, reach));
  };
  all.push_back(figure(
      "launch", FigureOwner::library, FigureKind::launch, FigureUnit::time, {1, 250, 4},
      [](auto& profile) -> auto& { return profile.launch; }));
  add(
      "host_launch_per_gpu", FigureOwner::host, FigureKind::launch, {1, 15, 4.2},
      [](auto& costs) -> auto& { return costs.host_launch_per_gpu; });
  add(
      "host_channel", FigureOwner::host, FigureKind::launch, {0.02, 6, 1.2},
      [](auto& costs) -> auto& { return costs.host_channel; });
  add(
      "launch_skew", FigureOwner::host, FigureKind::skew, {0.05, 20, 1},
      [](auto& costs) -> auto& { return costs.launch_skew; });
  add(
      "peer_start", FigureOwner::host, FigureKind::step, {0.02, 20, 2},
      [](auto& costs) -> auto& { return costs.peer_start; });
  add(
      "nvls_start", FigureOwner::gpu, FigureKind::step, {1, 80, 5},
      [](auto& costs) -> auto& { return costs.nvls_start; });
  add(
      "nvls_loop", FigureOwner::gpu, FigureKind::step, {0.5, 40, 4.8},
      [](auto& costs) -> auto& { return costs.nvls_loop; });
  add(
      "network_jitter", FigureOwner::transport, FigureKind::network_time, {0.02, 20, 1},
      [](auto& costs) -> auto& { return costs.network_jitter; });
}

void add_shares(std::vector<Figure>& all) {
  const auto add = [&](const char* name, FigureOwner owner, Range range, auto reach) {
    all.push_back(of_nccl(name, owner, FigureKind::share, FigureUnit::share, range, reach));
  };
  add(
      "nvls_efficiency", FigureOwner::gpu, {0.3, 1, 0.9}, [](auto& costs) -> auto& { return costs.nvls_efficiency; });
  add(
      "node_efficiency", FigureOwner::node_link, {0.1, 1, 0.95},
      [](auto& costs) -> auto& { return costs.node_efficiency; });
  add(
      "network_efficiency", FigureOwner::transport, {0.05, 1, 0.92},
      [](auto& costs) -> auto& { return costs.network_efficiency; });
  add(
      "tree_share", FigureOwner::nobody, {0.3, 1, 0.6}, [](auto& costs) -> auto& { return costs.tree_share; });
}

std::vector<Figure> make() {
  std::vector<Figure> all;
  add_protocol(NcclProtocol::ll, {{{0.2, 4, 0.6}, {0.3, 60, 15}, {0.5, 120, 5.8}, {0.1, 30, 1.5}}}, all);
  add_protocol(NcclProtocol::ll128, {{{0.3, 10, 1.6}, {0.5, 60, 18}, {0.5, 400, 20}, {0.3, 40, 12}}}, all);
  add_protocol(NcclProtocol::simple, {{{0.3, 80, 3}, {1, 90, 30}, {3, 500, 22}, {}}}, all);
  add_calls(all);
  add_shares(all);
  return all;
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kAll = make();
  return kAll;
}

std::size_t figure_index(std::string_view name) {
  const std::vector<Figure>& all = figures();
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const Figure& each) { return each.name == name; }) - all.begin());
}

}  // namespace athanor
