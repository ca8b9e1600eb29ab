#include <doctest/doctest.h>

#include "tests/tools/import/fabric/imported_fabric.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

const std::string kLeafSpine =
    "# 32 hosts, four to one\nNodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up "
    "2\n"
    "Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\n"
    "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n";

const std::string kThreeTiers =
    "nodes 128\ntiers 3\npodsize 32\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 8\nRadix_Up 4\nDownlink_Latency_ns "
    "400\n"
    "Switch_Latency_ns 300\nOversubscribed 1\nQueue_Up 1000\n"
    "Tier 1\nDownlink_speed_Gbps 400\nRadix_Down 8\nRadix_Up 4\nDownlink_Latency_ns 500\nSwitch_Latency_ns 350\n"
    "Oversubscribed 2\nBundle 2\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 8\nDownlink_Latency_ns 600\n"
    "Switch_Latency_ns 450\nBundle 2\n";

std::string problems_of(const std::string& text) { return import_text(text, FabricFormat::htsim).problems; }

std::string without(const std::string& line) {
  std::string text = kLeafSpine;
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find('\n', at) + 1 - at);
}

std::string replaced(const std::string& part, const std::string& by) {
  std::string text = kLeafSpine;
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

Time latency(const Cluster& cluster, std::size_t from, std::size_t to) {
  std::vector<LinkId> path;
  cluster.router->route({cluster.endpoints[from], cluster.endpoints[to], 0}, path);
  Time sum = Time::zero();
  for (const LinkId link : path) { sum += cluster.fabric->link(link).latency; }
  return sum;
}

std::uint32_t count(const Cluster& cluster, VertexKind kind) {
  return describe(cluster).vertices[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("a leaf-spine of htsim is the fat tree with its switches, cables and rates") {
  REQUIRE(recognised_fabric(kLeafSpine) == FabricFormat::htsim);
  const Import import = import_text(kLeafSpine, FabricFormat::htsim);
  REQUIRE(import.problems == "");
  const Cluster cluster = built(import.fabric.cluster);
  CHECK(cluster.endpoints.size() == 32);
  CHECK(count(cluster, VertexKind::leaf) == 4);
  CHECK(count(cluster, VertexKind::spine) == 2);
  CHECK(cluster.fabric->links() == 2 * (32 + 4 * 2));
  CHECK(describe(cluster).bisection->bandwidth == 100_Gbps * 4);
  CHECK(latency(cluster, 0, 31) == Time{4'000'000});
}

TEST_CASE("three tiers with bundles: counts as htsim makes them, and every route takes as long as there") {
  const Import import = import_text(kThreeTiers, FabricFormat::htsim);
  REQUIRE(import.problems == "");
  CHECK(import.notes("queue sizes"));
  const Cluster cluster = built(import.fabric.cluster);
  // A leaf has 8 x 200 Gb/s down and 4 x 400 up, two to each of two spines; a spine 4 up, two to each of two cores.
  CHECK(count(cluster, VertexKind::leaf) == 16);
  CHECK(count(cluster, VertexKind::spine) == 4 * 2);
  CHECK(count(cluster, VertexKind::core) == 2 * 2);
  CHECK(cluster.fabric->links() == 2 * (128 + 16 * 4 + 8 * 4));
  const auto ns = [](std::int64_t n) { return Time{n * 1000}; };
  CHECK(latency(cluster, 0, 1) == ns(2 * 400 + 300));
  CHECK(latency(cluster, 0, 8) == ns(2 * 400 + 2 * 500 + 2 * 300 + 350));
  CHECK(latency(cluster, 0, 127) == ns(2 * 400 + 2 * 500 + 2 * 600 + 2 * 300 + 2 * 350 + 450));
}

TEST_CASE("broken .topo files are named with their lines") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "in.txt:1:1: the file is empty"},
      {without("Nodes 32"), "Nodes or Podsize is missing"},
      {replaced("Tiers 2", "Tiers 4"), "4 tiers"},
      {replaced("Tier 1", "Tier 7"), "in.txt:14:1: there is no tier 7"},
      {replaced("Tier 1", "Tier 0"), "in.txt:14:1: tier 0 is on line 6 already"},
      {without("Radix_Up"), "in.txt:6:1: Radix_Up of tier 0 is missing"},
      {without("Downlink_Latency"), "Downlink_Latency_ns of tier 0 is missing"},
      {replaced("Radix_Down 8", "Radix_Down 8\nRadix_Down 8"), "in.txt:9:1: radix_down comes a second time"},
      {replaced("Radix_Down 8", "Radix_Dwon 8"), "in.txt:8:1: 'radix_dwon' is no key of a tier"},
      {replaced("Nodes 32", "Hosts 32"), "in.txt:2:1: 'hosts' is no key before the first tier"},
      {replaced("Radix_Down 8", "Radix_Down eight"), "in.txt:8:1: Radix_Down needs one whole number"},
      {replaced("Radix_Down 8", "Radix_Down -8"), "Radix_Down needs one whole number"},
      {replaced("Radix_Down 8", "Radix_Down 99999999999"), "Radix_Down needs one whole number"},
      {replaced("Nodes 32", "Nodes 31"), "Nodes 31 is no multiple of Podsize 32"},
      {replaced("Oversubscribed 4", "Oversubscribed 3"), "up-links of a leaf times Oversubscribed is 600"},
      {replaced("Radix_Down 4", "Radix_Down 5"),
       "in.txt:14:1: Radix_Down of tier 1 is 5, and its leaves times Bundle is 4"}};
  for (const auto& [text, message] : wrong) {
    CAPTURE(message);
    CAPTURE(problems_of(text));
    CHECK(problems_of(text).find(message) != std::string::npos);
  }
}
