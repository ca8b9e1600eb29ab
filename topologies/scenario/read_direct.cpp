#include "topologies/scenario/read_text.hpp"

namespace athanor {

namespace {

using Form = ValueReader::Form;
using Kind = DirectText::Kind;
constexpr std::uint32_t kMostPerSwitch = 65'536;
constexpr std::uint32_t kMostGlobal = 4096;
constexpr std::uint32_t kMostPositions = 1U << 24U;
constexpr Range<std::uint32_t> kPerSwitch{1, kMostPerSwitch};

DirectText& begin(FabricText& fabric, Kind kind) {
  fabric.kind = FabricText::Kind::direct;
  fabric.direct.kind = kind;
  return fabric.direct;
}

void read_positions(ObjectReader& reader, DirectText& text) {
  reader.optional("positions", text.positions, "What stands at a position where there are no nodes",
                  {{"host", VertexKind::host}, {"gpu", VertexKind::gpu}});
}

void read_grid(ObjectReader& reader, FabricText& fabric, Kind kind) {
  DirectText& text = begin(fabric, kind);
  reader.required("dimensions", text.dimensions, "Positions in each dimension", {1, kMostPositions});
  reader.required_object("link", "From a position to its neighbour", [&](ObjectReader& fields) {
    NetworkLinkText link;
    read_network_link(fields, link);
    if (!fields.describing()) { fabric.link = link; }
  });
  read_positions(reader, text);
}

void read_twists(ValueReader& reader, DirectText& text) {
  const auto named = [&](ValueReader& value) {
    std::string word;
    value.read(word, {{"tpu_v4"}});
    text.tpu_v4_twists = word == "tpu_v4";
  };
  const auto rows = [&](ValueReader& value) {
    value.list([&](ValueReader& row) {
      std::vector<std::uint32_t> shifts;
      row.read(shifts, {0, kMostPositions});
      text.twists.push_back(std::move(shifts));
    });
  };
  reader.one_of({{Form::Type::string, named}, {Form::Type::list, rows}});
}

void read_cables(ValueReader& reader, std::vector<std::uint32_t>& cables) {
  const auto one = [&](ValueReader& value) {
    std::uint32_t count = 1;
    value.read(count, {1, kMostGlobal});
    cables = {count};
  };
  const auto several = [&](ValueReader& value) { value.read(cables, {1, kMostGlobal}); };
  reader.one_of({{Form::Type::number, one}, {Form::Type::list, several}});
}

void read_radix(ObjectReader& reader, FabricText& fabric) {
  reader.optional("radix", fabric.radix, "Ports of a switch; default: of the preset, else any", kPerSwitch);
}

void read_groups(ObjectReader& reader, FabricText& fabric) {
  read_ports(reader, fabric);
  read_radix(reader, fabric);
  read_network_link(reader, "global_link", "Between groups; default: as the others", fabric.direct.global_link);
  reader.optional("groups", fabric.direct.groups,
                  "Groups of switches; default: as few as take all nodes, or as many as can be joined",
                  {1, kMostPositions});
  reader.optional("arrangement", fabric.direct.arrangement, "To which groups the global cables of a group lead",
                  {{"palm_tree", Arrangement::palm_tree}, {"consecutive", Arrangement::consecutive}});
}

}  // namespace

void read_mesh(ObjectReader& reader, FabricText& fabric) {
  read_grid(reader, fabric, Kind::mesh);
  reader.optional("wrap", fabric.direct.wrap, "By dimension: whether it closes on itself; default: none does");
}

void read_torus(ObjectReader& reader, FabricText& fabric) {
  read_grid(reader, fabric, Kind::torus);
  reader.optional_value("twists",
                        "Row i: how far who passes the end of dimension i is shifted in each other; \"tpu_v4\": a "
                        "dimension of the least length k shifts those of 2 k by k",
                        [&](ValueReader& value) { read_twists(value, fabric.direct); });
}

void read_full_mesh(ObjectReader& reader, FabricText& fabric) {
  DirectText& text = begin(fabric, Kind::full_mesh);
  read_ports(reader, fabric);
  read_radix(reader, fabric);
  reader.optional("switches", text.switches, "Switches that are joined; default: the nodes themselves are",
                  {1, kMostPositions});
  reader.optional("hosts_per_switch", text.hosts_per_switch, "Hosts or NICs on one switch", kPerSwitch);
  reader.optional_value("cables", "Side by side between every two",
                        [&](ValueReader& value) { read_cables(value, text.cables); });
  read_positions(reader, text);
}

void read_hyperx(ObjectReader& reader, FabricText& fabric) {
  DirectText& text = begin(fabric, Kind::hyperx);
  read_ports(reader, fabric);
  read_radix(reader, fabric);
  reader.required("dimensions", text.dimensions, "Switches along each dimension", {1, kMostPositions});
  reader.optional("hosts_per_switch", text.hosts_per_switch, "Hosts or NICs on one switch; default: as few as take all",
                  kPerSwitch);
  reader.optional_value("cables", "Side by side between two switches, of all dimensions or of each",
                        [&](ValueReader& value) { read_cables(value, text.cables); });
}

void read_dragonfly(ObjectReader& reader, FabricText& fabric) {
  DirectText& text = begin(fabric, Kind::dragonfly);
  read_groups(reader, fabric);
  std::uint32_t hosts = 1;
  reader.required("hosts_per_router", hosts, "Hosts or NICs on one router: p", kPerSwitch);
  if (!reader.describing()) { text.hosts_per_switch = hosts; }
  reader.optional("routers_per_group", text.switches_per_group, "a; default: 2 p", kPerSwitch);
  reader.optional("global_cables", text.global_cables, "Of one router to other groups: h; default: p",
                  {1, kMostGlobal});
}

void read_dragonfly_plus(ObjectReader& reader, FabricText& fabric) {
  DirectText& text = begin(fabric, Kind::dragonfly_plus);
  read_groups(reader, fabric);
  std::uint32_t leaves = 1;
  reader.required("leaves_per_group", leaves, "Leaf switches of one group: l", kPerSwitch);
  if (!reader.describing()) { text.switches_per_group = leaves; }
  reader.optional("spines_per_group", text.spines_per_group, "Spine switches of one group; default: l", kPerSwitch);
  reader.optional("hosts_per_leaf", text.hosts_per_switch, "Hosts or NICs on one leaf; default: l", kPerSwitch);
  reader.optional("global_cables", text.global_cables, "Of one spine to other groups; default: l", {1, kMostGlobal});
}

void read_slim_fly(ObjectReader& reader, FabricText& fabric) {
  DirectText& text = begin(fabric, Kind::slim_fly);
  read_ports(reader, fabric);
  read_radix(reader, fabric);
  reader.required("q", text.q, "A prime power: 2 q^2 routers");
  reader.optional("hosts_per_router", text.hosts_per_switch,
                  "Hosts or NICs on one router; default: half of its cables to others", kPerSwitch);
}

}  // namespace athanor
