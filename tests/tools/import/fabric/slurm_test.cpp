#include <doctest/doctest.h>

#include "tests/tools/import/fabric/imported_fabric.hpp"
#include "tools/import/fabric/hostlist.hpp"
#include "tools/import/fabric/node_draft.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

std::vector<std::string> names(const char* text) {
  const Hostlist list = hostlist(text);
  CHECK(list.fault.empty());
  return list.names;
}

const std::string kTree =
    "# two leaves of four, joined by a spine\n"
    "SwitchName=s0 Nodes=tux[0-3]\n"
    "switchname=s1 nodes=tux[4-6,9] LinkSpeed=100\n"
    "SwitchName=top \\\n  Switches=s[0-1]\n";

}  // namespace

TEST_CASE("hostlists: ranges, lists, leading zeros and several brackets") {
  CHECK(names("tux[0-2,7]") == std::vector<std::string>{"tux0", "tux1", "tux2", "tux7"});
  CHECK(names("n[08-10]x,login") == std::vector<std::string>{"n08x", "n09x", "n10x", "login"});
  CHECK(names("r[1-2]n[0-1]") == std::vector<std::string>{"r1n0", "r1n1", "r2n0", "r2n1"});
  CHECK(names("a") == std::vector<std::string>{"a"});
  CHECK(names("n[0-999999]").size() == 1'000'000);
}

TEST_CASE("what is no hostlist is refused with the reason") {
  const std::vector<std::pair<const char*, const char*>> wrong{{"a[1", "not closed"},
                                                               {"a1]", "without its '['"},
                                                               {"a[3-1]", "backwards"},
                                                               {"a[x]", "neither a number"},
                                                               {"a[1-2", "not closed"},
                                                               {"a,,b", "missing beside a comma"},
                                                               {"a[0-99999999]", "more than"},
                                                               {"", "missing"},
                                                               {"a[0-3000]b[0-3000]", "more than"}};
  for (const auto& [text, reason] : wrong) {
    CAPTURE(text);
    CHECK(hostlist(text).fault.find(reason) != std::string::npos);
    CHECK(hostlist(text).names.empty());
  }
}

TEST_CASE("a tree of topology.conf: every host reaches every other through as few switches as the tree has") {
  const Import tree = import_text(kTree, FabricFormat::slurm, slurm_links());
  REQUIRE(tree.problems == "");
  CHECK(tree.notes("LinkSpeed"));
  const Cluster cluster = built(tree.fabric.cluster);
  REQUIRE(cluster.endpoints.size() == 8);
  CHECK(cluster.fabric->name(cluster.endpoints[7]) == "tux9");
  CHECK(passes(cluster, 0, 3) == std::vector{VertexKind::host, VertexKind::leaf, VertexKind::host});
  CHECK(passes(cluster, 0, 4) ==
        std::vector{VertexKind::host, VertexKind::leaf, VertexKind::spine, VertexKind::leaf, VertexKind::host});
  // Non-blocking: half of the hosts, each at its full rate, cross the spine.
  CHECK(describe(cluster).bisection->bandwidth == 200_GBps);
}

TEST_CASE("up-links are as wide as the hosts below, divided by the oversubscription and the parents") {
  FabricHints hints = slurm_links();
  hints.links.oversubscription = {8, 1};
  const Cluster narrow = built(import_text(kTree, FabricFormat::slurm, hints).fabric.cluster);
  CHECK(width(narrow, 0, 3) == 50_GBps);
  CHECK(width(narrow, 0, 4) == 25_GBps);  // four hosts of 50 GB/s, divided by eight
  const std::string two_tops =
      "SwitchName=a Nodes=h[0-3]\nSwitchName=b Nodes=h[4-7]\nSwitchName=t0 Switches=a,b\nSwitchName=t1 Switches=a,b\n";
  const Cluster two = built(import_text(two_tops, FabricFormat::slurm, slurm_links()).fabric.cluster);
  CHECK(describe(two).bisection->bandwidth == 200_GBps);
  CHECK(width(two, 0, 4) == 50_GBps);
}

TEST_CASE("blocks and YAML say the same as trees") {
  const Import blocks = import_text("BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,8\n",
                                    FabricFormat::slurm, slurm_links());
  REQUIRE(blocks.problems == "");
  CHECK(blocks.notes("BlockSizes"));
  CHECK(built(blocks.fabric.cluster).endpoints.size() == 8);
  const std::string yaml =
      "- topology: first\n  tree:\n    switches:\n    - switch: s0\n      nodes: tux[0-3]\n"
      "    - switch: s1\n      nodes: tux[4-6,9]\n    - switch: top\n      children: s[0-1]\n"
      "- topology: second\n  cluster_default: true\n  block:\n    block_sizes: [4, 8]\n    blocks:\n"
      "    - block: b1\n      nodes: n[1-4]\n    - block: b2\n      nodes: n[5-8]\n"
      "- topology: third\n  flat: true\n";
  CHECK(recognised_fabric(yaml) == FabricFormat::slurm_yaml);
  FabricHints hints = slurm_links();
  CHECK(import_text(yaml, FabricFormat::slurm_yaml, hints).fabric.cluster == blocks.fabric.cluster);
  hints.topology = "first";
  CHECK(import_text(yaml, FabricFormat::slurm_yaml, hints).fabric.cluster ==
        import_text(kTree, FabricFormat::slurm, slurm_links()).fabric.cluster);
  hints.topology = "third";
  CHECK(import_text(yaml, FabricFormat::slurm_yaml, hints).says("neither a tree nor made of blocks"));
  hints.topology = "fourth";
  CHECK(import_text(yaml, FabricFormat::slurm_yaml, hints).says("--topology names one of first, second, third"));
}

TEST_CASE("broken Slurm files are named with their lines") {
  const auto problem = [](const std::string& text) {
    return import_text(text, FabricFormat::slurm, slurm_links()).problems;
  };
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "in.txt:1:1: the file is empty"},
      {"\n\n", "in.txt:1:1: the file is empty"},
      {"# nothing\n", "in.txt:1:1: there is no switch"},
      {"SwitchName=a Nodes=n[1-2]\nSwitchName=a Nodes=n3\n", "in.txt:2:1: a comes a second time; it is on line 1"},
      {"SwitchName=a Nodes=n1,n1\n", "in.txt:1:1: a has the node n1 twice"},
      {"SwitchName=a Nodes=n[1-2]\nSwitchName=t Switches=a,b\n", "in.txt:2:1: t has a switch b that is not there"},
      {"SwitchName=a Nodes=n1 Switches=c\nSwitchName=b Switches=a\nSwitchName=c Switches=b\n",
       "in.txt:1:1: the switches go in a circle: a above c above b above a"},
      {"SwitchName=a Switches=a\n", "the switches go in a circle: a above a"},
      {"SwitchName=a Nodes=n[1-\n", "'n[1-' is no list of names: a '[' is not closed"},
      {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "in.txt:2:1: nothing joins n1 to n2: 2 of 4 devices"},
      {"SwitchName=a\n", "in.txt:1:1: nothing is below a"},
      {"Nodes=n1\n", "in.txt:1:1: this line has no SwitchName"},
      {"SwitchName=a Node=n1\n", "in.txt:1:1: there is no key 'node'"},
      {"hello\n", "in.txt:1:1: 'hello' is no key with a value"},
      {"SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", "in.txt:2:1: a file has either switches or blocks"}};
  for (const auto& [text, message] : wrong) {
    CAPTURE(text);
    CAPTURE(problem(text));
    CHECK(problem(text).find(message) != std::string::npos);
  }
  CHECK(import_text(kTree, FabricFormat::slurm).says("add --link-rate RATE and --link-latency TIME"));
  std::string many;
  for (int i = 0; i < 100; ++i) { many += "SwitchName=a Nodes=n1\n"; }
  CHECK(problem(many).find("more problems from here on") != std::string::npos);
}

TEST_CASE("broken YAML is named with its line") {
  const auto problem = [](const std::string& text) {
    return import_text(text, FabricFormat::slurm_yaml, slurm_links()).problems;
  };
  CHECK(problem("- topology: a\n  tree: [\n").find("in.txt:") == 0);
  CHECK(problem("- topology: a\n  tree: [\n").find("this is no YAML that can be read") != std::string::npos);
  CHECK(problem("a: b\n").find("this is no list of topologies") != std::string::npos);
  CHECK(problem("- tree: {}\n").find("in.txt:1:1: this topology has no name") == 0);
  CHECK(problem("- topology: a\n  tree:\n    switches:\n    - nodes: n1\n")
            .find("in.txt:4:1: this entry has no \"switch\"") == 0);
  CHECK(problem("- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: [a, b]\n")
            .find("in.txt:5:1: this is no list") == 0);
  CHECK(
      problem("- topology: a\n  tree: {}\n- topology: b\n  tree: {}\n").find("no topology is the cluster's default") !=
      std::string::npos);
}

TEST_CASE(
    "a graph is written as the visit of a scenario's graph would write it, names that need escapes and links that "
    "differ too") {
  Problems problems;
  FabricDraft draft("in.txt", problems);
  const Link link{50_GBps, 50_GBps, 300_ns};
  draft.add("plain", VertexKind::host, 1);
  draft.add("with \"quotes\" and \\", VertexKind::host, 2);
  draft.add("caf\xc3\xa9", VertexKind::leaf, 3);
  CHECK(json_value_of(graph_text(draft, 0)).value()["links"].elements().empty());
  draft.connect(0, 2, link);
  draft.connect(1, 2, {50_GBps, 40_GBps, 300_ns});
  draft.connect(1, 2, {50_GBps, 40_GBps, 300_ns, LinkKind::pcie});
  draft.connect(0, 1, link);
  const JsonValue visited = node_json(draft, "node", {})["graph"];
  CHECK(json_value_of(graph_text(draft, 2)).value() == visited);
  CHECK(graph_text(draft, 0) + "\n" == readable_json(visited));
}

TEST_CASE("names are counted before the first of them is made") {
  CHECK(hosts_in("n[0-3],login") == 5);
  CHECK(hosts_in("r[1-2]n[0-3]") == 8);
  CHECK(hosts_in("n[0-") == 0);
  CHECK(hosts_in("n[0-1048575]") == kMostHosts);
  CHECK(hosts_in("r[0-999999]n[0-999999]") == kMostHosts + 1);
  CHECK(hostlist("r[0-999999]n[0-999999]").fault == "it is more than 1048576 names");
  CHECK(hostlist("n[0-4294967295]").fault == "'0-4294967295' is more than 1048576 names");
  CHECK(hostlist("n[18446744073709551610-18446744073709551615]").fault.find("is neither a number") !=
        std::string::npos);
  CHECK(hostlist("n[" + std::string(300, '0') + "1-1000000]").fault.find("a name of") == 0);
}
