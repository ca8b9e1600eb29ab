#include <doctest/doctest.h>

#include "models/nccl/machine/link_rates.hpp"
#include "models/nccl/machine/search.hpp"
#include "models/nccl/machine/topology_system.hpp"
#include "tests/tools/import/fabric/imported_fabric.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

constexpr const char* kPcie4 = R"(link_speed="16.0 GT/s PCIe" link_width="16")";

/// A machine as NCCL dumps it: two CPUs, a PCIe switch for every two GPUs and two NICs.
struct Box {
  int gpus = 8;
  int sm = 80;
  std::string nvlinks = R"(<nvlink target="0000:c4:00.0" count="12" tclass="0x068000"/>)";
  std::string cpu = R"(arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49")";
  int megabits = 200'000;

  std::string text() const {
    std::string xml = "<system version=\"1\">\n";
    for (int socket = 0; socket < 2; ++socket) {
      xml += fmt::format("<cpu numaid=\"{}\" affinity=\"ffff\" {}>\n", socket, cpu);
      for (int group = socket * gpus / 4; group < (socket + 1) * gpus / 4; ++group) { xml += below_switch(group); }
      xml += "</cpu>\n";
    }
    return xml + "</system>\n";
  }

  std::string below_switch(int group) const {
    std::string xml = fmt::format("<pci busid=\"0000:{:02x}:00.0\" class=\"0x060400\" {}>\n", 0xa0 + group, kPcie4);
    for (int i = 2 * group; i < 2 * group + 2; ++i) {
      xml += fmt::format(
          "<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" {}>\n<gpu dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\">",
          0x10 + i, kPcie4, i, sm, i);
      xml += nvlinks + "</gpu>\n</pci>\n";
      xml += fmt::format(
          "<pci busid=\"0000:{:02x}:00.0\" class=\"0x020700\" {}>\n<nic><net name=\"mlx5_{}\" dev=\"{}\" speed=\"{}\" "
          "port=\"1\"/></nic>\n</pci>\n",
          0x40 + i, kPcie4, i, i, megabits);
    }
    return xml + "</pci>\n";
  }
};

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

Import import_box(const std::string& xml) { return import_text(xml, FabricFormat::nccl_topology); }

Cluster machines(const JsonValue& cluster, int nodes) {
  nlohmann::ordered_json whole = nlohmann::ordered_json::parse(text_of(cluster));
  whole["nodes"] = nodes;
  whole["fabric"] = {{"kind", "rail_optimized"}, {"switch", "QM8700"}};
  return built(whole);
}

}  // namespace

TEST_CASE("rates are NCCL's: NVLink by compute capability, PCIe by speed and width, CPUs by model") {
  CHECK(nccl_nvlink(80)->usable * 12 == 240_GBps);
  CHECK(nccl_nvlink(90)->usable * 18 == 370.8_GBps);
  CHECK(nccl_nvlink(100)->usable * 18 == 721.8_GBps);
  CHECK(nccl_nvlink(70)->usable * 6 == 120_GBps);
  CHECK_FALSE(nccl_nvlink(52));
  CHECK(nccl_pcie("8.0 GT/s PCIe", 16).usable == 12_GBps);
  CHECK(nccl_pcie("16.0 GT/s PCIe", 16).usable == 24_GBps);
  CHECK(nccl_pcie("32.0 GT/s PCIe", 8).usable == 24_GBps);
  CHECK(nccl_pcie("32.0 GT/s PCIe", 16).rate == 63_GBps);
  CHECK(nccl_pcie("2.5 GT/s PCIe", 16).usable == 3_GBps);
  CHECK(nccl_pcie("Unknown", 0).usable == nccl_pcie("8 GT/s", 16).usable);
  CHECK_FALSE(nccl_knows_pcie_speed("Unknown"));
  CHECK(nccl_socket({"x86_64", "GenuineIntel", 6, 0x6A})->usable == 10_GBps);
  CHECK(nccl_socket({"x86_64", "GenuineIntel", 6, 0x8F})->usable == 22_GBps);
  CHECK(nccl_socket({"x86_64", "GenuineIntel", 6, 0xCF})->usable == 40_GBps);
  CHECK(nccl_socket({"x86_64", "GenuineIntel", 6, 0x4F})->usable == 6_GBps);
  CHECK(nccl_socket({"x86_64", "AuthenticAMD", 25, 1})->usable == 16_GBps);
  CHECK_FALSE(nccl_socket({"riscv64", "", 0, 0}));
}

TEST_CASE("a machine on NVSwitch: GPUs meet there, GPU and NIC under one PCIe switch, all in the order of numbers") {
  const Import import = import_box(Box{}.text());
  REQUIRE(import.problems == "");
  CHECK(import.fabric.summary == "8 GPUs, 1 NVSwitch, 2 CPUs, 4 PCIe switches, 8 NICs; 29 links");
  const Cluster one = built(import.fabric.cluster);
  REQUIRE(one.endpoints.size() == 8);
  for (std::size_t to = 1; to < 8; ++to) {
    CHECK(passes(one, 0, to) == std::vector{VertexKind::gpu, VertexKind::nvswitch, VertexKind::gpu});
    CHECK(width(one, 0, to) == 240_GBps);
  }
  const Cluster two = machines(import.fabric.cluster, 2);
  REQUIRE(two.endpoints.size() == 16);
  using enum VertexKind;
  CHECK(passes(two, 3, 8 + 3) == std::vector{gpu, pcie_switch, nic, leaf, nic, pcie_switch, gpu});
  CHECK(passes(two, 3, 8 + 4) == std::vector{gpu, nvswitch, gpu, pcie_switch, nic, leaf, nic, pcie_switch, gpu});
  CHECK(width(two, 3, 8 + 3) == 24_GBps);
}

TEST_CASE("without NVLink GPUs meet in the PCIe switch, in the CPU, and across CPUs at NCCL's rate") {
  Box box;
  box.nvlinks = "";
  box.cpu = R"(arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143")";
  const Cluster one = built(import_box(box.text()).fabric.cluster);
  using enum VertexKind;
  CHECK(passes(one, 0, 1) == std::vector{gpu, pcie_switch, gpu});
  CHECK(passes(one, 0, 2) == std::vector{gpu, pcie_switch, cpu, pcie_switch, gpu});
  CHECK(passes(one, 0, 4) == std::vector{gpu, pcie_switch, cpu, cpu, pcie_switch, gpu});
  CHECK(width(one, 0, 2) == 24_GBps);
  CHECK(width(one, 0, 4) == 22_GBps);
}

TEST_CASE("NVLink cables join pairs, others forward through one GPU in common") {
  const auto gpu = [](int i, const std::string& links) {
    return fmt::format(
        "<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" {}><gpu dev=\"{}\" sm=\"70\" rank=\"{}\">{}</gpu></pci>\n",
        0x10 + i, kPcie4, i, i, links);
  };
  const auto link = [](int to, int count) {
    return fmt::format("<nvlink target=\"00000000:{:02X}:00.0\" count=\"{}\" tclass=\"0x030200\"/>", 0x10 + to, count);
  };
  const std::string xml = "<system version=\"1\"><cpu numaid=\"-1\" arch=\"x86_64\" vendor=\"AuthenticAMD\">\n" +
                          gpu(2, link(1, 2)) + gpu(0, link(1, 1)) + gpu(1, link(0, 1) + link(2, 2)) + "</cpu></system>";
  const Import import = import_box(xml);
  REQUIRE(import.problems == "");
  const Cluster one = built(import.fabric.cluster);
  CHECK(width(one, 0, 1) == 20_GBps);
  CHECK(width(one, 1, 2) == 40_GBps);
  CHECK(passes(one, 0, 2) == std::vector{VertexKind::gpu, VertexKind::gpu, VertexKind::gpu});
  CHECK(import_box(replaced(xml, "count=\"2\"", "count=\"1\"")).says("has 2 NVLinks to gpu2, which has 1 back"));
  CHECK(import_box(replaced(xml, "11:00.0\" count", "99:00.0\" count"))
            .says("in.txt:2:1: <nvlink>: it leads to GPU 00000000:99:00.0"));
}

TEST_CASE("nested switches, ports that share a NIC, NICs at the CPU, C2C and slower NICs") {
  const std::string xml = fmt::format(R"(<system version="1"><cpu numaid="0" arch="arm64">
<pci busid="0000:01:00.0" class="0x060400" {0}><pci busid="0000:02:00.0" class="0x060400" {0}>
<pci busid="0000:03:00.0" class="0x030200" {0}><gpu dev="0" sm="90" rank="0"><c2c bw="45000" count="10"/></gpu></pci></pci>
<pci busid="0000:04:00.0" class="0x020700" {0}><nic><net name="a" dev="0" speed="400000"/><net name="b" dev="1" speed="400000"/>
<net name="slow" dev="2" speed="100000"/></nic></pci></pci>
<nic><net name="virtual" dev="3" speed="400000"/></nic>
<pci busid="0000:09:00.0" class="0x010802" {0}/></cpu></system>)",
                                      kPcie4);
  const Import import = import_box(xml);
  REQUIRE(import.problems == "");
  CHECK(import.notes("slow of 100000 Mb/s is left out"));
  CHECK(import.fabric.summary == "1 GPU, 1 CPU, 3 PCIe switches, 3 NICs; 8 links");
  CHECK(import.fabric.cluster["node"]["port"]["rate"] == "50GB/s");
  const Cluster two = machines(import.fabric.cluster, 2);
  // C2C, CPU and the virtual NIC is one device less than over three switches.
  using enum VertexKind;
  CHECK(passes(two, 0, 1) == std::vector{gpu, cpu, nic, leaf, nic, cpu, gpu});
}

TEST_CASE("GPUs that no rank used are left out, NICs without a speed have 10 Gb/s, unknown PCIe speeds are PCIe 3") {
  std::string xml = Box{}.text();
  xml = replaced(xml, "rank=\"7\"", "");
  CHECK(import_box(xml).notes("1 GPUs without a rank"));
  CHECK(built(import_box(xml).fabric.cluster).endpoints.size() == 7);
  Box box;
  box.megabits = 0;
  CHECK(import_box(box.text()).fabric.cluster["node"]["port"]["rate"] == "1.25GB/s");
  CHECK(import_box(box.text()).notes("has no speed and is taken for 10 Gb/s"));
  const Import strange = import_box(replaced(Box{}.text(), "16.0 GT/s PCIe", "Unknown speed"));
  CHECK(strange.problems == "");
  CHECK(strange.notes("1 PCIe links have no speed that is known"));
}

TEST_CASE("a machine that is imported keeps what it calls itself, so that NCCL searches on it as on the file") {
  Box box;
  box.sm = 90;
  box.cpu = R"(arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143")";
  const std::string xml = box.text();
  const Import import = import_box(xml);
  CHECK(import.fabric.cluster["node"]["compute_capability"] == 9.0);
  CHECK(import.fabric.cluster["node"]["cpu"]["model"] == 143);
  Problems problems;
  const NcclSystem file = nccl_system(parse_nccl_topology(xml, "in.txt", problems));
  REQUIRE(problems.empty());
  const Cluster two = machines(import.fabric.cluster, 2);
  CHECK(two.identity->cpu == CpuIdentity{"x86_64", "GenuineIntel", 6, 143});
  const ChannelGraphs imported = search_channels(nccl_system(two), 2, {});
  const ChannelGraphs direct = search_channels(file, 2, {});
  CHECK(imported.ring.channels == direct.ring.channels);
  CHECK(imported.ring.speed_inter == direct.ring.speed_inter);
  CHECK(imported.tree.channels == direct.tree.channels);
  CHECK(imported.nvls.channels == direct.nvls.channels);
  CHECK(imported.nvls.count() > 0);
}

TEST_CASE("broken topology files are named with their lines") {
  const std::string good = Box{}.text();
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "in.txt:1:1: the file is empty"},
      {"<system", "this is no XML"},
      {"<graphs version=\"1\"/>", "in.txt:1:1: there is no <system> element"},
      {good.substr(0, good.size() / 2), "this is no XML"},
      {"<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0:1\"/></cpu></system>", "there is no <gpu>"},
      {replaced(good, "dev=\"1\" sm", "dev=\"0\" sm"), "gpu0 comes a second time"},
      {replaced(good, "mlx5_1", "mlx5_0"), "mlx5_0 comes a second time; it is on line 8 already"},
      {replaced(good, "0000:11:00.0", "0000:10:00.0"), "busid 0000:10:00.0 is on line 4 already"},
      {replaced(good, "numaid=\"1\"", "numaid=\"0\""), "cpu0 comes a second time"},
      {replaced(good, "sm=\"80\"", "sm=\"50\""), "the rate of NVLink at sm=\"50\" is not known"},
      {replaced(good, "sm=\"80\"", "sm=\"eighty\""), "sm 'eighty' is no whole number"},
      {replaced(good, "link_width=\"16\"", "link_width=\"99\""), "link_width 99 is no number of lanes"},
      {replaced(good, "count=\"12\"", "count=\"0\""), "0 is no number of NVLinks"},
      {replaced(good, "<nvlink", "<xgmi target=\"0\" count=\"1\"/><nvlink"),
       "the rate of AMD's xGMI between GPUs is not known"},
      {replaced(replaced(good, "arch=\"x86_64\"", "arch=\"vax\""), "arch=\"x86_64\"", "arch=\"vax\""),
       "NCCL has no rate between CPUs of arch 'vax'"},
      {replaced(good, "<cpu numaid=\"1\"", "<cpu numaid=\"1\" host_hash=\"0x1\""), "this file holds several hosts"}};
  for (const auto& [text, message] : wrong) {
    CAPTURE(message);
    CAPTURE(import_box(text).problems);
    CHECK(import_box(text).says(message));
  }
  std::string deep = "<system version=\"1\"><cpu numaid=\"0\">";
  for (int i = 0; i < 10'000; ++i) { deep += fmt::format("<pci busid=\"{:x}\">", i); }
  deep += "<gpu dev=\"0\" sm=\"80\"/>";
  for (int i = 0; i < 10'000; ++i) { deep += "</pci>"; }
  CHECK(import_box(deep + "</cpu></system>").says("more than 64 elements are within each other"));
}
