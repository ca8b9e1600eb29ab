#include <exception>

#include <fmt/core.h>

#include "models/network/flow_network.hpp"
#include "tools/crosscheck/traffic.hpp"

namespace athanor {

namespace {

constexpr double kSecondsPerPicosecond = 1e-12;

/// Starts flows as others arrive. Each flow is a connection of its own.
class Driver final : public MoveListener {
 public:
  Driver(TrafficCase& run, Simulator& simulator)
      : run_(run), simulator_(simulator), report_(run.traffic.flows().size()) {}

  FlowGraph plan() const {
    FlowGraph plan;
    for (const ExportedFabric::Link& link : run_.network.links) { plan.links.push_back({Bandwidth{link.usable}}); }
    for (const Flow& flow : run_.traffic.flows()) {
      FlowGraph::Connection connection{Time::zero(), Bandwidth::max(), Bytes::zero(),
                                       static_cast<std::uint32_t>(plan.uses.size()), 0};
      const auto& endpoints = run_.network.endpoints;
      for (const std::uint32_t link : run_.network.routes.at({endpoints.at(flow.from), endpoints.at(flow.to)})) {
        plan.uses.push_back({LinkIndex{link}, 1});
        connection.latency += Time{run_.network.links.at(link).latency_ps};
        ++connection.uses;
      }
      plan.connections.push_back(connection);
    }
    return plan;
  }

  void run(Network& network) {
    network_ = &network;
    for (const std::uint32_t flow : run_.traffic.first()) { start(flow); }
    simulator_.run();
    report_.print("athanor");
  }

  void injected(ConnectionId /*connection*/) override {}
  void grain_arrived(ConnectionId /*connection*/) override {}
  void delivered(ConnectionId connection) override {
    report_.end(connection.value, now());
    for (const std::uint32_t flow : run_.traffic.arrived(connection.value)) { start(flow); }
  }

 private:
  double now() const { return static_cast<double>(simulator_.now().count()) * kSecondsPerPicosecond; }
  void start(std::uint32_t flow) {
    report_.start(flow, now());
    network_->move(ConnectionId{flow}, Bytes{run_.traffic.flows()[flow].bytes});
  }

  TrafficCase& run_;
  Simulator& simulator_;
  Network* network_ = nullptr;
  Report report_;
};

}  // namespace

}  // namespace athanor

/// The flow level of athanor on the files that the other engines get.
int main(int argc, char** argv) {
  try {
    athanor::TrafficCase run = athanor::read_case(argc, argv);
    athanor::Simulator simulator;
    athanor::Driver driver(run, simulator);
    const athanor::FlowGraph plan = driver.plan();
    athanor::FlowNetwork network(simulator, plan, driver);
    driver.run(network);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
