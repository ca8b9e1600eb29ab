#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/nccl/machine/paths.hpp"
#include "models/nccl/machine/topology_system.hpp"
#include "sim/file.hpp"
#include "tests/models/nccl/systems.hpp"

namespace athanor {

namespace {

using testing::preset_system;
using testing::route;
using testing::shape;

NcclSystem system_of(const std::string& text) {
  Problems problems;
  const NcclTopology topology = parse_nccl_topology(text, "machine.xml", problems);
  problems.throw_if_any();
  return nccl_system(topology);
}

std::string file(const std::string& name) { return read_text_file("tests/models/nccl/" + name + ".xml"); }

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = text.find(part, at + by.size())) { text.replace(at, part.size(), by); }
  return text;
}

/// All problems of a text, each on a line as people see them.
std::string wrong(const std::string& text) {
  Problems problems;
  parse_nccl_topology(text, "machine.xml", problems);
  std::string all;
  for (const Problem& problem : problems.list()) { all += describe(problem) + "\n"; }
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void check_same(const ChannelGraph& a, const ChannelGraph& b) {
  CHECK(shape(a) == shape(b));
  CHECK(a.pattern == b.pattern);
  CHECK(a.cross_nic == b.cross_nic);
  CHECK(a.channels == b.channels);
}

/// One search on the file and one on the preset of the same machine.
void check_as_preset(const std::string& text, const std::string& preset, std::uint32_t nodes) {
  CAPTURE(preset);
  CAPTURE(nodes);
  SearchSettings settings;
  settings.collnet = true;
  const ChannelGraphs ours = search_channels(preset_system(preset, nodes), nodes, settings);
  const ChannelGraphs theirs = search_channels(system_of(text), nodes, settings);
  check_same(ours.ring, theirs.ring);
  check_same(ours.tree, theirs.tree);
  check_same(ours.nvls, theirs.nvls);
  check_same(ours.collnet_chain, theirs.collnet_chain);
  check_same(ours.collnet_direct, theirs.collnet_direct);
}

std::string b200() {
  std::string text = replaced(file("dgx_h100"), "sm=\"90\"", "sm=\"100\"");
  return replaced(text, "modelid=\"143\"", "modelid=\"207\"");
}

}  // namespace

TEST_CASE("a topology file gives the system that the preset of the machine gives") {
  for (const std::uint32_t nodes : {1U, 2U}) {
    check_as_preset(file("dgx_a100"), "DGX-A100", nodes);
    check_as_preset(file("dgx_h100"), "DGX-H100", nodes);
    check_as_preset(b200(), "DGX-B200", nodes);
    check_as_preset(file("pcie_8_l40s"), "PCIe-8xL40S", nodes);
  }
}

TEST_CASE("devices of a topology file have NCCL's rates") {
  const NcclSystem system = system_of(file("dgx_h100"));
  REQUIRE(system.gpus.size() == 8);
  REQUIRE(system.nets.size() == 8);
  REQUIRE(system.cpus.size() == 2);
  CHECK(system.nets[3].rate == 50'000);
  CHECK(system.nets[3].guid == 0xbb04);
  CHECK(system.cpus[0].identity == CpuIdentity{"x86_64", "GenuineIntel", 6, 143});
  const NcclPaths paths(system, {});
  CHECK(paths.gpu_to_gpu(0, 7).rate == 18 * 20'600);
  CHECK(paths.gpu_to_gpu(0, 7).type == NcclPath::nvl);
  CHECK(paths.gpu_to_net(0, 0).rate == 48'000);
  CHECK(paths.gpu_to_net(0, 0).type == NcclPath::pix);
  CHECK(paths.net_to_gpu(7, 0).type == NcclPath::sys);
  CHECK(paths.net_to_gpu(7, 0).rate == 22'000);
  CHECK(paths.gpu_to_net(0, 7).type == NcclPath::pxn);
  CHECK(paths.sender(0, 7) == 7);
}

TEST_CASE("GPUs are ranked as the file says, and those without a rank are not there") {
  std::string text = file("pcie_8_l40s");
  text = replaced(text, " rank=\"7\"", "");
  CHECK(system_of(text).gpus.size() == 7);
  text = replaced(file("pcie_8_l40s"), "dev=\"0\" sm=\"89\" rank=\"0\"", "dev=\"0\" sm=\"89\" rank=\"9\"");
  const NcclSystem turned = system_of(text);
  CHECK(turned.gpus[0].rank == 7);
  CHECK(turned.gpus[1].rank == 0);
  const std::string unranked = [&] {
    std::string none = file("pcie_8_l40s");
    for (int i = 0; i < 8; ++i) { none = replaced(none, " rank=\"" + std::to_string(i) + '"', ""); }
    return none;
  }();
  CHECK(system_of(unranked).gpus[5].rank == 5);
}

TEST_CASE("a Broadcom switch that shows as two levels is one, and other nested switches are two") {
  const std::string pcie = R"(link_speed="16.0 GT/s PCIe" link_width="16")";
  const std::string broadcom = R"(vendor="0x1000" device="0xc010" subsystem_vendor="0x1000" subsystem_device="0xa096")";
  const auto nested = [&](const std::string& model) {
    return "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\"><pci "
           "busid=\"0000:01:00.0\" " +
           model + pcie + "><pci busid=\"0000:02:00.0\" " + model + pcie + "><pci busid=\"0000:03:00.0\" " + pcie +
           "><gpu dev=\"0\" sm=\"80\"/></pci></pci><pci busid=\"0000:04:00.0\" " + model + pcie +
           "><pci busid=\"0000:05:00.0\" " + pcie + "><gpu dev=\"1\" sm=\"80\"/></pci></pci></pci></cpu></system>";
  };
  const NcclSystem flat = system_of(nested(broadcom + " "));
  CHECK(NcclPaths(flat, {}).gpu_to_gpu(0, 1).type == NcclPath::pix);
  const NcclSystem deep = system_of(nested(""));
  CHECK(NcclPaths(deep, {}).gpu_to_gpu(0, 1).type == NcclPath::pxb);
}

TEST_CASE("functions of one NIC are one device behind one PCIe link") {
  const std::string text = replaced(file("dgx_h100"), "<pci busid=\"0000:28:00.0\" class=\"0x020700\"",
                                    "<pci busid=\"0000:18:00.1\" class=\"0x020700\"");
  const NcclSystem system = system_of(text);
  CHECK(system.nets.size() == 8);
  CHECK(NcclPaths(system, {}).gpu_to_net(0, 1).type == NcclPath::pix);
}

TEST_CASE("broken topology files are named with their lines") {
  const std::string good = file("dgx_a100");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"<system", "this is no XML"},
      {"<graphs version=\"1\"/>", "machine.xml:1:1: there is no <system> element"},
      {"<system version=\"1\"><cpu numaid=\"0\"/></system>", "there is no <gpu>"},
      {replaced(good, "busid=\"0000:0f:00.0\"", "busid=\"0000:07:00.0\""), "busid 0000:07:00.0 is on line 4 already"},
      {replaced(good, "sm=\"80\"", "sm=\"50\""), "the rate of NVLink at sm=\"50\" is not known"},
      {replaced(good, "sm=\"80\"", "sm=\"eighty\""), "sm 'eighty' is no whole number"},
      {replaced(good, "dev=\"3\" sm", "dev=\"-3\" sm"), "dev -3 is out of range"},
      {replaced(good, "latency=\"0\"", "latency=\"soon\""), "latency 'soon' is no number"},
      {replaced(good, "count=\"2\"", "count=\"0\""), "0 is no number of NVLinks"},
      {replaced(good, "<cpu numaid=\"7\"", "<cpu numaid=\"7\" host_hash=\"0x1\""), "this file holds several hosts"}};
  for (const auto& [text, message] : cases) {
    CAPTURE(message);
    CHECK(has(wrong(text), message));
  }
  CHECK(wrong(good).empty());
  Problems problems;
  CHECK_THROWS_AS(read_nccl_topology(FileReader(), "tests/models/nccl/none.xml", problems), FileError);
  CHECK(read_nccl_topology(FileReader(), "tests/models/nccl/dgx_a100.xml", problems).gpus.size() == 8);
}

TEST_CASE("no more than 20 problems of a file are told") {
  std::string text = replaced(file("dgx_a100"), "count=\"2\"", "count=\"0\"");
  text = replaced(replaced(text, "link_width=\"16\"", "link_width=\"99\""), "port=\"1\"", "port=\"-1\"");
  text = replaced(text, "latency=\"0\"", "latency=\"-1\"");
  Problems problems;
  parse_nccl_topology(text, "machine.xml", problems);
  CHECK(problems.size() == 20);
}

}  // namespace athanor
