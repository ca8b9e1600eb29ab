#include "models/nccl/machine/mesh.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/nccl/machine/search.hpp"
#include "tests/models/nccl/systems.hpp"

namespace athanor {

namespace {

using testing::preset_system;
using testing::shape;

using Ways = std::vector<std::vector<std::uint32_t>>;
using Uses = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;

/// How often each ordered pair follows each other.
Uses uses(const Ways& ways, bool closed) {
  Uses found;
  for (const auto& way : ways) {
    for (std::size_t i = 0; i + 1 < way.size(); ++i) { ++found[{way[i], way[i + 1]}]; }
    if (closed) { ++found[{way.back(), way.front()}]; }
  }
  return found;
}

bool each_is(const Uses& found, std::uint32_t count, int times) {
  return found.size() == std::size_t{count} * (count - 1) &&
         std::all_of(found.begin(), found.end(), [&](const auto& pair) { return pair.second == times; });
}

bool are_permutations(const Ways& ways, std::uint32_t count) {
  return std::all_of(ways.begin(), ways.end(), [&](const auto& way) {
    return way.size() == count && std::set<std::uint32_t>(way.begin(), way.end()).size() == count &&
           *std::max_element(way.begin(), way.end()) == count - 1;
  });
}

}  // namespace

TEST_CASE("rings of a mesh go over every link twice each way, chains over every link once") {
  for (std::uint32_t count = 3; count <= 17; ++count) {
    CAPTURE(count);
    const Ways rings = mesh_rings(count);
    CHECK(rings.size() == 2 * (count - 1));
    CHECK(are_permutations(rings, count));
    CHECK(each_is(uses(rings, true), count, 2));
    if (count % 2 == 1) { continue; }
    const Ways chains = mesh_chains(count);
    CHECK(chains.size() == count);
    CHECK(are_permutations(chains, count));
    CHECK(each_is(uses(chains, false), count, 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      CHECK(chains[i].front() == i);
      CHECK(chains[i].back() == (i + count / 2) % count);
    }
  }
}

TEST_CASE("eight MI300X have 28 rings in a node and 32 across nodes, which use all links and all NICs alike") {
  const ChannelGraphs one = search_channels(preset_system("HGX-MI300X", 1), 1, {});
  CHECK(shape(one.ring) == "28x12/12 NVL/PIX");
  CHECK(one.tree.count() == 28);
  CHECK(one.nvls.count() == 0);
  const ChannelGraphs two = search_channels(preset_system("HGX-MI300X", 2), 2, {});
  CHECK(shape(two.ring) == "32x10.5/10.5 NVL/PIX");
  std::map<std::uint32_t, int> in;
  std::map<std::uint32_t, int> out;
  for (const NcclChannel& channel : two.ring.channels) {
    ++in[*channel.in];
    ++out[*channel.out];
    CHECK(*channel.in == channel.gpus.front());
    CHECK(*channel.out == channel.gpus.back());
  }
  for (std::uint32_t nic = 0; nic < 8; ++nic) {
    CHECK(in[nic] == 4);
    CHECK(out[nic] == 4);
  }
}

TEST_CASE("what is no full mesh of GPUs from AMD is searched") {
  const NcclSystem mesh = preset_system("HGX-MI300X", 2);
  CHECK_FALSE(xgmi_mesh_graphs(NcclPaths(preset_system("DGX-1V", 1), {}), false));
  CHECK_FALSE(xgmi_mesh_graphs(NcclPaths(preset_system("DGX-H100", 1), {}), false));
  CHECK_FALSE(xgmi_mesh_graphs(NcclPaths(with_gpus(mesh, {0, 1}), {}), false));
  CHECK_FALSE(xgmi_mesh_graphs(NcclPaths(with_gpus(mesh, {0, 1, 2}), {}), true));
  CHECK(xgmi_mesh_graphs(NcclPaths(with_gpus(mesh, {0, 1, 2}), {}), false));
  CHECK(xgmi_mesh_graphs(NcclPaths(with_gpus(mesh, {2, 3, 6, 7}), {}), true));
}

}  // namespace athanor
