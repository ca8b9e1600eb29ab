#include "tools/calibrate/tables/stack_parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "models/software/profile.hpp"

namespace athanor {

namespace {

constexpr double kMicrosecond = 1e6;  // in ps
constexpr double kRatioUnit = 1e-4;

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

/// Of a member of NcclCosts, which `reach` finds in constant and other costs alike. Bounds in us.
template <class Reach>
StackParameter time(std::string name, FigureGroup group, double least, double most, Reach reach) {
  return {{std::move(name), least * kMicrosecond, most * kMicrosecond, false,
           [reach](const Profile& profile) { return static_cast<double>(reach(profile).count()); },
           [reach](Profile& profile, double value) { reach(profile) = Time{whole(value)}; }},
          group};
}

/// In GB/s.
template <class Reach>
StackParameter rate(std::string name, FigureGroup group, double least, double most, Reach reach) {
  return {{std::move(name), least * kGigabyte, most * kGigabyte, false,
           [reach](const Profile& profile) { return static_cast<double>(reach(profile).count()); },
           [reach](Profile& profile, double value) { reach(profile) = Bandwidth{whole(value)}; }},
          group};
}

template <class Reach>
StackParameter share(std::string name, double least, double pull, Reach reach) {
  return {{std::move(name), least, 1, false, [reach](const Profile& profile) { return to_double(reach(profile)); },
           [reach](Profile& profile, double value) {
             reach(profile) = {std::min<std::int64_t>(10'000, whole(value / kRatioUnit)), 10'000};
           }},
          FigureGroup::links,
          pull};
}

/// Least and most.
using Bounds = std::array<double, 2>;

void add_protocol(NcclProtocol protocol, FigureGroup group, std::vector<StackParameter>& all, Bounds step, Bounds block,
                  Bounds latency, Bounds network) {
  const std::string prefix = std::string(name(protocol)) + ".";
  const auto of = [protocol](auto reach) {
    return [ protocol, reach ](auto& profile) -> auto& { return reach(profile.nccl->of(protocol)); };
  };
  all.push_back(time(prefix + "step", group, step[0], step[1], of([](auto& costs) -> auto& { return costs.step; })));
  all.push_back(rate(prefix + "rate", group, block[0], block[1], of([](auto& costs) -> auto& { return costs.rate; })));
  all.push_back(time(prefix + "network_latency", group, latency[0], latency[1],
                     of([](auto& costs) -> auto& { return costs.network_latency; })));
  all.push_back(rate(prefix + "network_rate", group, network[0], network[1],
                     of([](auto& costs) -> auto& { return costs.network_rate; })));
}

std::vector<StackParameter> make() {
  using Group = FigureGroup;
  // Shares of links within nodes differ less between stacks than times do, and one table alone does not tell a launch
  // from latencies.
  constexpr double kPullOfLaunch = 0.15;
  constexpr double kPull = 0.1;
  constexpr double kPullOfNode = 0.3;
  constexpr double kPullOfNetwork = 0.15;
  std::vector<StackParameter> all;
  all.push_back(time(
      "launch", Group::call, 2, 250, [](auto& profile) -> auto& { return profile.launch; }));
  all.back().pull = kPullOfLaunch;
  add_protocol(NcclProtocol::ll, Group::ll, all, {0.2, 4}, {0.3, 60}, {0.5, 120}, {0.1, 30});
  add_protocol(NcclProtocol::ll128, Group::ll128, all, {0.3, 10}, {0.5, 60}, {0.5, 400}, {0.3, 40});
  add_protocol(NcclProtocol::simple, Group::simple, all, {0.3, 80}, {1, 90}, {3, 500}, {0.5, 90});
  const auto nccl = [](auto reach) {
    return [reach](auto& profile) -> auto& { return reach(*profile.nccl); };
  };
  const auto call = [&](std::string name, double least, double most, auto reach) {
    all.push_back(time(std::move(name), Group::call, least, most, nccl(reach)));
  };
  call(
      "nvls_start", 1, 80, [](auto& costs) -> auto& { return costs.nvls_start; });
  call(
      "network_jitter", 0.02, 20, [](auto& costs) -> auto& { return costs.network_jitter; });
  call(
      "peer_start", 0.02, 20, [](auto& costs) -> auto& { return costs.peer_start; });
  call(
      "host_launch", 2, 150, [](auto& costs) -> auto& { return costs.host_launch; });
  call(
      "host_channel", 0.02, 6, [](auto& costs) -> auto& { return costs.host_channel; });
  all.push_back(time("nvls_loop", Group::simple, 0.5, 40, nccl([](auto& costs) -> auto& { return costs.nvls_loop; })));
  all.push_back(share("nvls_efficiency", 0.3, kPull, nccl([](auto& costs) -> auto& { return costs.nvls_efficiency; })));
  all.push_back(
      share("node_efficiency", 0.1, kPullOfNode, nccl([](auto& costs) -> auto& { return costs.node_efficiency; })));
  all.push_back(share("network_efficiency", 0.05, kPullOfNetwork,
                      nccl([](auto& costs) -> auto& { return costs.network_efficiency; })));
  return all;
}

}  // namespace

const std::vector<StackParameter>& stack_parameters() {
  static const std::vector<StackParameter> kAll = make();
  return kAll;
}

}  // namespace athanor
