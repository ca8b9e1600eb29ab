#include "models/nccl/machine/graph_file.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "models/nccl/machine/xml_reader.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

constexpr double kMostSpeed = 1e6;    // GB/s
constexpr double kMostLatency = 1e9;  // us
constexpr std::int64_t kMostChannels = 64;

// Ids of graphs.
constexpr std::uint32_t kRing = 0;
constexpr std::uint32_t kTree = 1;
constexpr std::uint32_t kChain = 2;
constexpr std::uint32_t kNvls = 3;
constexpr std::uint32_t kDirect = 4;

bool names_head(NcclPattern pattern) { return pattern == NcclPattern::nvls || pattern == NcclPattern::collnet_direct; }

/// Reads one file.
class GraphReader {
 public:
  GraphReader(std::string_view text, const std::string& file, const NcclSystem& system, Problems& problems)
      : xml_(text, file, problems), system_(system) {}

  ChannelGraphs read() {
    const pugi::xml_node all = xml_.root("graphs", "give what NCCL_GRAPH_DUMP_FILE writes");
    if (!all) { return {}; }
    if (xml_.count(all, "version") != 1) {
      xml_.problem(all, "wrong-version", fmt::format("version \"{}\" is not known", all.attribute("version").value()),
                   "NCCL's is 1");
      return {};
    }
    for (const pugi::xml_node graph : all.children("graph")) { add(graph); }
    if (xml_.ok() && (graphs_.ring.count() == 0 || graphs_.tree.count() == 0)) {
      xml_.problem(all, "missing-graph",
                   fmt::format("there is no graph of {}", graphs_.ring.count() == 0 ? "rings: id 0" : "trees: id 1"),
                   "give the whole file");
    }
    return std::move(graphs_);
  }

 private:
  void add(const pugi::xml_node& xml) {
    const std::uint32_t id = xml_.count(xml, "id");
    ChannelGraph graph = read(xml);
    // Before 2.24 both graphs of CollNet had the id 2.
    const bool direct = graph.pattern == NcclPattern::collnet_direct;
    switch (id) {
      case kRing: graphs_.ring = std::move(graph); return;
      case kTree: graphs_.tree = std::move(graph); return;
      case kChain: (direct ? graphs_.collnet_direct : graphs_.collnet_chain) = std::move(graph); return;
      case kNvls: graphs_.nvls = std::move(graph); return;
      case kDirect: graphs_.collnet_direct = std::move(graph); return;
      default: xml_.problem(xml, "unknown-graph", fmt::format("id {} is no graph", id), "0 to 4 are");
    }
  }

  ChannelGraph read(const pugi::xml_node& xml) {
    ChannelGraph graph;
    const std::uint32_t pattern = xml_.count(xml, "pattern");
    if (pattern < 1 || pattern > 6) {
      xml_.problem(xml, "unknown-pattern", fmt::format("pattern {} is none", pattern), "1 to 6 are");
      return graph;
    }
    graph.pattern = static_cast<NcclPattern>(pattern);
    graph.cross_nic = xml_.count(xml, "crossnic", 2);
    graph.speed_intra = xml_.real(xml, "speedintra", kMostSpeed);
    graph.speed_inter = xml_.real(xml, "speedinter", kMostSpeed);
    graph.latency_inter = xml_.real(xml, "latencyinter", kMostLatency);
    graph.type_intra = path_type(xml, "typeintra");
    graph.type_inter = path_type(xml, "typeinter");
    graph.same_channels = xml_.count(xml, "samechannels", 1) == 1;
    for (const pugi::xml_node channel : xml.children("channel")) {
      graph.channels.push_back(read_channel(channel, graph.pattern));
    }
    if (xml_.count(xml, "nchannels", kMostChannels) != graph.count()) {
      xml_.problem(xml, "wrong-count",
                   fmt::format("nchannels is {}, and there are {}", xml.attribute("nchannels").value(), graph.count()),
                   "give the whole file");
    }
    return graph;
  }

  NcclPath path_type(const pugi::xml_node& xml, const char* attribute) {
    const std::string_view text = xml.attribute(attribute).value();
    for (std::uint8_t type = 0; type <= static_cast<std::uint8_t>(NcclPath::dis); ++type) {
      if (name(static_cast<NcclPath>(type)) == text) { return static_cast<NcclPath>(type); }
    }
    xml_.problem(xml, "unknown-type", fmt::format("{} '{}' is no type of path", attribute, text),
                 "write NVL, PIX, ...");
    return NcclPath::dis;
  }

  NcclChannel read_channel(const pugi::xml_node& xml, NcclPattern pattern) {
    NcclChannel channel;
    for (const pugi::xml_node each : xml.children()) {
      if (std::string_view(each.name()) == "gpu") {
        if (const auto gpu = read_gpu(each)) { channel.gpus.push_back(*gpu); }
      } else if (std::string_view(each.name()) == "net") {
        (channel.gpus.empty() ? channel.in : channel.out) = read_net(each);
      }
    }
    if (names_head(pattern)) {
      if (channel.gpus.empty()) { xml_.problem(xml, "no-gpu", "it has no head"); }
      channel.gpus.resize(std::min<std::size_t>(1, channel.gpus.size()));
      return channel;
    }
    const std::set<std::uint32_t> visited(channel.gpus.begin(), channel.gpus.end());
    if (xml_.ok() && (visited.size() != system_.gpus.size() || channel.gpus.size() != visited.size())) {
      xml_.problem(xml, "wrong-count",
                   fmt::format("it names {} GPUs, {} of them different, and the node has {}", channel.gpus.size(),
                               visited.size(), system_.gpus.size()),
                   "a channel goes through every GPU once");
    }
    return channel;
  }

  std::optional<std::uint32_t> read_gpu(const pugi::xml_node& xml) {
    const bool by_dev = !xml.attribute("dev").empty();
    const std::uint64_t number = by_dev ? xml_.identifier(xml, "dev") : xml_.count(xml, "rank");
    for (const NcclSystem::Gpu& gpu : system_.gpus) {
      if ((by_dev ? gpu.dev : gpu.rank) == number) { return gpu.rank; }
    }
    xml_.problem(xml, "unknown-gpu", fmt::format("GPU {} is not on this node", number),
                 fmt::format("it has {}", system_.gpus.size()));
    return std::nullopt;
  }

  std::optional<std::uint32_t> read_net(const pugi::xml_node& xml) {
    const std::uint64_t number = xml_.identifier(xml, "dev");
    for (const NcclSystem::Net& net : system_.nets) {
      if (net.dev == number) { return net.dev; }
    }
    xml_.problem(xml, "unknown-nic", fmt::format("NIC {} is not on this node", number),
                 fmt::format("it has {}", system_.nets.size()));
    return std::nullopt;
  }

  XmlReader xml_;
  const NcclSystem& system_;
  ChannelGraphs graphs_;
};

}  // namespace

ChannelGraphs parse_nccl_graphs(std::string_view text, const std::string& file, const NcclSystem& system,
                                Problems& problems) {
  return GraphReader(text, file, system, problems).read();
}

ChannelGraphs read_nccl_graphs(const FileReader& files, const std::string& name, const NcclSystem& system,
                               Problems& problems) {
  return parse_nccl_graphs(files.text(name), files.path(name), system, problems);
}

}  // namespace athanor
