// GPUs, NICs and switches that a scenario describes: by name, with changes, and from nothing.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/power.hpp"
#include "tests/json_text.hpp"
#include "tests/topologies/route_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// Devices, links and routes of a node that has this "gpu", on an NVSwitch where it has NVLinks.
std::string fabric_with(const std::string& gpu, bool nvlink) {
  const std::string scale_up = nvlink ? R"(, "scale_up": {"kind": "nvswitch"})" : "";
  return text_of(fabric_to_json(good(R"({"cluster": {"node": {"gpu": )" + gpu + R"(, "gpus": 4)" + scale_up + "}}}")));
}

/// Two DGX H100 with this "nic" on a star of this "switch".
std::string two(const std::string& nic, const std::string& network_switch) {
  return R"({"cluster": {"node": {"preset": "DGX-H100", "nic": )" + nic + R"(}, "nodes": 2, "fabric": {"kind": "star",
             "switch": )" +
         network_switch + "}}}";
}

std::string with_gpu(const std::string& gpu) {
  return R"({"cluster": {"node": {"preset": "DGX-H100", "gpu": )" + gpu + "}}}";
}

/// Every link of this kind.
std::vector<Link> links_of(const Cluster& cluster, LinkKind kind) {
  std::vector<Link> found;
  for (std::uint32_t l = 0; l < cluster.fabric->links(); ++l) {
    const Link& link = cluster.fabric->link(LinkId{l});
    if (link.kind == kind) { found.push_back(link); }
  }
  return found;
}

}  // namespace

TEST_CASE("a GPU by name, as an object of its preset and written out in full are the same node") {
  const auto file = nlohmann::json::parse(FileReader().text("scenarios/presets/gpus.json"));
  for (const auto& [name, written] : file["presets"].items()) {
    CAPTURE(name);
    nlohmann::json figures = written;
    for (const char* of_readers : {"from", "unverified", "note"}) { figures.erase(of_readers); }
    const bool nvlink = figures.contains("nvlink");
    const std::string by_name = fabric_with("\"" + name + "\"", nvlink);
    CHECK(fabric_with(R"({"preset": ")" + name + "\"}", nvlink) == by_name);
    // NVSwitches of early NVLinks do not add up, which the names of these links tell.
    CHECK(fabric_with(figures.dump(), nvlink) == by_name);
  }
}

TEST_CASE("what a scenario says of a GPU wins over its preset, and only that") {
  const auto nvlink = [](const std::string& gpu) { return links_of(good(with_gpu(gpu)), LinkKind::nvlink).front(); };
  const Link full = nvlink("\"H100-SXM-80GB\"");
  CHECK(nvlink(R"({"preset": "H100-SXM-80GB", "nvlinks": 9})").rate * 2 == full.rate);
  CHECK(nvlink(R"({"preset": "H100-SXM-80GB", "nvlinks": 8})").rate == nvlink("\"H800-SXM-80GB\"").rate);
  const Link own = nvlink(R"({"preset": "H100-SXM-80GB", "nvlink": {"rate": "30GB/s", "latency": "40ns"}})");
  CHECK(own.rate == 30_GBps * 18);
  CHECK(own.latency == Time{40'000});
  CHECK(nvlink(R"({"preset": "H100-SXM-80GB", "power": "500W", "memory": "96GB"})").rate == full.rate);
}

TEST_CASE("what a node preset says of its GPUs holds for them with changes, unless these say it themselves") {
  const auto direct = [](const std::string& gpu) {
    const Outcome outcome = cluster_of(R"({"cluster": {"node": {"preset": "AWS-p3dn", "gpu": )" + gpu + "}}}");
    REQUIRE(outcome.cluster);
    return outcome.cluster->identity->gpu_direct;
  };
  CHECK_FALSE(direct("\"V100-SXM2-32GB\""));
  CHECK_FALSE(direct(R"({"preset": "V100-SXM2-32GB", "power": "200W"})"));
  CHECK(direct(R"({"preset": "V100-SXM2-32GB", "gpu_direct": true})"));
  CHECK(direct(R"({"preset": "V100-SXM2-16GB"})"));
}

TEST_CASE("a NIC is a preset, one with changes, or its figures") {
  const auto cable = [](const std::string& nic) {
    return links_of(good(two(nic, "\"QM9700\"")), LinkKind::network).front();
  };
  const Link whole = cable("\"CX7-NDR\"");
  CHECK(cable(R"({"preset": "CX7-NDR"})").rate == whole.rate);
  CHECK(cable(R"({"preset": "CX7-NDR", "rate": "200Gb/s"})").rate * 2 == whole.rate);
  CHECK(cable(R"({"preset": "CX7-NDR", "latency": "500ns"})").latency == whole.latency + Time{200'000});
  const Link own = cable(R"({"rate": "400Gb/s", "protocol": "infiniband", "latency": "300ns"})");
  CHECK(own.usable == whole.usable);
  CHECK(own.latency == whole.latency);
}

TEST_CASE("the PCIe port of a NIC is its own, and of no other device") {
  const Cluster slow = good(two(R"({"preset": "CX7-NDR", "pcie": "pcie4x16"})", "\"QM9700\""));
  std::size_t slower = 0;
  const std::vector<Link> links = links_of(slow, LinkKind::pcie);
  for (const Link& link : links) { slower += link.rate < 63_GBps ? 1 : 0; }
  CHECK(slower == std::size_t{2} * 2 * 8);  // both ways of 8 NICs of both nodes
  CHECK(links.size() == slower + std::size_t{2} * 2 * (8 + 8));
}

TEST_CASE("a switch is a preset, one with changes, or its figures") {
  const auto hop = [](const std::string& device) {
    const std::vector<Link> links = links_of(good(two("\"CX7-NDR\"", device)), LinkKind::network);
    return links.back().latency + links.front().latency;
  };
  const Time preset = hop("\"QM9700\"");
  CHECK(hop(R"({"preset": "QM9700", "latency": "330ns"})") == preset + Time{100'000});
  CHECK(hop(R"({"rate": "400Gb/s", "latency": "230ns"})") == preset);
  // Without a radix a switch has as many ports as needed; with one the network needs more of them, or does not fit.
  CHECK(has(bad(two("\"CX7-NDR\"", R"({"preset": "QM9700", "radix": 8})")), "does-not-fit"));
  CHECK(has(bad(R"({"cluster": {"nodes": 8, "fabric": {"kind": "fat_tree", "hosts_per_leaf": 4, "radix": 8,
                     "switch": {"preset": "QM9700", "radix": 16}}}})"),
            "conflict@1: the \"switch\" says its own \"radix\""));
}

TEST_CASE("what is written of hardware reads back to the same") {
  for (
      const std::string node : {
          R"({"gpu":"H100-SXM-80GB","gpus":8,"nic":"CX7-NDR","nics":8})",
          R"({"gpu":{"preset":"H100-SXM-80GB","power":"500W","tflops":{"bf16":900}},"gpus":8})",
          R"({"gpu":{"name":"X","memory":"80GB","memory_bandwidth":"3TB/s","pcie":{"rate":"63GB/s"},"idle_power":"70W"},"gpus":1})",
          R"({"gpu":"T4-16GB","gpus":1,"nics":[{"nic":{"preset":"CX7-NDR","rate":"25GB/s"},"count":2},{"nic":"CX6-HDR"}]})",
      }) {
    CAPTURE(node);
    const auto read = [](const std::string& text) {
      Problems problems;
      NodeConfig result;
      read_document(Document::parse(text, "test.json"), problems, [&](Fields& fields) { visit(fields, result); });
      for (const Problem& problem : problems.list()) { FAIL_CHECK(describe(problem)); }
      return result;
    };
    const std::string once = text_of(json_of(read(node)));
    CHECK(text_of(json_of(read(once))) == once);
    CHECK(has(once, "\"gpu\""));
  }
}

TEST_CASE("what is wrong with a described GPU is said where it stands") {
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM", "power": "500W"})")), "did you mean \"H100-SXM-80GB\"?"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "powr": "500W"})")), "did you mean 'power'?"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "power": "-5W"})")), "out-of-range"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "power": "0W"})")), "out-of-range"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "power": "500"})")), "missing-unit"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "power_w": 500})")), "is called 'power' now"));
  CHECK(has(bad(with_gpu(R"({"preset": "A100-SXM-80GB", "power": "50W"})")), "57 W while nothing runs on it"));
  CHECK(has(bad(with_gpu(R"({"preset": "A100-SXM-80GB", "power": "57W"})")), "57 W while nothing runs on it"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "memory": "-1GB"})")), "out-of-range"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "tflops": {"bf16": -1}})")), "out-of-range"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "tflops": {"bf61": 1}})")), "did you mean 'bf16'?"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "compute_capability": 9.05})")), "tenths"));
  CHECK(has(bad(with_gpu(R"({"power": "500W"})")), "a GPU without a preset needs \"pcie\""));
  CHECK(has(bad(with_gpu(R"({"pcie": "pcie5x16", "nvlinks": 18})")), "belong together"));
  const std::string unknown = bad(with_gpu(R"({"preset": "H100-SXM-80GB", "nvlink": "nvlink44"})"));
  CHECK(has(unknown, "did you mean \"nvlink4\"?"));
  CHECK_FALSE(has(unknown, "no NVLink that could join them"));
}

TEST_CASE("what is wrong with a described NIC or switch is said where it stands") {
  const std::string qm = "\"QM9700\"";
  CHECK(has(bad(two(R"({"preset": "CX7"})", qm)), "did you mean \"CX7-200GbE\" or"));
  CHECK(has(bad(two(R"({"preset": "CX7-NDR", "rat": "1Gb/s"})", qm)), "did you mean 'rate'?"));
  CHECK(has(bad(two(R"({"preset": "CX7-NDR", "rate": "-1Gb/s"})", qm)), "out-of-range"));
  CHECK(has(bad(two(R"({"preset": "CX7-NDR", "rate": "0Gb/s"})", qm)), "out-of-range"));
  CHECK(has(bad(two(R"({"rate": "100Gb/s"})", qm)), "a NIC without a preset needs \"protocol\""));
  CHECK(has(bad(two(R"({"rate": "100Gb/s"})", qm)), "a NIC without a preset needs \"latency\""));
  const std::string nic = "\"CX7-NDR\"";
  CHECK(has(bad(two(nic, R"({"preset": "QM970"})")), "did you mean \"QM9700\"?"));
  CHECK(has(bad(two(nic, R"({"preset": "QM9700", "ports": 64})")), "there is no key 'ports'"));
  CHECK(has(bad(two(nic, R"({"preset": "QM9700", "radix": 1})")), "out-of-range"));
  CHECK(has(bad(two(nic, R"({"radix": 64, "latency": "1us"})")), "a switch without a preset needs \"rate\""));
}

TEST_CASE("a power limit is one that the preset takes, or its GPU another product") {
  const std::string range = "H100-SXM-80GB takes power limits from 200 W to 700 W";
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "power": "199W"})")), range + ", not 199 W"));
  CHECK(has(bad(with_gpu(R"({"preset": "H100-SXM-80GB", "power": "701W"})")), range + ", not 701 W"));
  CHECK(has(bad(with_gpu(R"({"preset": "A100-SXM-80GB", "power": "500W"})")),
            "A100-SXM-80GB takes power limits up to 400 W, not 500 W"));
  for (const char* gpu :
       {R"({"preset": "H100-SXM-80GB", "power": "200W"})", R"({"preset": "H100-SXM-80GB", "power": "700W"})",
        R"({"preset": "H100-SXM-80GB", "power": "800W", "tflops": {"bf16": 1100}})",
        R"({"preset": "H100-SXM-80GB", "power": "150W", "least_power": "100W"})"}) {
    CHECK(cluster_of(with_gpu(gpu)).problems.empty());
  }
}
