#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"
#include "topologies/node/node_template.hpp"
#include "topologies/scenario/make_cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// The same machine as nvswitch_node or cube_mesh_node, device by device.
NodeGraph written_out(const NodeSpec& spec) {
  FabricBuilder builder;
  const NodeTemplate regular(spec);
  regular.add_vertices(builder, 0);
  regular.add_links(builder, VertexId{0});
  const Fabric fabric = builder.build();
  NodeGraph graph;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) { graph.devices.push_back(fabric.vertex(VertexId{v}).kind); }
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const std::uint32_t a = fabric.source(LinkId{l}).value;
    const std::uint32_t b = fabric.target(LinkId{l}).value;
    Link link = fabric.link(LinkId{l});
    const bool from_nic = fabric.vertex(VertexId{a}).kind == VertexKind::nic;
    if (from_nic) { link.latency = link.latency - spec.nic.forwarding; }
    if (a < b) { graph.cables.push_back({a, b, link}); }
  }
  return graph;
}

NodeSpec graph_node(const NodeSpec& spec) {
  NodeSpec result;
  result.name = spec.name;
  result.graph = written_out(spec);
  result.gpus = spec.gpus;
  result.nics = spec.nics;
  result.sockets = spec.sockets;
  result.nic = spec.nic;
  return result;
}

struct Made {
  std::optional<Cluster> cluster;
  std::string problems;
};

Made made(const std::string& cluster) {
  Made result;
  Problems problems;
  ClusterConfig config;
  const Document document = Document::parse(R"({"cluster": )" + cluster + "}", "s.json");
  read_document(document, problems, [&](Fields& fields) {
    fields.required_object("cluster", "", [&](Fields& inner) { visit(inner, config); });
  });
  if (problems.empty()) { result.cluster = make_cluster(config, {}, {}, {}, problems); }
  for (const Problem& problem : problems.list()) { result.problems += describe(problem) + "\n"; }
  return result;
}

constexpr const char* kTwoGpus = R"("graph": {"vertices": [{"name": "n", "kind": "nic"}, {"name": "a", "kind": "gpu"},
  {"name": "p", "kind": "pcie_switch"}, {"name": "b", "kind": "gpu"}, {"name": "c", "kind": "cpu"}],
  "links": [{"between": ["a", "p"], "rate": "30GB/s", "latency": "150ns", "kind": "pcie"},
            {"between": ["p", "b"], "rate": "30GB/s", "latency": "150ns", "kind": "pcie"},
            {"between": ["p", "n"], "rate": "30GB/s", "usable": "25GB/s", "latency": "150ns", "kind": "pcie"},
            {"between": ["c", "p"], "rate": "30GB/s", "latency": "150ns", "kind": "pcie"}]})";

}  // namespace

TEST_CASE("a node written out routes, names and counts as the regular node that it copies") {
  for (const NodeSpec& spec : {nvswitch_node(8, 8), nvswitch_node(4, 2), cube_mesh_node()}) {
    const Cluster regular = fat_tree(nodes(4, spec), clos_of_radix(16));
    const Cluster copy = fat_tree(nodes(4, graph_node(spec)), clos_of_radix(16));
    REQUIRE(copy.fabric->vertices() == regular.fabric->vertices());
    REQUIRE(copy.fabric->links() == regular.fabric->links());
    for (std::uint32_t v = 0; v < copy.fabric->vertices(); ++v) {
      CHECK(copy.fabric->name(VertexId{v}) == regular.fabric->name(VertexId{v}));
    }
    const auto names = [](const Cluster& cluster, std::size_t from, std::size_t to) {
      std::string way;
      for (const LinkId link : route(cluster, cluster.endpoints[from], cluster.endpoints[to])) {
        way += cluster.fabric->name(link) + " ";
      }
      return way;
    };
    for (std::size_t from = 0; from < copy.endpoints.size(); ++from) {
      for (std::size_t to = 0; to < copy.endpoints.size(); ++to) {
        CHECK(names(copy, from, to) == names(regular, from, to));
      }
    }
  }
}

TEST_CASE("half of a node written out is what hangs on half of its CPUs, and cuts are those of the regular node") {
  const NodeSpec spec = nvswitch_node(8, 8);
  const ClusterDescription regular = describe(single_node(spec));
  const ClusterDescription copy = describe(single_node(graph_node(spec)));
  CHECK(copy.bisection->bandwidth == regular.bisection->bandwidth);
  CHECK(copy.bisection->endpoints == regular.bisection->endpoints);
}

TEST_CASE("what is wrong with a written node is said in a sentence each") {
  NodeSpec spec = graph_node(nvswitch_node(2, 1));
  REQUIRE(faults(spec).empty());
  const auto fault = [&](auto change) {
    NodeSpec changed = spec;
    change(*changed.graph);
    const auto found = faults(changed);
    return found.empty() ? std::string() : found.front();
  };
  CHECK(fault([](NodeGraph& g) { g.devices.assign(3, VertexKind::cpu); }) == "a node needs at least one GPU");
  CHECK(fault([](NodeGraph& g) { std::swap(g.devices.front(), g.devices.back()); }) ==
        "GPUs come first in the graph of a node, and NICs last");
  CHECK(fault([](NodeGraph& g) { g.devices[3] = VertexKind::leaf; }) == "a leaf is no part of a node");
  CHECK(fault([](NodeGraph& g) { g.cables[0].b = 99; }).find("joins devices 0 and 99 of") != std::string::npos);
  CHECK(fault([](NodeGraph& g) { g.cables[0].link.usable = Bandwidth::zero(); }).find("has no bandwidth") !=
        std::string::npos);
  CHECK(fault([](NodeGraph& g) { g.cables[0].link.kind = LinkKind::network; }).find("is a network's") !=
        std::string::npos);
  CHECK(fault([](NodeGraph& g) { g.devices.insert(g.devices.begin(), 1024, VertexKind::gpu); }).find("at most 1024") !=
        std::string::npos);
}

TEST_CASE("a scenario writes a node out, in any order, and puts copies on a fabric") {
  const std::string fabric = R"("fabric": {"kind": "star", "link": {"rate": "400Gb/s", "latency": "500ns"}})";
  const Made two = made(fmt::format(
      R"({{"node": {{"name": "box", {}, "port": {{"rate": "400Gb/s", "latency": "300ns"}}}}, "nodes": 2, {}}})",
      kTwoGpus, fabric));
  REQUIRE(two.problems == "");
  CHECK(two.cluster->description == "2 x box on a star");
  const Fabric& graph = *two.cluster->fabric;
  const auto path = route(*two.cluster, two.cluster->endpoints[0], two.cluster->endpoints[3]);
  CHECK(broken(graph, two.cluster->endpoints[0], two.cluster->endpoints[3], path) == "");
  CHECK(path.size() == 6);
  CHECK(graph.link(path[2]).latency == 800_ns);  // the NIC's own 300 ns, and the cable's
  CHECK(made(fmt::format(R"({{"node": {{{}}}}})", kTwoGpus)).problems.find("needs \"nic\"") != std::string::npos);
}

TEST_CASE("a node that is written out takes no keys of a regular one") {
  const auto with = [](const std::string& more) {
    return made(fmt::format(R"({{"node": {{{}, {}}}}})", kTwoGpus, more)).problems;
  };
  for (const char* key :
       {R"("gpus": 2)", R"("sockets": 2)", R"("nics": 1)", R"("preset": "DGX-H100")", R"("pcie_link": "pcie4x16")"}) {
    CAPTURE(key);
    CHECK(with(key).find("has all devices and links in it") != std::string::npos);
  }
  const std::string port = R"("port": {"rate": "400Gb/s", "latency": "300ns"})";
  CHECK(with(port + R"(, "nic": "CX7-NDR")").find("say the same") != std::string::npos);
  CHECK(made(R"({"node": {"gpus": 1, "pcie_link": {"rate": "1GB/s"}, )" + port + "}}")
            .problems.find("belongs to a \"graph\"") != std::string::npos);
  const std::string apart =
      R"({"node": {"graph": {"vertices": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}]}}})";
  CHECK(made(apart).problems.find("GPU 0 of the node cannot reach GPU 1") != std::string::npos);
}
