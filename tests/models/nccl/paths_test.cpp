#include "models/nccl/machine/paths.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tests/models/nccl/systems.hpp"

namespace athanor {

namespace {

using testing::node_system;
using testing::preset_system;
using testing::shape;

/// "NVL 240": type and GB/s.
std::string of(const NcclRoute& route) {
  return std::string(name(route.type)) + " " + std::to_string(route.rate / 1000);
}

/// GPUs on the ports of one socket.
NcclSystem on_socket(const std::string& gpu, std::uint32_t gpus, const std::string& vendor) {
  std::string list;
  for (std::uint32_t g = 0; g < gpus; ++g) { list += (g == 0 ? "" : ", ") + std::to_string(g); }
  return node_system(R"({"gpu": ")" + gpu + R"(", "gpus": )" + std::to_string(gpus) +
                         R"(, "cpu": {"arch": "x86_64", "vendor": ")" + vendor +
                         R"(", "family": 6, "model": 106}, "pcie": [{"socket": 0, "switch": false, "gpus": [)" + list +
                         "]}]}",
                     1);
}

}  // namespace

TEST_CASE("paths on PCIe: within a switch, through the CPU, across CPUs") {
  const NcclPaths paths(preset_system("PCIe-8xL40S", 2), {});
  CHECK(of(paths.gpu_to_gpu(0, 0)) == "LOC 5000");
  CHECK(of(paths.gpu_to_gpu(0, 1)) == "PIX 24");
  CHECK(of(paths.gpu_to_gpu(0, 2)) == "PHB 24");
  CHECK(of(paths.gpu_to_gpu(0, 4)) == "SYS 10");
  CHECK(of(paths.gpu_to_net(0, 0)) == "PIX 24");
  CHECK(of(paths.gpu_to_net(2, 0)) == "PHB 24");
  CHECK(of(paths.gpu_to_net(4, 0)) == "SYS 10");
  CHECK(paths.local_nets(2) == std::vector<std::uint32_t>{0});
  CHECK(paths.local_gpus(0) == std::vector<std::uint32_t>{0, 1});
  CHECK(paths.hosts() == 1);
}

TEST_CASE("GPUs may use each other's memory up to several switches, unless they may not at all, or farther") {
  const NcclSystem system = preset_system("PCIe-8xL40S", 2);
  const NcclPaths usual(system, {});
  CHECK(usual.peer_access(0, 1));
  CHECK_FALSE(usual.peer_access(0, 2));
  SearchSettings settings;
  settings.p2p_level = NcclPath::loc;
  const NcclPaths none(system, settings);
  CHECK_FALSE(none.peer_access(0, 1));
  CHECK(of(none.gpu_to_gpu(0, 1)) == "PHB 24");
  CHECK(none.gpu_to_gpu(0, 1).hops() == 4);
  settings.p2p_level = NcclPath::sys;
  CHECK(NcclPaths(system, settings).peer_access(0, 7));
}

TEST_CASE("two GPUs on an AMD machine use each other's memory across the CPU, more do not, Intel's do not") {
  CHECK(NcclPaths(on_socket("L40S-48GB", 2, "AuthenticAMD"), {}).peer_access(0, 1));
  CHECK_FALSE(NcclPaths(on_socket("L40S-48GB", 3, "AuthenticAMD"), {}).peer_access(0, 1));
  CHECK_FALSE(NcclPaths(on_socket("L40S-48GB", 2, "GenuineIntel"), {}).peer_access(0, 1));
  CHECK_FALSE(NcclPaths(on_socket("RTX-2080-Ti", 2, "AuthenticAMD"), {}).peer_access(0, 1));
}

TEST_CASE("GPUs of a hybrid cube mesh reach those without a cable over the widest neighbour") {
  const NcclPaths paths(preset_system("DGX-1V", 1), {});
  CHECK(of(paths.gpu_to_gpu(0, 1)) == "NVL 40");
  CHECK(of(paths.gpu_to_gpu(0, 2)) == "NVL 20");
  CHECK(of(paths.gpu_to_gpu(0, 5)) == "NVB 40");
  CHECK(paths.gpu_to_gpu(0, 5).hops() == 2);
  CHECK(paths.peer_access(0, 5));
}

TEST_CASE("GPUs send to far NICs by the GPU beside them, and receive without it") {
  const NcclSystem system = preset_system("DGX-H100", 2);
  const NcclPaths paths(system, {});
  CHECK(of(paths.gpu_to_net(0, 5)) == "PXN 48");
  CHECK(paths.sender(0, 5) == 5);
  CHECK(paths.sender(5, 5) == 5);
  CHECK(of(paths.net_to_gpu(5, 0)) == "SYS 22");
  SearchSettings settings;
  settings.pxn = false;
  const NcclPaths without(system, settings);
  CHECK(of(without.gpu_to_net(0, 5)) == "SYS 22");
  CHECK(without.sender(0, 5) == 0);
}

TEST_CASE("without GPUDirect RDMA data pass host memory, and no GPU relays") {
  const NcclSystem system = preset_system("DGX-H100", 2);
  SearchSettings settings;
  settings.network_gpu_direct = false;
  const NcclPaths paths(system, settings);
  CHECK_FALSE(paths.gpu_direct(0, 0, false));
  CHECK(of(paths.gpu_to_net(0, 0)) == "PHB 48");
  CHECK(of(paths.net_to_gpu(0, 0)) == "PHB 48");
  CHECK(paths.gpu_to_net(0, 5).type == NcclPath::sys);
  settings = {};
  settings.gdr_level = NcclPath::loc;
  CHECK_FALSE(NcclPaths(system, settings).gpu_direct(0, 0, false));
  const NcclPaths usual(system, {});
  CHECK(usual.gpu_direct(0, 0, true));
}

TEST_CASE("GPUs before Ampere send by GPUDirect only where they have NVLink") {
  const NcclPaths turing(preset_system("AWS-g4dn-metal", 2), {});
  CHECK_FALSE(turing.gpu_direct(0, 0, true));
  const NcclPaths volta(preset_system("DGX-1V", 2), {});
  CHECK(volta.gpu_direct(0, 0, true));
}

TEST_CASE("behind C2C a GPU reaches the NICs of its CPU, and none of another tray") {
  const NcclPaths paths(preset_system("GB200-NVL72", 1), {});
  CHECK(paths.hosts() == 36);
  CHECK(paths.gpu_to_gpu(0, 71).type == NcclPath::nvl);
  const NcclPaths grace(preset_system("Alps-GH200", 2), {});
  CHECK(of(grace.gpu_to_net(0, 0)) == "P2C 25");
  CHECK(grace.gpu_to_net(0, 1).type == NcclPath::dis);
  CHECK(grace.gpu_direct(0, 0, true));
}

TEST_CASE("Intel's root complexes pass on 5/6 of what PCIe carries between two GPUs") {
  SearchSettings settings;
  settings.p2p_level = NcclPath::sys;
  // 24 GB/s each way: two rings of 12, or one of 20 where 12 costs 14.4.
  CHECK(shape(search_channels(on_socket("L40S-48GB", 2, "AuthenticAMD"), 1, settings).ring) == "2x12/12 PHB/PIX");
  CHECK(shape(search_channels(on_socket("L40S-48GB", 2, "GenuineIntel"), 1, settings).ring) == "1x20/20 PHB/PIX");
}

TEST_CASE("PCIe counts with NCCL's rate of the nearest generation and width, other links with what they carry") {
  const auto rate = [](const std::string& link) {
    const NcclSystem system = node_system(R"({"gpus": 2, "pcie_link": )" + link + "}", 1);
    return NcclPaths(system, {}).gpu_to_gpu(0, 1).rate;
  };
  CHECK(rate(R"("pcie3x16")") == 12'000);
  CHECK(rate(R"("pcie4x16")") == 24'000);
  CHECK(rate(R"("pcie5x16")") == 48'000);
  CHECK(rate(R"({"rate": "15.75GB/s", "usable": "14GB/s"})") == 12'000);
  CHECK(rate(R"({"rate": "20GB/s", "usable": "14GB/s"})") == 14'000);
}

TEST_CASE("an endpoint that is no GPU of a node is a machine of one GPU behind its cables") {
  const NcclSystem system = nccl_system(testing::hosts(4));
  REQUIRE(system.gpus.size() == 1);
  REQUIRE(system.nets.size() == 1);
  CHECK(system.nets[0].rate == 12'500);
  const ChannelGraphs graphs = search_channels(system, 4, {});
  CHECK(graphs.ring.count() >= 1);
  CHECK(graphs.ring.count() * graphs.ring.speed_inter <= 12.5);
}

}  // namespace athanor
