#include "tools/import/fabric/infiniband.hpp"

#include <doctest/doctest.h>

#include "tests/tools/import/fabric/imported_fabric.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// Hosts h1 .. hN on leaves of `per_leaf`, each leaf on each of two spines, as ibnetdiscover prints it: switches first,
/// their ports from 1 on, hosts in descending order.
std::string fat_tree(int hosts, int per_leaf, const std::string& host_rate = "4xHDR") {
  const int leaves = (hosts + per_leaf - 1) / per_leaf;
  const auto host = [](int i) { return fmt::format("H-{:016x}", 0x1000 + i); };
  const auto leaf = [](int i) { return fmt::format("S-{:016x}", 0x2000 + i); };
  const auto spine = [](int i) { return fmt::format("S-{:016x}", 0x3000 + i); };
  std::string text = "#\n# Topology file: generated on Tue Jun  5 14:15:10 2024\n#\n";
  for (int l = 0; l < leaves; ++l) {
    text +=
        fmt::format("\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x1\nswitchguid=0x{:x}({:x})\n", 0x2000 + l, 0x2000 + l);
    text += fmt::format("Switch\t40 \"{}\"\t\t# \"MF0;leaf{}:MQM8700/U1\" enhanced port 0 lid 5 lmc 0\n", leaf(l), l);
    for (int p = 0; p < per_leaf && l * per_leaf + p < hosts; ++p) {
      const int h = l * per_leaf + p;
      text +=
          fmt::format("[{}]\t\"{}\"[1]({:x}) \t\t# \"node{} mlx5_0\" lid 9 {}\n", p + 1, host(h), h, h + 1, host_rate);
    }
    for (int s = 0; s < 2; ++s) {
      text += fmt::format("[{}]\t\"{}\"[{}]\t\t# \"MF0;spine{}:MQM8700/U1\" lid 1 4xHDR\n", per_leaf + 1 + s, spine(s),
                          l + 1, s);
    }
  }
  for (int s = 0; s < 2; ++s) {
    text += fmt::format(
        "\nswitchguid=0x{:x}({:x})\nSwitch\t40 \"{}\"\t\t# \"MF0;spine{}:MQM8700/U1\" base port 0 lid 7 lmc 0\n",
        0x3000 + s, 0x3000 + s, spine(s), s);
    for (int l = 0; l < leaves; ++l) {
      text += fmt::format("[{}]\t\"{}\"[{}]\t\t# \"MF0;leaf{}:MQM8700/U1\" lid 5 4xHDR\n", l + 1, leaf(l),
                          per_leaf + 1 + s, l);
    }
  }
  for (int h = hosts - 1; h >= 0; --h) {
    text +=
        fmt::format("\nvendid=0x2c9\ncaguid=0x{:x}\nCa\t1 \"{}\"\t\t# \"node{} mlx5_0\"\n", 0x1000 + h, host(h), h + 1);
    text += fmt::format("[1]({:x}) \t\"{}\"[{}]\t\t# lid 9 lmc 0 \"MF0;leaf{}:MQM8700/U1\" lid 5 {}\n", h,
                        leaf(h / per_leaf), h % per_leaf + 1, h / per_leaf, host_rate);
  }
  return text;
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

std::string problems_of(const std::string& text) { return import_text(text, FabricFormat::ibnetdiscover).problems; }

}  // namespace

TEST_CASE("rates of InfiniBand are lanes times the rate of one, after the line code") {
  CHECK(infiniband_rate("4xEDR") == 100_Gbps);
  CHECK(infiniband_rate("4xHDR") == 200_Gbps);
  CHECK(infiniband_rate("2xHDR") == 100_Gbps);
  CHECK(infiniband_rate("4xNDR") == 400_Gbps);
  CHECK(infiniband_rate("4xXDR") == 800_Gbps);
  CHECK(infiniband_rate("4xQDR") == 32_Gbps);
  CHECK(infiniband_rate("12xSDR") == 24_Gbps);
  CHECK(infiniband_rate("4xFDR10") == 40_Gbps);
  for (const char* word : {"4xZDR", "xEDR", "0xEDR", "4x", "EDR", "99xHDR", "", "4xedr"}) {
    CAPTURE(word);
    CHECK_FALSE(infiniband_rate(word));
  }
}

TEST_CASE("a discovered fat tree has its hosts in the order of their names, and every cable once") {
  const std::string text = fat_tree(12, 4);
  REQUIRE(recognised_fabric(text) == FabricFormat::ibnetdiscover);
  const Import import = import_text(text, FabricFormat::ibnetdiscover);
  REQUIRE(import.problems == "");
  CHECK(import.notes("180 ns"));
  const Cluster cluster = built(import.fabric.cluster);
  CHECK(cluster.endpoints.size() == 12);
  CHECK(cluster.fabric->name(cluster.endpoints[1]) == "node2 mlx5_0");
  CHECK(cluster.fabric->name(cluster.endpoints[11]) == "node12 mlx5_0");
  CHECK(cluster.fabric->links() == 2 * (12 + 3 * 2));
  CHECK(passes(cluster, 0, 3).size() == 3);
  CHECK(passes(cluster, 0, 4) ==
        std::vector{VertexKind::host, VertexKind::leaf, VertexKind::spine, VertexKind::leaf, VertexKind::host});
  const Link& link = cluster.fabric->link(LinkId{0});
  CHECK(link.rate == 200_Gbps);
  CHECK(link.usable == scaled_down(200_Gbps, payload_share(Framing::infiniband)));
  CHECK(link.latency == Time{180'000});
}

TEST_CASE("aggregation nodes, routers and adapters without a cable are left out, chassis and old ports are read") {
  std::string text = fat_tree(4, 4);
  text +=
      "\ncaguid=0x9\nCa 1 \"H-agg\" # \"Mellanox Technologies Aggregation Node\"\n"
      "[1](9) \"S-0000000000002000\"[41] # lid 40 lmc 0 \"leaf\" lid 5 4xHDR\n"
      "\ncaguid=0xa\nCa 2 \"H-idle\" # \"idle mlx5_0\"\n";
  text = replaced(text, "[1]\t\"H-0000000000001000\"",
                  "[41]\t\"H-agg\"[1](9) # \"agg\" lid 4 4xHDR\n[1][ext 7]\t\"H-0000000000001000\"");
  const Import import = import_text(text, FabricFormat::ibnetdiscover);
  REQUIRE(import.problems == "");
  CHECK(import.notes("1 aggregation nodes"));
  CHECK(import.notes("1 adapters without a cable"));
  CHECK(built(import.fabric.cluster).endpoints.size() == 4);
}

TEST_CASE("two ports of one adapter are two hosts, and equal descriptions are told apart") {
  const std::string text =
      "Switch 4 \"S-1\" # \"sw\" base port 0\n[1] \"H-1\"[1](a) # \"n HCA\" 4xEDR\n[2] \"H-1\"[2](b) # \"n HCA\" "
      "4xEDR\n"
      "[3] \"H-2\"[1](c) # \"n HCA\" 4xEDR\n"
      "Ca 2 \"H-1\" # \"n HCA\"\n[1](a) \"S-1\"[1] # lid 1 4xEDR\n[2](b) \"S-1\"[2] # lid 1 4xEDR\n"
      "Ca 1 \"H-2\" # \"n HCA\"\n[1](c) \"S-1\"[3] # lid 1 4xEDR\n";
  const Cluster cluster = built(import_text(text, FabricFormat::ibnetdiscover).fabric.cluster);
  REQUIRE(cluster.endpoints.size() == 3);
  CHECK(cluster.fabric->name(cluster.endpoints[0]) == "n HCA H-1 port 1");
  CHECK(cluster.fabric->name(cluster.endpoints[2]) == "n HCA H-2");
}

TEST_CASE("names that are not UTF-8 are written so that they can be read") {
  const Import import = import_text(replaced(fat_tree(4, 4), "MF0;leaf0:MQM8700/U1\" enhanced", "l\xff\" enhanced"),
                                    FabricFormat::ibnetdiscover);
  REQUIRE(import.problems == "");
  CHECK(built(import.fabric.cluster).endpoints.size() == 4);
}

TEST_CASE("broken output of ibnetdiscover is named with its line") {
  const std::string good = fat_tree(4, 4);
  CHECK(problems_of("").find("in.txt:1:1: the file is empty") == 0);
  CHECK(problems_of("hello\n").find("in.txt:1:1: there is no switch and no channel adapter") == 0);
  CHECK(problems_of(replaced(good, "4xHDR", "4xZDR")).find("in.txt:10:1: '4xZDR' is no rate that is known") == 0);
  CHECK(problems_of(replaced(good, "lid 9 4xHDR", "lid 9")).find("in.txt:10:1: this port has no rate") == 0);
  CHECK(problems_of(replaced(good, "[1]\t\"H-0000000000001000\"[1]", "[1]\t\"H-0000000000009999\"[1]"))
            .find("in.txt:10:1: port 1 of S-0000000000002000 leads to H-0000000000009999, which is not there") == 0);
  CHECK(problems_of(replaced(good, "[1]\t\"H-0000000000001000\"[1]", "[1]\t\"H-0000000000001001\"[1]"))
            .find("which says something else") != std::string::npos);
  CHECK(problems_of(replaced(good, "lid 9 4xHDR", "lid 9 4xEDR")).find("which says something else; compare line") !=
        std::string::npos);
  CHECK(problems_of(replaced(good, "Switch\t40 \"S-0000000000003001\"", "Switch\t40 \"S-0000000000003000\""))
            .find("S-0000000000003000 comes a second time") != std::string::npos);
  CHECK(problems_of(replaced(good, "Switch\t40 \"S-0000000000002000\"", "Switch\t40 S-2000"))
            .find("in.txt:9:1: this device has no GUID") == 0);
  CHECK(problems_of("Ca 1 \"H-1\" # \"a\"\n").find("in.txt:1:1: no device has a port with a cable") == 0);
  CHECK(problems_of("[1] \"S-1\"[1] # 4xHDR\n").find("in.txt:1:1: this port stands before any switch") == 0);
  CHECK(problems_of("Switch 4 \"S-1\" # \"a\"\n[1] \"S-1\n").find("in.txt:2:1: this is no port") == 0);
  CHECK(problems_of("Switch 4 \"S-1\" # \"a\"\nSwitch 4 \"S-2\" # \"b\"\n").find("in.txt:2:1: nothing joins a to b") ==
        0);
}

TEST_CASE("a large fabric is read whole: 2,000 hosts on 50 leaves") {
  const Import import = import_text(fat_tree(2000, 40), FabricFormat::ibnetdiscover);
  REQUIRE(import.problems == "");
  CHECK(import.fabric.cluster["graph"]["vertices"].size() == 2000 + 50 + 2);
  CHECK(import.fabric.cluster["graph"]["links"].size() == 2000 + 50 * 2);
}
