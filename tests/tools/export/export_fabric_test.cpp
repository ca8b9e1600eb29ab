#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/tools/import/fabric/imported_fabric.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/exporters.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

pugi::xml_document parsed(const std::string& text) {
  pugi::xml_document xml;
  REQUIRE(xml.load_string(text.c_str()));
  return xml;
}

nlohmann::ordered_json fat_tree(const std::string& more) {
  return nlohmann::ordered_json::parse(R"({"nodes": 32, "fabric": {"kind": "fat_tree", "hosts_per_leaf": 8,
    "link": {"rate": "100Gb/s", "latency": "1us"})" +
                                       more + "}}");
}

std::string refusal(const nlohmann::ordered_json& cluster) {
  try {
    to_htsim(built(cluster));
  } catch (const ScenarioError& error) { return error.problems().front().message; }
  return "";
}

/// Rate and latency of every route, and how many devices and links there are.
std::string routes(const Cluster& cluster) {
  std::string text = fmt::format("{} {}\n", cluster.fabric->vertices(), cluster.fabric->links());
  std::vector<LinkId> path;
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      path.clear();
      cluster.router->route({from, to, 0}, path);
      Time latency = Time::zero();
      Bandwidth width = Bandwidth::max();
      for (const LinkId link : path) {
        latency += cluster.fabric->link(link).latency;
        width = std::min(width, cluster.fabric->link(link).rate);
      }
      text += fmt::format("{} {} {}\n", path.size(), latency.count(), width.count());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("GraphML holds every device and both directions of every link, with names, rates and latencies") {
  const Cluster cluster = built({{"node", "DGX-A100"}});
  const pugi::xml_document xml = parsed(to_graphml(cluster));
  std::map<std::string, std::string> keys;
  for (const pugi::xml_node key : xml.child("graphml").children("key")) {
    keys[key.attribute("id").value()] =
        fmt::format("{} {}", key.attribute("for").value(), key.attribute("attr.name").value());
  }
  const auto field = [&](const pugi::xml_node& element, const std::string& name) -> std::string {
    for (const pugi::xml_node data : element.children("data")) {
      if (keys[data.attribute("key").value()] == name) { return data.text().get(); }
    }
    return "";
  };
  const pugi::xml_node graph = xml.child("graphml").child("graph");
  CHECK(std::string(graph.attribute("edgedefault").value()) == "directed");
  std::uint32_t v = 0;
  for (const pugi::xml_node node : graph.children("node")) {
    CHECK(field(node, "node name") == cluster.fabric->name(VertexId{v}));
    CHECK(field(node, "node kind") == name(cluster.fabric->vertex(VertexId{v}).kind));
    ++v;
  }
  CHECK(v == cluster.fabric->vertices());
  std::uint32_t l = 0;
  for (const pugi::xml_node edge : graph.children("edge")) {
    const Link& link = cluster.fabric->link(LinkId{l});
    CHECK(edge.attribute("source").value() == fmt::format("n{}", cluster.fabric->source(LinkId{l}).value));
    CHECK(edge.attribute("target").value() == fmt::format("n{}", cluster.fabric->target(LinkId{l}).value));
    CHECK(field(edge, "edge usable_bytes_per_s") == std::to_string(link.usable.count()));
    CHECK(field(edge, "edge latency_ps") == std::to_string(link.latency.count()));
    ++l;
  }
  CHECK(l == cluster.fabric->links());
}

TEST_CASE("a platform of SimGrid has the hosts, the links and the routes of the cluster") {
  const Cluster cluster = built(fat_tree(R"(, "spines": 2)"));
  const pugi::xml_document xml = parsed(to_simgrid(cluster));
  const pugi::xml_node zone = xml.child("platform").child("zone");
  CHECK(std::distance(zone.children("host").begin(), zone.children("host").end()) == 32);
  CHECK(std::distance(zone.children("link").begin(), zone.children("link").end()) == cluster.fabric->links());
  std::size_t routes = 0;
  for (const pugi::xml_node route : zone.children("route")) {
    ++routes;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    for (const VertexId host : cluster.endpoints) {
      if (cluster.fabric->name(host) == route.attribute("src").value()) { from = host.value; }
      if (cluster.fabric->name(host) == route.attribute("dst").value()) { to = host.value; }
    }
    std::vector<LinkId> path;
    cluster.router->route({VertexId{from}, VertexId{to}, 0}, path);
    std::vector<LinkId> written;
    for (const pugi::xml_node link : route.children("link_ctn")) {
      written.emplace_back(static_cast<std::uint32_t>(std::stoul(std::string(link.attribute("id").value()).substr(1))));
    }
    CHECK(written == path);
  }
  CHECK(routes == 32 * 31);
  CHECK_THROWS_AS(
      to_simgrid(
          built({{"nodes", 257}, {"fabric", {{"kind", "star"}, {"link", {{"rate", "1GB/s"}, {"latency", "1us"}}}}}})),
      ScenarioError);
}

TEST_CASE("a fat tree goes to htsim and back: the same devices, links, rates and latencies of routes") {
  const std::vector<std::string> fabrics{
      R"(, "spines": 2)", R"(, "oversubscription": 4)", R"(, "uplink": {"rate": "400Gb/s", "latency": "500ns"})",
      R"(, "spines": 2, "oversubscription": 2, "tiers": 3, "leaves_per_pod": 2, "cores": 4)",
      R"(, "tiers": 3, "leaves_per_pod": 2, "oversubscription": [2, 2],
         "core_link": {"rate": "200Gb/s", "latency": "2us"})"};
  for (const std::string& more : fabrics) {
    CAPTURE(more);
    const Cluster cluster = built(fat_tree(more));
    const std::string text = to_htsim(cluster);
    CAPTURE(text);
    const Import import = import_text(text, FabricFormat::htsim);
    REQUIRE(import.problems == "");
    const Cluster back = built(import.fabric.cluster);
    CHECK(routes(back) == routes(cluster));
    CHECK(to_htsim(back) == text);
  }
  const Cluster preset = built(nlohmann::ordered_json::parse(
      R"({"nodes": 128, "fabric": {"kind": "fat_tree", "switch": "QM8700", "hosts_per_leaf": 16, "spines": 8, "radix": 40}})"));
  CHECK(routes(built(import_text(to_htsim(preset), FabricFormat::htsim).fabric.cluster)) == routes(preset));
}

TEST_CASE("what htsim has no fat tree for is refused with the reason") {
  CHECK(refusal({{"node", "DGX-A100"}}).find("its hosts have no inside") != std::string::npos);
  CHECK(refusal({{"nodes", 4}, {"fabric", {{"kind", "star"}, {"link", {{"rate", "1GB/s"}, {"latency", "1us"}}}}}})
            .find("two or three tiers") != std::string::npos);
  CHECK(refusal({{"fabric",
                  {{"kind", "torus"}, {"dimensions", {4, 4}}, {"link", {{"rate", "1GB/s"}, {"latency", "1us"}}}}}})
            .find("htsim has no such fat tree") != std::string::npos);
  nlohmann::ordered_json part = fat_tree(R"(, "spines": 2)");
  part["nodes"] = 30;
  CHECK(refusal(part).find("leaf3 is unlike leaf0") != std::string::npos);
  part = fat_tree(R"(, "spines": 2)");
  part["fabric"]["link"]["rate"] = "1.5 Gb/s";
  CHECK(refusal(part).find("rates are whole Gb/s") != std::string::npos);
  part["fabric"]["link"] = {{"rate", "100Gb/s"}, {"latency", "1500ps"}};
  CHECK(refusal(part).find("latencies are whole nanoseconds") != std::string::npos);
  CHECK(refusal(fat_tree(R"(, "spines": 3)")).find("is a multiple of that up") != std::string::npos);
}

TEST_CASE("export fabric writes a scenario's or a preset's cluster, and says what is wrong with the command line") {
  const Folder folder;
  const std::string scenario = folder.write("s.json", kSmall);
  CHECK(athanor_run({"export", "fabric", "DGX-H100", "--format", "graphml"}).out.find("<graphml") != std::string::npos);
  CHECK(athanor_run({"export", "fabric", scenario, "--format", "dot"}).out.find("digraph") == 0);
  CHECK(athanor_run({"export", "fabric", scenario, "--format", "json"}).json()["endpoints"].size() == 4);
  const Ran file = athanor_run({"export", "fabric", scenario, "--format", "simgrid", "-o", folder.path("p.xml")});
  CHECK(file.code == 0);
  CHECK(file.says("simgrid: 4 x host on a star, 5 devices, 8 links"));
  const Ran cut = athanor_run({"export", "fabric", scenario, "--format", "htsim"});
  CHECK(cut.code == 3);
  CHECK(cut.says("two or three tiers"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"fabric", scenario}, "--format graphml|simgrid|htsim|dot|json is missing"},
      {{"fabric", scenario, "--format", "xml"}, "there is no format 'xml'"},
      {{"fabric", scenario, "more", "--format", "dot"}, "one SCENARIO or PRESET"},
      {{"fabric", scenario, "--format", "dot", "--ranks", "2"}, "--ranks goes with schedules"},
      {{"fabric", "DGX-H10", "--format", "dot"}, "did you mean 'DGX-H100'?"},
      {{"fabrics", scenario}, "'fabrics' cannot be exported"},
      {{"schedule", "all_reduce"}, "a schedule is COLLECTIVE ALGORITHM"}};
  for (const auto& [words, message] : wrong) {
    CAPTURE(message);
    std::vector<std::string> arguments{"export"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Ran ran = athanor_run(arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.says(message));
  }
}

TEST_CASE("export schedule writes a connection matrix of htsim") {
  const Ran ring =
      athanor_run({"export", "schedule", "all_reduce", "ring", "--format", "htsim", "--ranks", "4", "--size", "1MiB"});
  REQUIRE(ring.code == 0);
  CHECK(ring.out.find("Nodes 4\nConnections 24\nTriggers 20\n0->1 id 1 start 0 size 262144") == 0);
  CHECK(ring.says("messages 24"));
}

// Names come from files of anybody. XML 1.0 has no way to write most control characters, not even escaped.
TEST_CASE("names that would be no XML are written as people see them") {
  const Cluster cluster = built(nlohmann::ordered_json::parse(R"({"graph": {"vertices": [
    {"name": "a\u0001<&>", "kind": "gpu"}, {"name": "b\"'", "kind": "gpu"}],
    "links": [{"between": ["a\u0001<&>", "b\"'"], "rate": "10GB/s", "latency": "1us"}]}})"));
  for (const std::string& text : {to_graphml(cluster), to_simgrid(cluster)}) {
    CAPTURE(text);
    pugi::xml_document xml;
    CHECK(xml.load_string(text.c_str()));
    CHECK(text.find('\x01') == std::string::npos);
    CHECK(text.find("a\\u0001&lt;&amp;&gt;") != std::string::npos);
  }
}
