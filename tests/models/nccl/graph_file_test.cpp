#include "models/nccl/machine/graph_file.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/models/nccl/systems.hpp"

namespace athanor {

namespace {

using testing::preset_system;
using testing::route;

void check_equal(const ChannelGraph& a, const ChannelGraph& b) {
  CHECK(a.count() == b.count());
  if (a.count() == 0) { return; }
  CHECK(a.pattern == b.pattern);
  CHECK(a.cross_nic == b.cross_nic);
  CHECK(a.speed_intra == b.speed_intra);
  CHECK(a.speed_inter == b.speed_inter);
  CHECK(a.latency_inter == b.latency_inter);
  CHECK(a.type_intra == b.type_intra);
  CHECK(a.type_inter == b.type_inter);
  CHECK(a.same_channels == b.same_channels);
  CHECK(a.channels == b.channels);
}

std::string gpu_text(const NcclSystem& system, std::uint32_t rank) {
  const auto is_it = [&](const NcclSystem::Gpu& gpu) { return gpu.rank == rank; };
  const auto gpu = std::find_if(system.gpus.begin(), system.gpus.end(), is_it);
  return fmt::format("      <gpu dev=\"{:#x}\" rank=\"{}\"/>\n", gpu->dev, rank);
}

std::string channel_text(const NcclChannel& channel, NcclPattern pattern, const NcclSystem& system) {
  std::string text = "    <channel>\n";
  if (channel.in) { text += fmt::format("      <net dev=\"{:#x}\"/>\n", *channel.in); }
  for (const std::uint32_t gpu : channel.gpus) { text += gpu_text(system, gpu); }
  if (pattern == NcclPattern::collnet_direct) {
    for (const NcclSystem::Gpu& gpu : system.gpus) {
      if (gpu.rank != channel.gpus.front()) { text += gpu_text(system, gpu.rank); }
    }
  }
  if (channel.out) { text += fmt::format("      <net dev=\"{:#x}\"/>\n", *channel.out); }
  return text + "    </channel>\n";
}

std::string graph_text_of(std::uint32_t id, const ChannelGraph& graph, const NcclSystem& system) {
  if (graph.count() == 0) { return ""; }
  std::string text = fmt::format(
      "  <graph id=\"{}\" pattern=\"{}\" crossnic=\"{}\" nchannels=\"{}\" speedintra=\"{}\" speedinter=\"{}\" "
      "latencyinter=\"{}\" typeintra=\"{}\" typeinter=\"{}\" samechannels=\"{}\">\n",
      id, static_cast<int>(graph.pattern), graph.cross_nic, graph.count(), graph.speed_intra, graph.speed_inter,
      graph.latency_inter, name(graph.type_intra), name(graph.type_inter), graph.same_channels ? 1 : 0);
  for (const NcclChannel& channel : graph.channels) { text += channel_text(channel, graph.pattern, system); }
  return text + "  </graph>\n";
}

/// As NCCL writes them.
std::string written(const ChannelGraphs& graphs, const NcclSystem& system) {
  return "<graphs version=\"1\">\n" + graph_text_of(0, graphs.ring, system) + graph_text_of(1, graphs.tree, system) +
         graph_text_of(4, graphs.collnet_direct, system) + graph_text_of(2, graphs.collnet_chain, system) +
         graph_text_of(3, graphs.nvls, system) + "</graphs>\n";
}

/// As NCCL 2.30 writes it, of two GPUs and two NICs.
constexpr const char* kSmall = R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="22.5" speedinter="20" latencyinter="1.5" typeintra="NVL" typeinter="PXB" samechannels="0">
    <channel>
      <net dev="0x0"/>
      <gpu dev="0x0" rank="0"/>
      <gpu dev="0x1" rank="1"/>
      <net dev="0x1"/>
    </channel>
    <channel>
      <net dev="0x1"/>
      <gpu dev="0x1" rank="1"/>
      <gpu dev="0x0" rank="0"/>
      <net dev="0x0"/>
    </channel>
  </graph>
  <graph id="1" pattern="1" crossnic="0" nchannels="1" speedintra="20" speedinter="20" latencyinter="0" typeintra="NVL" typeinter="PXB" samechannels="1">
    <channel>
      <net dev="0x0"/>
      <gpu dev="0x0" rank="0"/>
      <gpu dev="0x1" rank="1"/>
      <net dev="0x0"/>
    </channel>
  </graph>
</graphs>
)";

NcclSystem small() { return with_gpus(preset_system("DGX-A100", 2), {0, 1}); }

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

std::string wrong(const std::string& text) {
  Problems problems;
  parse_nccl_graphs(text, "graphs.xml", small(), problems);
  std::string all;
  for (const Problem& problem : problems.list()) { all += describe(problem) + "\n"; }
  return all;
}

}  // namespace

TEST_CASE("graphs that are written and read again are the same, with and without a network") {
  SearchSettings settings;
  settings.collnet = true;
  for (const char* node : {"DGX-A100", "DGX-H100", "PCIe-8xL40S"}) {
    for (const std::uint32_t nodes : {1U, 2U}) {
      CAPTURE(node);
      CAPTURE(nodes);
      const NcclSystem system = preset_system(node, nodes);
      const ChannelGraphs graphs = search_channels(system, nodes, settings);
      const std::string text = written(graphs, system);
      Problems problems;
      const ChannelGraphs again = parse_nccl_graphs(text, "graphs.xml", system, problems);
      CHECK(problems.empty());
      check_equal(graphs.ring, again.ring);
      check_equal(graphs.tree, again.tree);
      check_equal(graphs.nvls, again.nvls);
      check_equal(graphs.collnet_chain, again.collnet_chain);
      check_equal(graphs.collnet_direct, again.collnet_direct);
    }
  }
}

TEST_CASE("a graph file is ground truth: what it says is what is there, to the letter") {
  Problems problems;
  const NcclSystem system = small();
  const ChannelGraphs graphs = parse_nccl_graphs(kSmall, "graphs.xml", system, problems);
  REQUIRE(problems.empty());
  REQUIRE(graphs.ring.count() == 2);
  CHECK(route(graphs.ring.channels[0]) == "0: 0 1 :1");
  CHECK(route(graphs.ring.channels[1]) == "1: 1 0 :0");
  CHECK(graphs.ring.speed_intra == 22.5);
  CHECK(graphs.ring.latency_inter == 1.5);
  CHECK(graphs.ring.type_inter == NcclPath::pxb);
  CHECK_FALSE(graphs.ring.same_channels);
  CHECK(graphs.tree.pattern == NcclPattern::balanced_tree);
  CHECK(written(graphs, system) == kSmall);
}

TEST_CASE("broken graph files are named with their lines") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"<graphs", "this is no XML"},
      {"<system version=\"1\"/>", "there is no <graphs> element"},
      {"<graphs version=\"2\"/>", "graphs.xml:1:1: <graphs>: version \"2\" is not known"},
      {"<graphs version=\"1\"/>", "there is no graph of rings: id 0"},
      {replaced(kSmall, "<graph id=\"1\"", "<graph id=\"2\""), "there is no graph of trees: id 1"},
      {replaced(kSmall, "<graph id=\"1\"", "<graph id=\"7\""), "graphs.xml:16:1: <graph>: id 7 is no graph"},
      {replaced(kSmall, "pattern=\"4\"", "pattern=\"9\""), "pattern 9 is none"},
      {replaced(kSmall, "typeintra=\"NVL\"", "typeintra=\"NVLINK\""), "typeintra 'NVLINK' is no type of path"},
      {replaced(kSmall, "<gpu dev=\"0x0\"", "<gpu dev=\"0x5\""), "graphs.xml:5:1: <gpu>: GPU 5 is not on this node"},
      {replaced(kSmall, "<net dev=\"0x1\"", "<net dev=\"0x9\""), "NIC 9 is not on this node"},
      {replaced(kSmall, "<gpu dev=\"0x1\"", "<gpu dev=\"0x0\""), "it names 2 GPUs, 1 of them different"},
      {replaced(kSmall, "nchannels=\"2\"", "nchannels=\"3\""), "nchannels is 3, and there are 2"},
      {replaced(kSmall, "speedintra=\"22.5\"", "speedintra=\"fast\""), "speedintra 'fast' is no number"}};
  for (const auto& [text, message] : cases) {
    CAPTURE(message);
    CAPTURE(wrong(text));
    CHECK(wrong(text).find(message) != std::string::npos);
  }
}

}  // namespace athanor
