#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Four DGX H100 whose GPUs have so many NICs each, of 400 Gb/s together, on one switch.
std::string with_nics(std::uint32_t each) {
  std::string pcie;
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    std::string nics;
    for (std::uint32_t nic = 0; nic < each; ++nic) {
      nics += fmt::format("{}{}", nic == 0 ? "" : ", ", gpu * each + nic);
    }
    pcie += fmt::format(R"({}{{"socket": {}, "gpus": [{}], "nics": [{}]}})", gpu == 0 ? "" : ", ", gpu / 4, gpu, nics);
  }
  const char* model = each == 1 ? "CX7-NDR" : each == 2 ? "CX6-HDR" : "CX5-EDR";
  return fmt::format(
      R"({{"node": {{"preset": "DGX-H100", "nics": {}, "nic": "{}", "pcie": [{}]}}, "nodes": 4,
        "fabric": {{"kind": "star", "link": {{"rate": "{}Gb/s", "latency": "300ns", "efficiency": 0.99}}}}}})",
      8 * each, model, pcie, 400 / each);
}

nlohmann::json result(const std::string& cluster, const std::string& collective, const std::string& more = "") {
  const Folder folder;
  const std::string file =
      folder.write("s.json", fmt::format(R"({{"cluster": {}, "collective": {}{}}})", cluster, collective, more));
  const Ran ran = athanor_run({"run", file, "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0];
}

double time_of(const std::string& cluster, const std::string& collective, const std::string& more = "") {
  return result(cluster, collective, more)["time_us"].get<double>();
}

constexpr const char* kRing = R"(, "nccl": {"environment": {"NCCL_ALGO": "Ring"}})";

}  // namespace

TEST_CASE("as many bits a second by several NICs of a GPU take as long as by one, with NCCL and without") {
  for (const char* kind : {"all_reduce", "all_to_all"}) {
    for (const char* profile : {"nccl-generic-hopper", "ideal"}) {  // blocks that are faster than the links
      CAPTURE(kind);
      CAPTURE(profile);
      const std::string collective =
          fmt::format(R"({{"kind": "{}", "sizes": "1GiB"{}}})", kind,
                      std::string(profile) != "ideal"     ? ""
                      : std::string(kind) == "all_reduce" ? R"(, "algorithm": "ring", "channels": 8)"
                                                          : R"(, "algorithm": "pairwise")");
      const std::string more = fmt::format(R"(, "profile": "{}")", profile);
      const double one = time_of(with_nics(1), collective, more);
      CHECK(time_of(with_nics(2), collective, more) == doctest::Approx(one).epsilon(0.01));
      CHECK(time_of(with_nics(4), collective, more) == doctest::Approx(one).epsilon(0.01));
    }
  }
}

TEST_CASE("NCCL's rings leave by the NIC at which they enter: a thin or hashed spine costs them nothing") {
  const auto cluster = [](const char* node, const char* device, int oversubscription) {
    return fmt::format(
        R"({{"node": "{}", "nodes": 16, "fabric": {{"kind": "rail_optimized", {}, "nodes_per_group": 16,
          "oversubscription": {}}}}})",
        node, device, oversubscription);
  };
  const std::string gather = R"({"kind": "all_gather", "sizes": "1GiB"})";
  for (const auto& [node, device, profile] :
       {std::tuple("DGX-A100", R"("switch": "QM8700")", "nccl-a100-ib"),
        std::tuple("HGX-A800", R"("switch": "QM8700")", "nccl-a100-ib"),
        std::tuple("GCP-A4", R"("radix": 64, "link": {"rate": "400Gb/s", "latency": "300ns"})", "nccl-roce-gib")}) {
    CAPTURE(node);
    const std::string more = fmt::format(R"(, "profile": "{}"{})", profile, kRing);
    const double whole = time_of(cluster(node, device, 1), gather, more);
    CHECK(time_of(cluster(node, device, 8), gather, more) == doctest::Approx(whole).epsilon(0.001));
    CHECK(time_of(cluster(node, device, 1), gather, more + R"(, "network": {"routing": "ecmp"})") ==
          doctest::Approx(whole).epsilon(0.001));
  }
}

TEST_CASE("a ring whose GPUs share the NICs of one socket is as fast as where these are spread") {
  const auto cluster = [](const char* nics) {
    std::string pcie;
    for (int gpu = 0; gpu < 8; ++gpu) {
      const bool first = nics[gpu] != '-';
      pcie += fmt::format(R"({}{{"socket": {}, "gpus": [{}]{}}})", gpu == 0 ? "" : ", ", gpu / 4, gpu,
                          first ? fmt::format(R"(, "nics": [{}])", nics[gpu]) : "");
    }
    return fmt::format(R"({{"node": {{"preset": "DGX-H100", "nics": 4, "pcie": [{}]}}, "nodes": 4,
      "fabric": {{"kind": "star", "switch": "QM9700"}}}})",
                       pcie);
  };
  const std::string reduce = R"({"kind": "all_reduce", "sizes": "1GiB"})";
  const std::string more = R"(, "profile": "nccl-hopper-ib")";
  const double spread = time_of(cluster("0-1-2-3-"), reduce, more);
  CHECK(time_of(cluster("0123----"), reduce, more) == doctest::Approx(spread).epsilon(0.01));
}

TEST_CASE("\"pxn\" and NCCL_PXN_DISABLE are one and the same") {
  const std::string cluster = R"({"node": "DGX-H100", "nodes": 4, "fabric": {"kind": "star", "switch": "QM9700"}})";
  const std::string exchange = R"({"kind": "all_to_all", "sizes": "64MiB"})";
  const std::string profile = R"(, "profile": "nccl-hopper-ib")";
  const auto algorithm = [&](const std::string& more) {
    return result(cluster, exchange, profile + more)["algorithm"].get<std::string>();
  };
  CHECK(algorithm("") == "rounds_by_rail");
  CHECK(algorithm(R"(, "network": {"pxn": true})") == "rounds_by_rail");
  CHECK(algorithm(R"(, "network": {"pxn": false})") == "rounds");
  const Folder folder;
  const std::string both =
      folder.write("s.json", fmt::format(R"({{"cluster": {}, "collective": {}{}, "network": {{"pxn": false}},
        "nccl": {{"environment": {{"NCCL_PXN_DISABLE": "1"}}}}}})",
                                         cluster, exchange, profile));
  const Ran refused = athanor_run({"run", both});
  CHECK(refused.code == 3);
  CHECK(refused.says("(at /network)"));
}

TEST_CASE("without a library, rings keep to their rails: a thin spine costs nothing there") {
  const auto time = [](int oversubscription) {
    return time_of(fmt::format(R"({{"node": "DGX-H100", "nodes": 32, "fabric": {{"kind": "rail_optimized",
        "switch": "QM9700", "oversubscription": {}}}}})",
                               oversubscription),
                   R"({"kind": "all_reduce", "algorithm": "ring", "channels": 8, "sizes": "1GiB"})");
  };
  CHECK(time(4) == doctest::Approx(time(1)).epsilon(0.001));
}

TEST_CASE("what stays inside a node is priced by what was measured there, whatever the nodes are joined by") {
  const std::string node = R"({"node": "DGX-H100"})";
  for (const char* size : {"8B", "1MiB", "1GiB"}) {
    const std::string reduce = fmt::format(R"({{"kind": "all_reduce", "sizes": "{}"}})", size);
    const double own = time_of(node, reduce, R"(, "profile": "nccl-h100-nvswitch")");
    for (const char* profile : {"nccl-tcpxo", "nccl-hopper-ib", "nccl-efa", "nccl-roce-gib"}) {
      CHECK(time_of(node, reduce, fmt::format(R"(, "profile": "{}")", profile)) == own);
    }
  }
}

TEST_CASE("between sockets a ring reaches what their link does: efficiencies are not taken off it again") {
  const double time = time_of(R"({"node": "PCIe-8xL40S"})", R"({"kind": "all_reduce", "sizes": "1GiB"})",
                              std::string(R"(, "profile": "nccl-generic-ampere")") + kRing);
  // 2 * 7/8 of 1 GiB at 10 GB/s.
  CHECK(time == doctest::Approx(1'073'741'824 * 1.75 / 10'000).epsilon(0.02));
}

TEST_CASE("switches that hash are routed by ecmp unless told otherwise, which is said") {
  const auto run = [](const std::string& device, const std::string& more) {
    const Folder folder;
    return athanor_run({"describe", folder.write("s.json", fmt::format(R"({{"cluster": {{"nodes": 64,
        "fabric": {{"kind": "fat_tree", "switch": "{}", "hosts_per_leaf": 16}}}}, "collective": {{"kind": "all_reduce",
        "sizes": "1MiB", "algorithm": "ring"}}{}}})",
                                                                       device, more))});
  };
  CHECK(run("Tomahawk5-400G", "").says("hash flows over equal paths"));
  CHECK_FALSE(run("Tomahawk5-400G", R"(, "network": {"routing": "d_mod_k"})").says("hash flows over equal paths"));
  CHECK_FALSE(run("QM9700", "").says("hash flows over equal paths"));
}
