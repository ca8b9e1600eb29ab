#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kProfile = R"({"overlapped": false, "protocols": [{"name": "mpi", "node": {"latency": "400ns",
  "rate": "4GB/s"}, "network": {"latency": "2us"}, "send_end": "injected"}]})";

/// So many nodes of `processes` on one socket without latencies, whose cores, memory and NIC are as fast as said.
std::string scenario(std::uint32_t nodes, std::uint32_t processes, const std::string& software,
                     const std::string& collective) {
  const std::string fabric =
      nodes > 1
          ? fmt::format(
                R"(, "nodes": {}, "fabric": {{"kind": "star", "link": {{"rate": "10GB/s", "latency": "0ns"}}}})", nodes)
          : "";
  return fmt::format(R"({{"cluster": {{"node": {{"processes": {}, "core_link": {{"rate": "8GB/s"}},
    "memory_link": {{"rate": "100GB/s"}}, "pcie_link": {{"rate": "100GB/s"}}, "nics": 1,
    "pcie": [{{"socket": 0, "switch": false, "nics": [0]}}],
    "nic": {{"rate": "10GB/s", "latency": "0ns", "protocol": "none"}}}}{}}},
    "profile": {}, {} "collective": {}}})",
                     processes, fabric, kProfile, software, collective);
}

constexpr const char* kOpenMpi = R"("software": {"mpi": "open-mpi", "release": "4.1"},)";

double time_of(const std::string& text) { return result_of(text)["time_us"]; }

/// Message and hint of the first problem.
std::string refused(const std::string& text) {
  const Folder folder;
  const nlohmann::json problem = problem_of(folder, text);
  return problem["message"].get<std::string>() + "; " + problem.value("hint", "");
}

std::string all_reduce(const std::string& sizes) {
  return fmt::format(R"({{"kind": "all_reduce", "sizes": "{}"}})", sizes);
}

}  // namespace

TEST_CASE("inside a node of CPUs a message takes its latency and its size by the rate of the slower of copy and core") {
  for (const int size : {4, 4000, 4'000'000}) {
    const std::string send = fmt::format(R"({{"kind": "send_receive", "sizes": "{}B"}})", size);
    CHECK(time_of(scenario(1, 2, "", send)) == doctest::Approx(0.4 + size / 4e3).epsilon(1e-6));
  }
}

TEST_CASE("all processes of a node share its NIC") {
  // In the second step of recursive doubling over two nodes each process sends all to the other node at once.
  constexpr double kSize = 8e6;
  for (const std::uint32_t processes : {1U, 2U, 4U, 8U}) {
    const std::string text =
        scenario(2, processes, "", R"({"kind": "all_reduce", "algorithm": "recursive_doubling", "sizes": "8MB"})");
    const double inside = std::log2(processes) * (0.4 + kSize / 4e3);
    const double between = std::max(kSize / 8e3, processes * kSize / 10e3);  // of one: its core
    CHECK(time_of(text) == doctest::Approx(inside + 2 + between).epsilon(1e-4));
  }
}

TEST_CASE("a library of MPI chooses by size, and results name the algorithm and what the library calls it") {
  const Folder folder;
  const std::string text = scenario(4, 16, kOpenMpi, all_reduce("128KiB..256KiB"));
  const nlohmann::json results = results_of(folder, text);
  REQUIRE(results.size() == 2);
  CHECK(results[0]["algorithm"] == "recursive_doubling");
  CHECK(results[1]["algorithm"] == "halving_doubling");
  CHECK(results[1]["notes"].dump().find("open-mpi 4.1 takes rabenseifner, which is halving_doubling here") !=
        std::string::npos);
  const std::string forced =
      scenario(4, 16, "", R"({"kind": "all_reduce", "algorithm": "halving_doubling", "sizes": "256KiB"})");
  CHECK(results[1]["time_us"] == result_of(folder, forced)["time_us"]);
  const std::string old =
      scenario(4, 16, R"("software": {"mpi": "open-mpi", "release": "4.0"},)", all_reduce("128KiB"));
  CHECK(result_of(folder, old)["algorithm"] == "ring");
}

TEST_CASE("MVAPICH2 decides by how many ranks are on each node, and says what it takes for granted") {
  const Folder folder;
  const char* software = R"("software": {"mpi": "mvapich2"},)";
  const std::string alike = scenario(4, 16, software, all_reduce("8KiB"));
  CHECK(result_of(folder, alike)["algorithm"] == "halving_doubling");
  const Ran ran = athanor_run({"run", folder.write("s.json", alike)});
  CHECK(ran.says("mvapich2 2.3, which chooses the algorithms, as over InfiniBand EDR or HDR"));
  // Of one rank on a node two levels are one; of sixteen they are nothing that the catalog has.
  CHECK(result_of(folder, scenario(64, 1, software, all_reduce("2KiB")))["algorithm"] == "recursive_doubling");
  CHECK(refused(scenario(4, 16, software, all_reduce("2KiB")))
            .find("mvapich2 2.3 takes topo_aware_hierarchical, which") != std::string::npos);
  CHECK(refused(scenario(4, 16, software, all_reduce("4092B"))).find("takes two_level (pt2pt_rd between nodes)") !=
        std::string::npos);
}

TEST_CASE("without a release the newest known chooses, and one rank alone needs no choice") {
  const std::string text = scenario(4, 16, R"("software": {"mpi": "open-mpi"},)", all_reduce("256KiB"));
  CHECK(result_of(text)["algorithm"] == "halving_doubling");
  CHECK(time_of(scenario(1, 1, kOpenMpi, all_reduce("256KiB"))) == 0);
}

TEST_CASE("an algorithm that a library takes and the catalog does not have is said by name") {
  const std::string missing = scenario(2, 4, kOpenMpi, R"({"kind": "broadcast", "sizes": "64KiB"})");
  CHECK(refused(missing).find("for broadcast of 64 KiB over 8 ranks open-mpi 4.1 takes basic_linear, which the catalog "
                              "does not have") != std::string::npos);
  const std::string by_nodes = scenario(2, 4, R"("software": {"mpi": "mpich"},)", all_reduce("1KiB"));
  CHECK(refused(by_nodes).find("mpich 3.2 takes smp") != std::string::npos);
  const std::string unknown = scenario(2, 1, kOpenMpi, R"({"kind": "send_receive", "sizes": "1KiB"})");
  CHECK(refused(unknown).find("is not known here") != std::string::npos);
}

TEST_CASE("libraries and releases that are not known are refused with those that are") {
  const auto with = [](const std::string& software) {
    return refused(scenario(2, 2, R"("software": )" + software + ",", all_reduce("1KiB")));
  };
  CHECK(with(R"({"mpi": "openmpi"})").find("open-mpi") != std::string::npos);
  CHECK(with(R"({"mpi": "open-mpi", "release": "3.9"})").find("known are 4.0, 4.1") != std::string::npos);
  CHECK(with(R"({"mpi": "mpich", "release": "4.1"})").find("known is 3.2") != std::string::npos);
  CHECK(with(R"({"mpi": "mvapich2", "release": "3.0"})").find("known is 2.3") != std::string::npos);
  CHECK(with(R"({"mpi": "mvapich"})").find("mvapich2") != std::string::npos);
  CHECK(with(R"({"release": "4.1"})").find("none is named") != std::string::npos);
  CHECK(with(R"({"mpi": "open-mpi", "nccl": "2.21.5"})").find("\"nccl\" is of NCCL") != std::string::npos);
  CHECK(with(R"({"mpi": "open-mpi", "transport": "efa"})").find("\"transport\" is of NCCL") != std::string::npos);
}

TEST_CASE("what a library of MPI decides cannot be said beside it") {
  for (const char* key :
       {R"("algorithm": "ring")", R"("algorithm": "best")", R"("chunk": "1KiB")", R"("channels": 2)", R"("jobs": 2)"}) {
    CAPTURE(key);
    const std::string asked = fmt::format(R"({{"kind": "all_reduce", "sizes": "1KiB", {}}})", key);
    CHECK(refused(scenario(2, 2, kOpenMpi, asked)).find("does not go with \"mpi\"") != std::string::npos);
  }
}

TEST_CASE("NCCL and a library of MPI, or processes, exclude each other") {
  const std::string gpus = R"({"cluster": {"node": "DGX-H100"}, "profile": "nccl-generic-hopper",
    "software": {"mpi": "open-mpi"}, "collective": {"kind": "all_reduce", "sizes": "1KiB"}})";
  CHECK(refused(gpus).find("the profile is of NCCL") != std::string::npos);
  const std::string processes = R"({"cluster": {"node": "AWS-hpc7g-4xlarge"}, "profile": "nccl-generic-hopper",
    "collective": {"kind": "all_reduce", "sizes": "1KiB"}})";
  CHECK(refused(processes).find("ranks here are processes on CPUs") != std::string::npos);
  const std::string training = R"({"cluster": {"node": "DGX-H100"}, "software": {"mpi": "open-mpi"},
    "training": {"model": {"preset": "GPT-3-175B", "layers": 2}, "sequence": 2048, "global_batch": 8}})";
  CHECK(refused(training).find("of a collective by itself") != std::string::npos);
}

TEST_CASE("without a profile what MPI costs is said to be left out") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", R"({"cluster": {"node": "AWS-hpc7g-4xlarge"},
    "software": {"mpi": "open-mpi"}, "collective": {"kind": "all_reduce", "sizes": "1KiB"}})")});
  CHECK(ran.code == 0);
  CHECK(ran.says("no \"profile\" says what open-mpi costs"));
  CHECK(ran.says("open-mpi 4.1, which chooses the algorithms"));
}
