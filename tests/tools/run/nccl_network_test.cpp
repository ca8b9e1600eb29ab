#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "sim/words.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Nodes of eight H100 on NVSwitches, with as many NICs of 400 Gb/s as divide them, on one switch.
std::string cluster(std::uint32_t nodes, std::uint32_t nics = 8) {
  std::string pcie;
  for (std::uint32_t nic = 0; nic < nics; ++nic) {
    std::string gpus;
    for (std::uint32_t gpu = 0; gpu < 8 / nics; ++gpu) {
      gpus += fmt::format("{}{}", gpu == 0 ? "" : ", ", nic * 8 / nics + gpu);
    }
    pcie += fmt::format(R"({}{{"socket": {}, "gpus": [{}], "nics": [{}]}})", nic == 0 ? "" : ", ", nic * 2 / nics, gpus,
                        nic);
  }
  return fmt::format(
      R"("cluster": {{"node": {{"preset": "DGX-H100", "nics": {}, "pcie": [{}]}}, "nodes": {},
        "fabric": {{"kind": "star", "switch": "QM9700"}}}})",
      nics, pcie, nodes);
}

std::string nccl(const std::string& variables) {
  return fmt::format(R"("nccl": {{"environment": {{{}}}}})", variables);
}

std::string engine(const std::string& name) {
  return fmt::format(R"("network": {{"aggregation": {{"engine": "{}"}}}})", name);
}

std::string collective(const std::string& kind, const std::string& sizes, const std::string& more = "") {
  return fmt::format(R"("collective": {{"kind": "{}", "sizes": "{}"{}}})", kind, sizes, more);
}

constexpr const char* kIdeal = R"("profile": "ideal")";
constexpr const char* kSharp = R"("NCCL_COLLNET_ENABLE": "1")";

Ran run(const std::vector<std::string>& keys) {
  const Folder folder;
  return athanor_run({"run", folder.write("s.json", fmt::format("{{{}}}", joined(keys, ", "))), "--json"});
}

nlohmann::json result(const std::vector<std::string>& keys) {
  const Ran ran = run(keys);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0];
}

double time_of(const std::vector<std::string>& keys) { return result(keys)["time_us"].get<double>(); }

std::string with_algorithm(const std::string& name) { return fmt::format(R"(, "algorithm": "{}")", name); }

/// Of an all-reduce by SHARP in ideal switches, on nodes with so many NICs.
double by_sharp(std::uint32_t nics, const std::string& algorithm, const std::string& size) {
  return time_of({cluster(2, nics), kIdeal, nccl(kSharp), engine("ideal"),
                  collective("all_reduce", size, with_algorithm(algorithm))});
}

}  // namespace

TEST_CASE("with SHARP each NIC carries its head's share of the payload once: heads are the GPUs beside NICs") {
  for (const char* algorithm : {"nvls_sharp", "collnet_chain"}) {
    for (const std::uint32_t nics : {2U, 4U}) {
      CAPTURE(algorithm);
      CAPTURE(nics);
      const double more = by_sharp(nics, algorithm, "512MiB") - by_sharp(nics, algorithm, "256MiB");
      CHECK(more == doctest::Approx(268'435'456.0 / nics / 50'000).epsilon(0.02));
    }
  }
}

TEST_CASE("in a switch the sum takes as long however many nodes there are") {
  const auto small = [](std::uint32_t nodes) {
    return time_of({cluster(nodes), kIdeal, nccl(kSharp), engine("sharp_v3"),
                    collective("all_reduce", "8B", with_algorithm("nvls_sharp"))});
  };
  CHECK(small(2) == doctest::Approx(small(4)).epsilon(0.001));
  CHECK(small(4) == doctest::Approx(small(8)).epsilon(0.001));
}

TEST_CASE("engines cost what they cost, and hosts half of their network's latency at each end of a tree") {
  const auto took = [](const std::string& name, int latency) {
    const std::string profile = fmt::format(
        R"("profile": {{"name": "p", "nccl": {{"Simple": {{"step": "1us", "network_latency": "{}us"}}}}}})", latency);
    return time_of({cluster(2), nccl(kSharp), engine(name), profile,
                    collective("all_reduce", "8B", with_algorithm("collnet_direct"))});
  };
  // One switch: up to its engine and down again, at 460 ns, beside a packet's headers.
  CHECK(took("sharp_v3", 10) - took("ideal", 10) == doctest::Approx(2 * 0.46).epsilon(1e-3));
  CHECK(took("sharp_v3", 30) - took("sharp_v3", 10) == doctest::Approx(20).epsilon(1e-3));
}

TEST_CASE("where no switch adds up, or trees cannot be had, or types are not added, NCCL goes on without CollNet") {
  const std::string all_reduce = collective("all_reduce", "1MiB");
  const Ran without = run({cluster(8), kIdeal, nccl(kSharp), all_reduce});
  REQUIRE(without.code == 0);
  CHECK(without.err.find("NCCL_COLLNET_ENABLE") != std::string::npos);
  const nlohmann::json alone = without.json()["results"][0];
  CHECK(alone["algorithm"] != "nvls_sharp");
  CHECK(result({cluster(8), kIdeal, nccl(kSharp), engine("sharp_v3"), all_reduce})["algorithm"] == "nvls_sharp");
  const std::string none = R"("network": {"aggregation": {"engine": "sharp_v3", "trees": 0, "streams": 0}})";
  const nlohmann::json refused = result({cluster(8), kIdeal, nccl(kSharp), none, all_reduce});
  CHECK(refused["algorithm"] == alone["algorithm"]);
  CHECK(refused["time_us"] == alone["time_us"]);
  CHECK(refused["fell_back"].get<std::string>().find("nvls_sharp") != std::string::npos);
  const std::string shorts = collective("all_reduce", "1MiB", R"(, "type": "bfloat16")");
  CHECK(result({cluster(8), kIdeal, nccl(kSharp), engine("sharp_v2"), shorts})["algorithm"] == alone["algorithm"]);
  CHECK(result({cluster(8), kIdeal, nccl(kSharp), engine("sharp_v3"), shorts})["algorithm"] == "nvls_sharp");
}

TEST_CASE(
    "where every node has one GPU NCCL takes PAT for middle sizes, whose steps are as few as its messages reach far") {
  const auto took = [](const std::string& size, int latency, const std::string& algorithm) {
    return result(
        {R"("cluster": {"node": {"gpu": "H100-SXM-80GB", "gpus": 1, "nic": "CX7-NDR", "nics": 1}, "nodes": 8,
                     "fabric": {"kind": "star", "switch": "QM9700"}})",
         fmt::format(R"("profile": {{"name": "p", "nccl": {{"Simple": {{"network_latency": "{}us"}}}}}})", latency),
         collective("all_gather", size, algorithm)});
  };
  CHECK(took("1MiB", 10, "")["algorithm"] == "pat");
  CHECK(took("256MiB", 10, "")["algorithm"] == "ring");
  // A step reaches four blocks: two that double, then one to the other four.
  const std::string pat = with_algorithm("pat");
  for (const char* size : {"8KiB", "1MiB"}) {
    const double more = took(size, 110, pat)["time_us"].get<double>() - took(size, 10, pat)["time_us"].get<double>();
    CHECK(more == doctest::Approx(3 * 100).epsilon(0.01));
  }
}

TEST_CASE("messages to other nodes leave by the rails of their receivers where every GPU has one") {
  const auto algorithm = [](std::uint32_t nodes, std::uint32_t nics, const std::string& variables) {
    return result({cluster(nodes, nics), nccl(variables), collective("all_to_all", "1MiB")})["algorithm"]
        .get<std::string>();
  };
  CHECK(algorithm(2, 8, "") == "rounds_by_rail");
  CHECK(algorithm(2, 8, R"("NCCL_P2P_PXN_LEVEL": "1")") == "rounds_by_rail");
  CHECK(algorithm(2, 8, R"("NCCL_P2P_PXN_LEVEL": "0")") == "rounds");
  CHECK(algorithm(2, 8, R"("NCCL_PXN_DISABLE": "1")") == "rounds");
  CHECK(algorithm(2, 4, "") == "rounds");
  CHECK(algorithm(1, 8, "") == "rounds");
}

TEST_CASE("without access to each other's memory GPUs go by host memory, also where NVLink joins them") {
  const auto took = [](const std::string& variables) {
    return result({R"("cluster": {"node": "DGX-A100"})", nccl(variables), collective("all_reduce", "256MiB")});
  };
  const nlohmann::json direct = took("");
  const nlohmann::json staged = took(R"("NCCL_P2P_DISABLE": "1")");
  CHECK(direct["limited_by"].get<std::string>().find("nvlink") != std::string::npos);
  CHECK(staged["limited_by"].get<std::string>().find("nvlink") == std::string::npos);
  CHECK(staged["time_us"].get<double>() > 5 * direct["time_us"].get<double>());
  CHECK(took(R"("NCCL_P2P_LEVEL": "LOC")")["time_us"] == staged["time_us"]);
  CHECK(took(R"("NCCL_P2P_LEVEL": "NVL")")["time_us"] == direct["time_us"]);
  CHECK(took(R"("NCCL_SHM_DISABLE": "1")")["time_us"] == direct["time_us"]);
  const Ran neither =
      run({R"("cluster": {"node": "DGX-A100"})", nccl(R"("NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1")"),
           collective("all_reduce", "8B")});
  CHECK(neither.code == 3);
  CHECK(neither.err.find("NCCL_SHM_DISABLE=1") != std::string::npos);
}

TEST_CASE("through one PCIe switch peers use its ports, and without access the link to the socket, both ways") {
  const auto took = [](const std::string& variables) {
    return time_of({R"("cluster": {"node": {"gpus": 2, "pcie_link": {"rate": "10GB/s", "latency": "5ns"}}})",
                    nccl(variables), collective("all_reduce", "256MB", with_algorithm("ring"))});
  };
  CHECK(took(R"("NCCL_P2P_LEVEL": "LOC")") == doctest::Approx(2 * took(R"("NCCL_P2P_LEVEL": "PIX")")).epsilon(0.02));
}

TEST_CASE("without GPUDirect RDMA what goes to NICs goes by the socket, too") {
  const auto links = [](const std::string& variables) {
    const Folder folder;
    const std::string ports = folder.path("ports.csv");
    const std::string text = fmt::format("{{{}, {}, {}}}", cluster(2), nccl(variables),
                                         collective("all_reduce", "64MiB", with_algorithm("ring")));
    const Ran ran = athanor_run({"run", folder.write("s.json", text), "--ports", ports});
    REQUIRE(ran.code == 0);
    return read_text_file(ports);
  };
  const auto uses_cpu = [](const std::string& text) { return text.find("/cpu") != std::string::npos; };
  CHECK_FALSE(uses_cpu(links("")));
  CHECK(uses_cpu(links(R"("NCCL_NET_GDR_LEVEL": "LOC")")));
}
