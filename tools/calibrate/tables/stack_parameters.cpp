#include "tools/calibrate/tables/stack_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace athanor {

namespace {

constexpr double kMicrosecond = 1e6;  // in ps
constexpr double kGigabyte = 1e9;
constexpr double kRatioUnit = 1e-4;

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

/// Of a member of NcclCosts, which `reach` finds in constant and other costs alike. Bounds and prior in us.
template <class Reach>
StackParameter time(std::string name, double least, double prior, double most, Reach reach) {
  return {{std::move(name), least * kMicrosecond, most * kMicrosecond, false,
           [reach](const Profile& profile) { return static_cast<double>(reach(profile).count()); },
           [reach](Profile& profile, double value) { reach(profile) = Time{whole(value)}; }},
          prior * kMicrosecond};
}

/// In GB/s.
template <class Reach>
StackParameter rate(std::string name, double least, double prior, double most, Reach reach) {
  return {{std::move(name), least * kGigabyte, most * kGigabyte, false,
           [reach](const Profile& profile) { return static_cast<double>(reach(profile).count()); },
           [reach](Profile& profile, double value) { reach(profile) = Bandwidth{whole(value)}; }},
          prior * kGigabyte};
}

template <class Reach>
StackParameter share(std::string name, double least, double prior, Reach reach) {
  return {{std::move(name), least, 1, false, [reach](const Profile& profile) { return to_double(reach(profile)); },
           [reach](Profile& profile, double value) {
             reach(profile) = {std::min<std::int64_t>(10'000, whole(value / kRatioUnit)), 10'000};
           }},
          prior};
}

void add_protocol(NcclProtocol protocol, std::vector<StackParameter>& all, const std::array<double, 3>& step,
                  const std::array<double, 3>& block, const std::array<double, 3>& latency,
                  const std::array<double, 3>& network) {
  const std::string prefix = std::string(name(protocol)) + ".";
  all.push_back(time(
      prefix + "step", step[0], step[1],
      step[2], [protocol](auto& profile) -> auto& { return profile.nccl->of(protocol).step; }));
  all.push_back(rate(
      prefix + "rate", block[0], block[1],
      block[2], [protocol](auto& profile) -> auto& { return profile.nccl->of(protocol).rate; }));
  all.push_back(time(
      prefix + "network_latency", latency[0], latency[1],
      latency[2], [protocol](auto& profile) -> auto& { return profile.nccl->of(protocol).network_latency; }));
  all.push_back(rate(
      prefix + "network_rate", network[0], network[1],
      network[2], [protocol](auto& profile) -> auto& { return profile.nccl->of(protocol).network_rate; }));
}

std::vector<StackParameter> make() {
  std::vector<StackParameter> all;
  all.push_back(time(
      "launch", 2, 9, 250, [](auto& profile) -> auto& { return profile.launch; }));
  add_protocol(NcclProtocol::ll, all, {0.2, 0.75, 4}, {0.3, 15, 60}, {0.5, 5, 120}, {0.1, 2, 30});
  add_protocol(NcclProtocol::ll128, all, {0.3, 1.8, 10}, {0.5, 16, 60}, {0.5, 15, 400}, {0.3, 10, 40});
  add_protocol(NcclProtocol::simple, all, {0.3, 3, 80}, {2, 25, 90}, {3, 20, 500}, {0.5, 25, 90});
  const auto nccl = [](auto reach) {
    return [reach](auto& profile) -> auto& { return reach(*profile.nccl); };
  };
  all.push_back(time("nvls_start", 1, 12, 80, nccl([](auto& costs) -> auto& { return costs.nvls_start; })));
  all.push_back(time("nvls_loop", 0.5, 5, 40, nccl([](auto& costs) -> auto& { return costs.nvls_loop; })));
  all.push_back(time("peer_start", 0.02, 0.5, 20, nccl([](auto& costs) -> auto& { return costs.peer_start; })));
  all.push_back(share("nvls_efficiency", 0.3, 0.9, nccl([](auto& costs) -> auto& { return costs.nvls_efficiency; })));
  all.push_back(share("node_efficiency", 0.1, 0.95, nccl([](auto& costs) -> auto& { return costs.node_efficiency; })));
  all.push_back(
      share("network_efficiency", 0.05, 0.92, nccl([](auto& costs) -> auto& { return costs.network_efficiency; })));
  all.push_back(time("host_launch", 2, 40, 150, nccl([](auto& costs) -> auto& { return costs.host_launch; })));
  all.push_back(time("host_channel", 0.02, 1.2, 6, nccl([](auto& costs) -> auto& { return costs.host_channel; })));
  return all;
}

}  // namespace

const std::vector<StackParameter>& stack_parameters() {
  static const std::vector<StackParameter> kAll = make();
  return kAll;
}

}  // namespace athanor
