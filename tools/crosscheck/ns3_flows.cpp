#include <algorithm>
#include <exception>
#include <map>
#include <stdexcept>

#include <fmt/core.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include "tools/crosscheck/traffic.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kPayload = 4'096;
constexpr std::uint32_t kHeaders = 30;  // PPP 2, IPv4 20, UDP 8
constexpr std::uint16_t kMtu = 9'000;
constexpr std::uint16_t kFirstPort = 1'024;

/// Devices, cables and addresses; queues are as long as they need to be. Forwards by destination.
class Topology {
 public:
  explicit Topology(const ExportedFabric& network) : network_(network) {
    nodes_.Create(static_cast<std::uint32_t>(network.names.size()));
    ns3::InternetStackHelper stack;
    ns3::Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes_);
    ports_.resize(network.links.size());
    std::multimap<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> unmatched;
    for (std::uint32_t l = 0; l < network.links.size(); ++l) {
      const ExportedFabric::Link& link = network.links[l];
      const auto twin = unmatched.find({link.to, link.from});
      if (twin == unmatched.end()) {
        unmatched.emplace(std::pair{link.from, link.to}, l);
        continue;
      }
      add_cable(twin->second, l);
      unmatched.erase(twin);
    }
    if (!unmatched.empty()) { throw std::runtime_error("a link has no way back"); }
    for (const auto& [ends, route] : network.routes) { add_route(ends.second, route); }
  }

  ns3::Ptr<ns3::Node> node(std::uint32_t endpoint) const { return nodes_.Get(network_.endpoints.at(endpoint)); }
  ns3::Ipv4Address address(std::uint32_t endpoint) const { return addresses_.at(network_.endpoints.at(endpoint)); }
  std::int64_t rate(std::uint32_t from, std::uint32_t to) const {
    const auto& route = network_.routes.at({network_.endpoints.at(from), network_.endpoints.at(to)});
    return network_.links.at(route.front()).rate;
  }

 private:
  void add_cable(std::uint32_t forth, std::uint32_t back) {
    const ExportedFabric::Link& link = network_.links[forth];
    if (link.rate != network_.links[back].rate || link.latency_ps != network_.links[back].latency_ps) {
      throw std::runtime_error("ns-3's cables are the same both ways");
    }
    auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::PicoSeconds(static_cast<std::uint64_t>(link.latency_ps))));
    const std::uint32_t base = (10U << 24U) + 4 * cables_++;
    ports_[forth] = add_device(link.from, link.rate, channel, ns3::Ipv4Address(base + 1));
    ports_[back] = add_device(link.to, link.rate, channel, ns3::Ipv4Address(base + 2));
  }

  std::uint32_t add_device(std::uint32_t vertex, std::int64_t rate, const ns3::Ptr<ns3::PointToPointChannel>& channel,
                           const ns3::Ipv4Address& address) {
    auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
    device->SetAddress(ns3::Mac48Address::Allocate());
    device->SetDataRate(ns3::DataRate(static_cast<std::uint64_t>(rate) * 8));
    device->SetMtu(kMtu);
    auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
    queue->SetMaxSize(ns3::QueueSize("100000000p"));
    device->SetQueue(queue);
    nodes_.Get(vertex)->AddDevice(device);
    device->Attach(channel);
    const auto ip = nodes_.Get(vertex)->GetObject<ns3::Ipv4>();
    const std::uint32_t interface = ip->AddInterface(device);
    ip->AddAddress(interface, ns3::Ipv4InterfaceAddress(address, ns3::Ipv4Mask("255.255.255.252")));
    ip->SetUp(interface);
    addresses_.emplace(vertex, address);
    return interface;
  }

  void add_route(std::uint32_t to, const std::vector<std::uint32_t>& route) {
    for (const std::uint32_t link : route) {
      const std::uint32_t at = network_.links[link].from;
      const auto [known, is_new] = next_.emplace(std::pair{at, to}, link);
      if (known->second != link) {
        throw std::runtime_error("ns-3 forwards by destination, and these routes do not; use \"routing\": \"d_mod_k\"");
      }
      if (!is_new) { continue; }
      ns3::Ipv4StaticRoutingHelper helper;
      helper.GetStaticRouting(nodes_.Get(at)->GetObject<ns3::Ipv4>())->AddHostRouteTo(addresses_.at(to), ports_[link]);
    }
  }

  const ExportedFabric& network_;
  ns3::NodeContainer nodes_;
  std::vector<std::uint32_t> ports_;                     ///< interface at the source of each link
  std::map<std::uint32_t, ns3::Ipv4Address> addresses_;  ///< the first of each vertex
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> next_;
  std::uint32_t cables_ = 0;
};

/// Sends flows as datagrams at the rate of the first link, and starts others as they arrive.
class Driver {
 public:
  Driver(TrafficCase& run, const Topology& topology)
      : run_(run), topology_(topology), report_(run.traffic.flows().size()), received_(run.traffic.flows().size(), 0) {}

  void run() {
    for (const std::uint32_t flow : run_.traffic.first()) { start(flow); }
    ns3::Simulator::Run();
    report_.print("ns-3");
    sockets_.clear();
    ns3::Simulator::Destroy();
  }

 private:
  static double now() { return ns3::Simulator::Now().GetSeconds(); }

  void start(std::uint32_t number) {
    const Flow& flow = run_.traffic.flows()[number];
    const auto port = static_cast<std::uint16_t>(kFirstPort + number);
    const ns3::TypeId type = ns3::UdpSocketFactory::GetTypeId();
    const auto sink = ns3::Socket::CreateSocket(topology_.node(flow.to), type);
    sink->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    sink->SetRecvCallback([this, number](const ns3::Ptr<ns3::Socket>& socket) { receive(number, socket); });
    const auto source = ns3::Socket::CreateSocket(topology_.node(flow.from), type);
    source->Bind();
    source->Connect(ns3::InetSocketAddress(topology_.address(flow.to), port));
    sockets_.push_back(sink);
    report_.start(number, now());
    send(source, flow.bytes, topology_.rate(flow.from, flow.to));
  }

  void send(const ns3::Ptr<ns3::Socket>& source, std::int64_t left, std::int64_t rate) {
    const auto bytes = static_cast<std::uint32_t>(std::min<std::int64_t>(left, kPayload));
    source->Send(ns3::Create<ns3::Packet>(bytes));
    if (left == bytes) { return; }
    constexpr std::int64_t kPicoseconds = 1'000'000'000'000;
    const std::int64_t gap = static_cast<std::int64_t>(bytes + kHeaders) * kPicoseconds / rate;
    ns3::Simulator::Schedule(ns3::PicoSeconds(static_cast<std::uint64_t>(gap)),
                             [this, source, left, bytes, rate] { send(source, left - bytes, rate); });
  }

  void receive(std::uint32_t number, const ns3::Ptr<ns3::Socket>& socket) {
    while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) { received_[number] += packet->GetSize(); }
    if (received_[number] < run_.traffic.flows()[number].bytes) { return; }
    report_.end(number, now());
    for (const std::uint32_t next : run_.traffic.arrived(number)) { start(next); }
  }

  TrafficCase& run_;
  const Topology& topology_;
  Report report_;
  std::vector<std::int64_t> received_;
  std::vector<ns3::Ptr<ns3::Socket>> sockets_;
};

}  // namespace

}  // namespace athanor

/// ns-3 packet by packet: datagrams of 4096 bytes, queues without an end, no congestion control.
int main(int argc, char** argv) {
  try {
    ns3::Time::SetResolution(ns3::Time::PS);
    athanor::TrafficCase run = athanor::read_case(argc, argv);
    if (run.traffic.flows().size() > 60'000) { throw std::runtime_error("more flows than UDP has ports"); }
    const athanor::Topology topology(run.network);
    athanor::Driver(run, topology).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
