#include "models/nccl/machine/search.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "models/nccl/machine/channel_nics.hpp"
#include "models/nccl/machine/link_rates.hpp"
#include "tests/models/nccl/systems.hpp"

namespace athanor {

namespace {

using testing::node_system;
using testing::preset_system;
using testing::route;
using testing::shape;

/// What NCCL 2.30 finds: graphs for one node and for several.
struct Known {
  std::string node;
  std::uint32_t nodes;
  std::string ring, tree, nvls;
  NcclPattern tree_pattern;
  std::uint32_t cross_nic;
};

const std::vector<Known>& known() {
  constexpr NcclPattern kTree = NcclPattern::tree;
  constexpr NcclPattern kBalanced = NcclPattern::balanced_tree;
  static const std::vector<Known> all{
      {"DGX-A100", 1, "12x20/20 NVL/PIX", "12x20/20 NVL/PIX", "", kBalanced, 0},
      {"DGX-A100", 4, "8x24/24 NVL/PIX", "8x30/24 NVL/PIX", "", kBalanced, 0},
      {"DGX-H100", 1, "12x30/30 NVL/PIX", "12x30/30 NVL/PIX", "8x40/60 NVL/PIX", kBalanced, 0},
      {"DGX-H100", 4, "8x48/48 NVL/PIX", "8x48/48 NVL/PIX", "8x40/48 NVL/PIX", kTree, 2},
      {"DGX-B200", 1, "16x45/45 NVL/PIX", "16x45/45 NVL/PIX", "8x80/90 NVL/PIX", kBalanced, 0},
      {"DGX-B200", 4, "8x48/48 NVL/PXN", "8x96/48 NVL/PIX", "8x48/48 NVL/PIX", kTree, 0},
      {"PCIe-8xL40S", 1, "1x10/10 SYS/PIX", "1x10/10 SYS/PIX", "", kBalanced, 0},
      {"PCIe-8xL40S", 2, "2x10/10 SYS/SYS", "2x9/9 SYS/SYS", "", kBalanced, 2},
  };
  return all;
}

/// Every GPU once.
bool visits_all(const NcclChannel& channel, std::uint32_t gpus) {
  const std::set<std::uint32_t> visited(channel.gpus.begin(), channel.gpus.end());
  return channel.gpus.size() == gpus && visited.size() == gpus && *visited.rbegin() == gpus - 1;
}

/// Links and levels that cannot be: nothing is found wider than what there is.
void check_sound(const ChannelGraphs& graphs, std::uint32_t gpus) {
  CHECK(graphs.ring.count() >= 1);
  CHECK(graphs.tree.count() >= 1);
  for (const ChannelGraph* graph : {&graphs.ring, &graphs.tree, &graphs.collnet_chain}) {
    for (const NcclChannel& channel : graph->channels) { CHECK(visits_all(channel, gpus)); }
  }
  for (const NcclChannel& channel : graphs.collnet_direct.channels) { CHECK(channel.gpus.size() == 1); }
  std::set<std::uint32_t> heads;
  for (const NcclChannel& channel : graphs.nvls.channels) {
    REQUIRE(channel.gpus.size() == 1);
    CHECK(heads.insert(channel.gpus.front()).second);
  }
}

}  // namespace

TEST_CASE("the search finds on presets what NCCL finds on such machines") {
  for (const Known& expected : known()) {
    CAPTURE(expected.node);
    CAPTURE(expected.nodes);
    const NcclSystem system = preset_system(expected.node, expected.nodes);
    const ChannelGraphs graphs = search_channels(system, expected.nodes, {});
    CHECK(shape(graphs.ring) == expected.ring);
    CHECK(graphs.ring.pattern == NcclPattern::ring);
    CHECK(graphs.ring.cross_nic == expected.cross_nic);
    CHECK(shape(graphs.tree) == expected.tree);
    CHECK(graphs.tree.pattern == expected.tree_pattern);
    CHECK((graphs.nvls.count() == 0) == expected.nvls.empty());
    if (!expected.nvls.empty()) { CHECK(shape(graphs.nvls) == expected.nvls); }
    check_sound(graphs, 8);
  }
}

TEST_CASE("more than two nodes search as two do") {
  const NcclSystem system = preset_system("DGX-H100", 2);
  const ChannelGraphs two = search_channels(system, 2, {});
  const ChannelGraphs many = search_channels(system, 128, {});
  CHECK(two.ring.channels == many.ring.channels);
  CHECK(two.tree.channels == many.tree.channels);
  CHECK(two.nvls.channels == many.nvls.channels);
}

TEST_CASE("one node with NVSwitches goes along its GPUs on all channels") {
  const ChannelGraphs graphs = search_channels(preset_system("DGX-H100", 1), 1, {});
  for (const NcclChannel& channel : graphs.ring.channels) { CHECK(route(channel) == "-: 0 1 2 3 4 5 6 7 :-"); }
}

TEST_CASE("rings of several DGX H100 leave by the NIC beside the last GPU, in pairs of each other's reverse") {
  const ChannelGraphs graphs = search_channels(preset_system("DGX-H100", 2), 2, {});
  REQUIRE(graphs.ring.count() == 8);
  CHECK(route(graphs.ring.channels[0]) == "0: 0 7 6 5 4 3 2 1 :1");
  CHECK(route(graphs.ring.channels[1]) == "1: 1 2 3 4 5 6 7 0 :0");
  CHECK(route(graphs.ring.channels[2]) == "2: 2 1 0 7 6 5 4 3 :3");
  for (std::uint32_t c = 0; c < 8; c += 2) {
    std::vector<std::uint32_t> back = graphs.ring.channels[c + 1].gpus;
    std::reverse(back.begin(), back.end());
    CHECK(graphs.ring.channels[c].gpus == back);
  }
}

TEST_CASE("rings of several DGX A100 enter and leave by one NIC, through the two GPUs of its switch") {
  const ChannelGraphs graphs = search_channels(preset_system("DGX-A100", 2), 2, {});
  REQUIRE(graphs.ring.count() == 8);
  CHECK(route(graphs.ring.channels[0]) == "0: 0 7 6 5 4 3 2 1 :0");
  for (const NcclChannel& channel : graphs.ring.channels) {
    CHECK(channel.in == channel.out);
    CHECK(channel.gpus.front() / 2 == channel.gpus.back() / 2);
  }
}

TEST_CASE("odd nodes swap the channels of each pair where they leave by another NIC than they enter") {
  const ChannelGraphs graphs = search_channels(preset_system("DGX-H100", 2), 2, {});
  const auto orders = ring_orders(graphs.ring);
  REQUIRE(orders->even.size() == 8);
  REQUIRE(orders->odd.size() == 8);
  for (std::size_t c = 0; c < 8; ++c) {
    CHECK(orders->even[c] == graphs.ring.channels[c].gpus);
    CHECK(orders->odd[c] == orders->even[c ^ 1U]);
    // What leaves an even node by the NIC of a rail enters an odd one by the NIC of that rail.
    CHECK(graphs.ring.channels[c].out == graphs.ring.channels[c ^ 1U].in);
  }
  const auto same = ring_orders(search_channels(preset_system("DGX-A100", 2), 2, {}).ring);
  CHECK(same->odd == same->even);
  CHECK(ring_orders(graphs.ring, 3)->odd == ring_orders(graphs.ring, 3)->even);
}

TEST_CASE("CollNet chains and its direct form are searched for where it is on") {
  SearchSettings settings;
  settings.collnet = true;
  const NcclSystem h100 = preset_system("DGX-H100", 2);
  const ChannelGraphs graphs = search_channels(h100, 2, settings);
  CHECK(shape(graphs.collnet_chain) == "8x48/48 NVL/PIX");
  CHECK(shape(graphs.collnet_direct) == "8x48/48 NVL/PIX");
  const NcclSystem a100 = preset_system("DGX-A100", 2);
  const ChannelGraphs faster = search_channels(a100, 2, settings);
  CHECK(faster.collnet_chain.speed_intra > faster.collnet_chain.speed_inter);
  CHECK(search_channels(h100, 1, settings).collnet_chain.count() == 0);
  CHECK(search_channels(h100, 2, {}).collnet_chain.count() == 0);
}

TEST_CASE("without permission no channel leaves by another NIC than it enters") {
  SearchSettings settings;
  settings.cross_nic = 0;
  for (const char* node : {"DGX-H100", "PCIe-8xL40S"}) {
    const ChannelGraphs graphs = search_channels(preset_system(node, 2), 2, settings);
    CHECK(graphs.ring.cross_nic == 0);
    for (const NcclChannel& channel : graphs.ring.channels) { CHECK(channel.in == channel.out); }
  }
}

/// By how many of a ring's connections between nodes data leaves one rail for another: channel by channel, from even
/// nodes to odd ones and back.
std::uint32_t crossings(const NcclSystem& system, const SearchSettings& settings) {
  const ChannelGraphs graphs = search_channels(system, 2, settings);
  const auto nics = graph_nics(graphs.ring, NcclPaths(system, settings));
  const auto orders = ring_orders(graphs.ring);
  std::uint32_t found = 0;
  for (std::uint32_t c = 0; c < graphs.ring.count(); ++c) {
    for (const std::uint32_t node : {0U, 1U}) {
      const auto& here = node == 0 ? orders->even[c] : orders->odd[c];
      const auto& there = node == 0 ? orders->odd[c] : orders->even[c];
      const std::uint32_t last = node * nics->places + here.back();
      const std::uint32_t first = (1 - node) * nics->places + there.front();
      const NicChoice choice = nics_between({nics, last}, {nics, first}, c);
      found += choice.out != choice.in ? 1 : 0;
    }
  }
  return found;
}

TEST_CASE("NCCL_CROSS_NIC decides by which NIC the far side receives: 0 and 2 stay on their rail, 1 does not") {
  const NcclSystem h100 = preset_system("DGX-H100", 2);
  for (const std::uint32_t cross : {0U, 1U, 2U}) {
    CAPTURE(cross);
    const SearchSettings settings{.version = {2, 30, 7}, .cross_nic = cross};
    CHECK(search_channels(h100, 2, settings).ring.cross_nic == cross);
    CHECK((crossings(h100, settings) > 0) == (cross == 1));
  }
}

TEST_CASE("before 2.20 no channels were paired: 1 and 2 alike let them cross rails where that is faster") {
  const NcclSystem h100 = preset_system("DGX-H100", 2);
  const NcclSystem a100 = preset_system("DGX-A100", 2);
  for (const std::uint32_t cross : {1U, 2U}) {
    CAPTURE(cross);
    const SearchSettings settings{.version = {2, 19, 4}, .cross_nic = cross};
    CHECK(search_channels(h100, 2, settings).ring.cross_nic == 1);
    CHECK(crossings(h100, settings) > 0);
    CHECK(search_channels(a100, 2, settings).ring.cross_nic == 0);  // nothing to gain
    CHECK(crossings(a100, settings) == 0);
  }
  CHECK(crossings(h100, {.version = {2, 19, 4}, .cross_nic = 0}) == 0);
}

TEST_CASE("candidate rates descend, and came with versions of NCCL") {
  const auto has = [](std::uint32_t capability, bool across, NcclVersion version, std::int64_t rate) {
    const auto speeds = search_speeds(capability, across, version);
    CHECK(std::is_sorted(speeds.rbegin(), speeds.rend()));
    return std::find(speeds.begin(), speeds.end(), rate) != speeds.end();
  };
  CHECK(has(100, false, {2, 29, 2}, 45'000));
  CHECK_FALSE(has(100, false, {2, 28, 9}, 45'000));
  CHECK(has(100, true, {2, 29, 7}, 80'000));
  CHECK_FALSE(has(100, true, {2, 29, 2}, 80'000));
  CHECK(has(100, true, {2, 30, 0}, 86'000));
  CHECK_FALSE(has(100, true, {2, 29, 7}, 86'000));
  for (const std::int64_t rate : {50'000, 11'000}) {
    CHECK(has(90, false, {2, 27, 0}, rate));
    CHECK_FALSE(has(90, false, {2, 18, 5}, rate));
  }
  CHECK(has(90, true, {2, 27, 0}, 22'000));
  CHECK_FALSE(has(90, true, {2, 18, 5}, 22'000));
  CHECK(has(80, true, {2, 18, 5}, 28'000));
  CHECK_FALSE(has(80, false, {2, 30, 0}, 28'000));
}

TEST_CASE("early versions count less for the NVLinks of Hopper") {
  SearchSettings settings;
  settings.version = {2, 18, 5};
  const ChannelGraphs graphs = search_channels(preset_system("DGX-H100", 1), 1, settings);
  CHECK(graphs.ring.count() * graphs.ring.speed_intra <= 18 * 20.0);
  CHECK(graphs.ring.count() * graphs.ring.speed_intra > 18 * 20.0 / 2);
}

TEST_CASE("every preset, alone and among others, whole and in part, has rings and trees over all its GPUs") {
  for (const char* node : {"DGX-1V", "DGX-2", "DGX-A100", "DGX-H100", "PCIe-8xL40S", "PCIe-8xA100", "AWS-p4d",
                           "GCP-A3-High", "Kestrel-GPU", "Alps-GH200", "HGX-MI300X", "AWS-g4dn-metal"}) {
    CAPTURE(node);
    for (const std::uint32_t nodes : {1U, 2U}) {
      CAPTURE(nodes);
      const NcclSystem whole = preset_system(node, nodes);
      const auto gpus = static_cast<std::uint32_t>(whole.gpus.size());
      for (const std::uint32_t used : {1U, 2U, 3U, gpus * 3 / 4, gpus}) {
        CAPTURE(used);
        std::vector<std::uint32_t> ranks(used);
        std::iota(ranks.begin(), ranks.end(), 0);
        SearchSettings settings;
        settings.collnet = true;
        check_sound(search_channels(with_gpus(whole, ranks), nodes, settings), used);
      }
    }
  }
}

TEST_CASE("one GPU to a node makes rings and trees of one rank each, on all its NICs") {
  const ChannelGraphs graphs = search_channels(with_gpus(preset_system("PCIe-8xL40S", 2), {0}), 2, {});
  CHECK(graphs.ring.count() >= 1);
  CHECK(route(graphs.ring.channels[0]) == "0: 0 :0");
  CHECK(graphs.tree.pattern == NcclPattern::tree);
  CHECK(graphs.nvls.count() == 0);
}

TEST_CASE("one GPU behind C2C has a few channels, which together take what its NIC has") {
  for (const NcclVersion version : {NcclVersion{2, 20, 5}, NcclVersion{2, 27, 5}, NcclVersion{2, 30, 7}}) {
    CAPTURE(version.minor);
    SearchSettings settings;
    settings.version = version;
    const ChannelGraphs graphs = search_channels(with_gpus(preset_system("Alps-GH200", 2), {0}), 2, settings);
    for (const ChannelGraph* graph : {&graphs.ring, &graphs.tree}) {
      CHECK(graph->count() <= 4);
      CHECK(graph->speed_inter * graph->count() == doctest::Approx(24));  // of 25 GB/s, in NCCL's steps
    }
  }
}

TEST_CASE("two consumer cards go through the CPU") {
  const NcclSystem system = node_system(R"({"gpu": "RTX-2080-Ti", "gpus": 2, "cpu":
    {"arch": "x86_64", "vendor": "GenuineIntel", "family": 6, "model": 85}, "pcie": [
      {"socket": 0, "gpus": [0], "switch": false}, {"socket": 0, "gpus": [1], "switch": false}]})",
                                        1);
  const ChannelGraphs graphs = search_channels(system, 1, {});
  CHECK(graphs.ring.type_intra == NcclPath::phb);
  CHECK(visits_all(graphs.ring.channels[0], 2));
}

}  // namespace athanor
