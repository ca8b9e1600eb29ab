#include "models/nccl/machine/mesh.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// first, first + 1, first - 1, first + 2, ... modulo `count`: all differences from 1 to count - 1 once.
std::vector<std::uint32_t> zigzag(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t away = (i + 1) / 2;
    places.push_back((first + (i % 2 == 1 ? away : count - away)) % count);
  }
  return places;
}

/// All GPUs from AMD, every two joined directly and at one rate; nothing else stands between.
bool is_mesh(const NcclPaths& paths) {
  const NcclSystem& system = paths.system();
  if (system.nvs || system.gpus.size() < 3) { return false; }
  const std::int64_t rate = paths.gpu_to_gpu(0, 1).rate;
  for (std::uint32_t a = 0; a < system.gpus.size(); ++a) {
    if (system.gpus[a].architecture.empty()) { return false; }
    for (std::uint32_t b = 0; b < system.gpus.size(); ++b) {
      const NcclRoute& route = paths.gpu_to_gpu(a, b);
      if (a != b && (route.type != NcclPath::nvl || route.hops() != 1 || route.rate != rate)) { return false; }
    }
  }
  return true;
}

void add_nics(const NcclPaths& paths, ChannelGraph& graph, const std::vector<std::uint32_t>& places) {
  const std::uint32_t in = *paths.local_net(places.front(), 0);
  const std::uint32_t out = *paths.local_net(places.back(), 0);
  graph.type_inter = std::max(
      {graph.type_inter, paths.gpu_to_net(places.front(), in).type, paths.gpu_to_net(places.back(), out).type});
  graph.channels.back().in = paths.system().nets[in].dev;
  graph.channels.back().out = paths.system().nets[out].dev;
  graph.latency_inter = paths.system().nets[in].latency;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> mesh_rings(std::uint32_t count) {
  require(count >= 3, "{} places make no mesh", count);
  std::vector<std::vector<std::uint32_t>> rings;
  // Zigzags through all places but the last use every two of them twice, and each as their ends twice.
  for (std::uint32_t first = 0; first + 1 < count; ++first) {
    rings.push_back(zigzag(first, count - 1));
    rings.back().insert(rings.back().begin(), count - 1);
  }
  const std::size_t forward = rings.size();
  for (std::size_t r = 0; r < forward; ++r) { rings.emplace_back(rings[r].rbegin(), rings[r].rend()); }
  return rings;
}

std::vector<std::vector<std::uint32_t>> mesh_chains(std::uint32_t count) {
  require(count > 0 && count % 2 == 0, "{} places have no chains that go over every pair once", count);
  std::vector<std::vector<std::uint32_t>> chains;
  for (std::uint32_t first = 0; first < count; ++first) { chains.push_back(zigzag(first, count)); }
  return chains;
}

std::optional<ChannelGraphs> xgmi_mesh_graphs(const NcclPaths& paths, bool across) {
  const NcclSystem& system = paths.system();
  const auto gpus = static_cast<std::uint32_t>(system.gpus.size());
  if (!is_mesh(paths)) { return std::nullopt; }
  for (std::uint32_t g = 0; across && g < gpus; ++g) {
    if (gpus % 2 == 1 || !paths.local_net(g, 0)) { return std::nullopt; }
  }
  std::vector<std::vector<std::uint32_t>> orders = across ? mesh_chains(gpus) : mesh_rings(gpus);
  // RCCL lists each of them so often (src/graph/rome_models.cc, models 79 and 81: 28 on one node, 32 doubled between).
  const std::vector<std::vector<std::uint32_t>> once = orders;
  for (std::uint32_t i = 1; i < (across ? 4U : 2U); ++i) { orders.insert(orders.end(), once.begin(), once.end()); }
  ChannelGraphs graphs;
  ChannelGraph& ring = graphs.ring;
  ring.cross_nic = across ? 1 : 0;
  ring.speed_intra =
      static_cast<double>(paths.gpu_to_gpu(0, 1).rate) / 1000 * (gpus - 1) / static_cast<double>(orders.size());
  ring.speed_inter = ring.speed_intra;
  ring.type_intra = NcclPath::nvl;
  ring.type_inter = across ? NcclPath::loc : NcclPath::pix;
  ring.same_channels = false;
  for (const std::vector<std::uint32_t>& order : orders) {
    ring.channels.emplace_back();
    for (const std::uint32_t place : order) { ring.channels.back().gpus.push_back(system.gpus[place].rank); }
    if (across) { add_nics(paths, ring, order); }
  }
  graphs.tree = ring;
  graphs.tree.pattern = NcclPattern::tree;
  graphs.tree.cross_nic = 0;
  for (NcclChannel& channel : graphs.tree.channels) { channel.out = channel.in; }
  return graphs;
}

}  // namespace athanor
