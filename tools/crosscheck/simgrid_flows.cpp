#include <exception>
#include <stdexcept>

#include <fmt/core.h>
#include <simgrid/s4u.hpp>

#include "tools/crosscheck/traffic.hpp"

namespace athanor {

namespace {

namespace s4u = simgrid::s4u;

s4u::Host* host(const ExportedFabric& network, std::uint32_t endpoint) {
  return s4u::Host::by_name(network.names.at(network.endpoints.at(endpoint)));
}

/// One actor that starts flows as others arrive.
void drive(TrafficCase& run) {
  Report report(run.traffic.flows().size());
  std::vector<s4u::CommPtr> pending;
  std::vector<std::uint32_t> numbers;
  const auto start = [&](std::uint32_t number) {
    const Flow& flow = run.traffic.flows()[number];
    report.start(number, s4u::Engine::get_clock());
    pending.push_back(s4u::Comm::sendto_async(host(run.network, flow.from), host(run.network, flow.to),
                                              static_cast<std::uint64_t>(flow.bytes)));
    numbers.push_back(number);
  };
  for (const std::uint32_t flow : run.traffic.first()) { start(flow); }
  while (!pending.empty()) {
    const auto at = static_cast<std::size_t>(s4u::Comm::wait_any(pending));
    const std::uint32_t flow = numbers[at];
    report.end(flow, s4u::Engine::get_clock());
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(at));
    numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(at));
    for (const std::uint32_t next : run.traffic.arrived(flow)) { start(next); }
  }
  report.print("simgrid");
}

}  // namespace

}  // namespace athanor

/// SimGrid's flow level without its TCP: plain max-min sharing, full rates, one latency, no window. Links and routes
/// are those of the platform that athanor exports.
int main(int argc, char** argv) {
  try {
    simgrid::s4u::Engine engine(&argc, argv);
    for (const char* setting : {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
                                "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0"}) {
      simgrid::s4u::Engine::set_config(setting);
    }
    athanor::TrafficCase run = athanor::read_case(argc, argv);
    if (argc < 4) { throw std::runtime_error("simgrid_flows FABRIC.json FLOWS.cm PLATFORM.xml"); }
    engine.load_platform(argv[3]);
    simgrid::s4u::Actor::create("traffic", engine.get_all_hosts()[0], [&] { athanor::drive(run); });
    engine.run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
