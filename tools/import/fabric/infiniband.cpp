#include "tools/import/fabric/infiniband.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "tools/import/imported_rows.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Speed {
  std::string_view name;
  std::int64_t lane;  ///< bits per second after the line code: 8b/10b up to QDR, 64b/66b from FDR10 to EDR
};
constexpr std::array<Speed, 9> kSpeeds{{{"SDR", 2'000'000'000},
                                        {"DDR", 4'000'000'000},
                                        {"QDR", 8'000'000'000},
                                        {"FDR10", 10'000'000'000},
                                        {"FDR", 13'636'363'636},
                                        {"EDR", 25'000'000'000},
                                        {"HDR", 50'000'000'000},
                                        {"NDR", 100'000'000'000},
                                        {"XDR", 200'000'000'000}}};

/// A text in quotes that begins at or behind `from`; moves `from` behind it.
std::optional<std::string_view> quoted(std::string_view line, std::size_t& from) {
  const std::size_t open = line.find('"', from);
  const std::size_t close = open == std::string_view::npos ? open : line.find('"', open + 1);
  if (close == std::string_view::npos) { return std::nullopt; }
  from = close + 1;
  return line.substr(open + 1, close - open - 1);
}

/// The number in brackets at `from`; moves `from` behind them.
std::optional<std::uint32_t> bracketed(std::string_view line, std::size_t& from) {
  if (from >= line.size() || line[from] != '[') { return std::nullopt; }
  const std::size_t close = line.find(']', from);
  if (close == std::string_view::npos) { return std::nullopt; }
  const auto number = whole_number_of(line.substr(from + 1, close - from - 1));
  from = close + 1;
  if (!number || *number < 0 || *number > 65'535) { return std::nullopt; }
  return static_cast<std::uint32_t>(*number);
}

/// The last word such as "4xHDR": before it may stand a description, behind it details.
std::string_view speed_word(std::string_view line) {
  std::string_view last;
  for (const std::string_view word : words_of_line(line)) {
    const std::size_t x = word.find('x');
    const bool lanes = x != std::string_view::npos && x > 0 && whole_number_of(word.substr(0, x)).has_value();
    if (lanes && (word.ends_with("DR") || word.ends_with("FDR10"))) { last = word; }
  }
  return last;
}

/// "node2" before "node10".
bool comes_before(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    return text.substr(0, end);
  };
  while (!a.empty() && !b.empty()) {
    const auto left = whole_number_of(digits(a));
    const auto right = whole_number_of(digits(b));
    if (left && right && *left != *right) { return *left < *right; }
    const std::size_t step_a = left && right ? digits(a).size() : 1;
    const std::size_t step_b = left && right ? digits(b).size() : 1;
    if (!(left && right) && a[0] != b[0]) { return a[0] < b[0]; }
    a.remove_prefix(step_a);
    b.remove_prefix(step_b);
  }
  return a.size() < b.size();
}

/// Collects the records of a fabric, then makes the graph.
class Discovery {
 public:
  Discovery(Time latency, FabricDraft& draft) : latency_(latency), draft_(draft) {}

  void read(std::string_view text) {
    for_each_line(text, [&](int number, std::string_view line) { take(number, line); });
    if (nodes_.empty()) {
      draft_.problem(1, "not-ibnetdiscover", "there is no switch and no channel adapter",
                     "give what ibnetdiscover prints, with its lines Switch and Ca");
      return;
    }
    if (!draft_.ok()) { return; }
    add_devices();
    if (draft_.ok() && draft_.devices().empty()) {
      draft_.problem(1, "nothing-joined", "no device has a port with a cable",
                     "give the whole output; a port that is down joins nothing");
    }
    if (!draft_.ok()) { return; }
    add_cables();
    if (draft_.ok()) { add_tiers(); }
    if (draft_.ok()) { draft_.check_connected("give the whole output; a port that is down joins nothing"); }
  }

 private:
  enum class Type : std::uint8_t { adapter, aggregation, network_switch, router };
  struct Port {
    std::uint32_t number = 0;
    std::string_view peer;  ///< "S-<guid>"
    std::uint32_t peer_port = 0;
    Bandwidth rate;
    int line = 0;
  };
  struct Node {
    Type type = Type::adapter;
    std::string_view guid;  ///< "H-<guid>"
    std::string_view description;
    int line = 0;
    std::vector<Port> ports;
    std::vector<std::uint32_t> devices;  ///< by port of an adapter; one of a switch
  };

  void take(int number, std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || line[begin] == '#') { return; }
    line.remove_prefix(begin);
    const std::string_view first = line.substr(0, line.find_first_of(" \t"));
    if (line[0] == '[') {
      add_port(number, line);
    } else if (first == "Switch") {
      add_node(number, line, Type::network_switch);
    } else if (first == "Ca") {
      add_node(number, line, Type::adapter);
    } else if (first == "Rt") {
      add_node(number, line, Type::router);
    }
  }

  void add_node(int number, std::string_view line, Type type) {
    std::size_t at = 0;
    const auto guid = quoted(line, at);
    if (!guid || line.find('#') < at) {
      draft_.problem(number, "cut-off", "this device has no GUID in quotes", "give the whole output");
      return;
    }
    Node node;
    node.type = type;
    node.guid = *guid;
    node.description = quoted(line, at).value_or("");
    node.line = number;
    if (node.description.find("Aggregation Node") != std::string_view::npos) { node.type = Type::aggregation; }
    const auto [known, is_new] = by_guid_.emplace(*guid, static_cast<std::uint32_t>(nodes_.size()));
    if (!is_new) {
      draft_.problem(number, "duplicate-device",
                     fmt::format("{} comes a second time; it is on line {} already", *guid, nodes_[known->second].line),
                     "take one of them out");
    }
    nodes_.push_back(std::move(node));
  }

  void add_port(int number, std::string_view line) {
    std::size_t at = 0;
    Port port;
    port.line = number;
    const auto own = bracketed(line, at);
    const auto peer = quoted(line, at);
    const auto far = bracketed(line, at);
    if (!own || !peer || !far) {
      draft_.problem(number, "cut-off", "this is no port: [NUMBER] \"PEER\"[NUMBER] is missing",
                     "give the whole output");
      return;
    }
    if (nodes_.empty()) {
      draft_.problem(number, "no-device", "this port stands before any switch or adapter", "give the whole output");
      return;
    }
    const std::string_view word = speed_word(line.substr(at));
    const auto rate = infiniband_rate(word);
    if (!rate) {
      draft_.problem(number, "unknown-rate",
                     word.empty() ? "this port has no rate" : fmt::format("'{}' is no rate that is known", word),
                     "lanes and speed are such as 4xHDR; 4xSDR to 4xXDR are known");
      return;
    }
    nodes_.back().ports.push_back({*own, *peer, *far, *rate, number});
  }

  /// Descriptions are names where only one device has them.
  std::string name_of(const Node& node) {
    if (node.description.empty()) { return std::string(node.guid); }
    if (uses_[std::string(node.description)] == 1) { return std::string(node.description); }
    return fmt::format("{} {}", node.description, node.guid);
  }

  static bool left_out(const Node& node) { return node.type == Type::aggregation || node.type == Type::router; }

  /// Adapters in the order of their names, since that is the order of the ranks; then switches.
  void add_devices() {
    for (const Node& node : nodes_) { ++uses_[std::string(node.description)]; }
    std::size_t aggregation = 0;
    std::size_t routers = 0;
    std::size_t unplugged = 0;
    for (Node& node : nodes_) {
      aggregation += node.type == Type::aggregation ? 1 : 0;
      routers += node.type == Type::router ? 1 : 0;
      unplugged += node.type == Type::adapter && node.ports.empty() ? 1 : 0;
    }
    std::vector<Node*> kept;
    for (Node& node : nodes_) {
      if (!left_out(node)) { kept.push_back(&node); }
    }
    std::stable_sort(kept.begin(), kept.end(), [](const Node* a, const Node* b) {
      if (a->type != b->type) { return a->type < b->type; }
      return a->type == Type::adapter && comes_before(a->description, b->description);
    });
    for (Node* node : kept) { add_device(*node); }
    if (aggregation > 0) { draft_.note(fmt::format("{} aggregation nodes of SHARP are left out", aggregation)); }
    if (routers > 0) { draft_.note(fmt::format("{} routers are left out", routers)); }
    if (unplugged > 0) { draft_.note(fmt::format("{} adapters without a cable are left out", unplugged)); }
  }

  void add_device(Node& node) {
    const std::string name = name_of(node);
    if (node.type == Type::network_switch) {
      node.devices = {draft_.add(name, VertexKind::leaf, node.line)};
      return;
    }
    for (const Port& port : node.ports) {
      const bool single = node.ports.size() == 1;
      node.devices.push_back(
          draft_.add(single ? name : fmt::format("{} port {}", name, port.number), VertexKind::host, port.line));
    }
  }

  static std::uint32_t device_of(const Node& node, std::size_t port) {
    return node.type == Type::network_switch ? node.devices[0] : node.devices[port];
  }

  void add_cables() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      for (std::size_t p = 0; p < nodes_[n].ports.size(); ++p) { add_cable(n, p); }
    }
  }

  void add_cable(std::uint32_t n, std::size_t p) {
    const Node& node = nodes_[n];
    const Port& port = node.ports[p];
    const auto found = by_guid_.find(port.peer);
    if (found == by_guid_.end()) {
      draft_.problem(port.line, "unknown-device",
                     fmt::format("port {} of {} leads to {}, which is not there", port.number, node.guid, port.peer),
                     "give the whole output");
      return;
    }
    const Node& peer = nodes_[found->second];
    if (left_out(node) || left_out(peer)) { return; }
    const auto back = std::find_if(peer.ports.begin(), peer.ports.end(),
                                   [&](const Port& far) { return far.number == port.peer_port; });
    const bool agrees = back != peer.ports.end() && back->peer == node.guid && back->peer_port == port.number;
    if (!agrees || back->rate != port.rate) {
      draft_.problem(port.line, "ends-differ",
                     fmt::format("port {} of {} leads to port {} of {}, which says something else", port.number,
                                 node.guid, port.peer_port, peer.guid),
                     back == peer.ports.end() ? fmt::format("{} has no such port", peer.guid)
                                              : fmt::format("compare line {}", back->line));
      return;
    }
    // From the end that stands first in the file; a cable from a switch to itself stands there twice, too.
    if (back->line < port.line || found->second == n) { return; }
    const Bandwidth usable = scaled_down(port.rate, payload_share(Framing::infiniband));
    draft_.connect(device_of(node, p), device_of(peer, static_cast<std::size_t>(back - peer.ports.begin())),
                   {port.rate, usable, latency_, LinkKind::network});
  }

  /// A switch that an adapter is on is a leaf, the next ones spines, all others cores.
  void add_tiers() {
    std::vector<std::vector<std::uint32_t>> neighbours(draft_.devices().size());
    std::vector<std::uint32_t> tier(draft_.devices().size(), kNone);
    std::vector<std::uint32_t> reached;
    for (const FabricDraft::Cable& cable : draft_.cables()) {
      neighbours[cable.a].push_back(cable.b);
      neighbours[cable.b].push_back(cable.a);
    }
    for (std::uint32_t d = 0; d < tier.size(); ++d) {
      if (draft_.devices()[d].kind != VertexKind::host) { continue; }
      tier[d] = 0;
      reached.push_back(d);
    }
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const std::uint32_t next : neighbours[reached[i]]) {
        if (tier[next] != kNone) { continue; }
        tier[next] = tier[reached[i]] + 1;
        reached.push_back(next);
      }
    }
    for (std::uint32_t d = 0; d < tier.size(); ++d) {
      if (tier[d] == 2) { draft_.set_kind(d, VertexKind::spine); }
      if (tier[d] > 2) { draft_.set_kind(d, VertexKind::core); }
      if (tier[d] == 0) { draft_.set_kind(d, VertexKind::host); }
    }
  }

  Time latency_;
  FabricDraft& draft_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, std::uint32_t> by_guid_;  // never iterated
  std::unordered_map<std::string, std::uint32_t> uses_;          // of descriptions; never iterated
};

}  // namespace

std::optional<Bandwidth> infiniband_rate(std::string_view word) {
  const std::size_t x = word.find('x');
  if (x == std::string_view::npos) { return std::nullopt; }
  const auto lanes = whole_number_of(word.substr(0, x));
  if (!lanes || *lanes < 1 || *lanes > 64) { return std::nullopt; }
  for (const Speed& speed : kSpeeds) {
    if (word.substr(x + 1) == speed.name) { return Bandwidth{speed.lane * *lanes / 8}; }
  }
  return std::nullopt;
}

void import_ibnetdiscover(std::string_view text, Time latency, FabricDraft& draft) {
  Discovery(latency, draft).read(text);
}

}  // namespace athanor
