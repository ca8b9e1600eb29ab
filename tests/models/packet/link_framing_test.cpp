#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"
#include "sim/file.hpp"
#include "tests/models/packet/packet_rig.hpp"
#include "tests/models/small_clusters.hpp"
#include "tests/topologies/fabrics.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/presets.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// Between two GPUs of one node.
Time send_time(const NodeSpec& node, Bytes size, NetworkLevel level, const PacketSettings& packet = {}) {
  const Cluster cluster = single_node(node);
  const testing::UniformCosts costs;
  const auto schedule = find(CollectiveKind::send_receive, "direct")
                            .make({CollectiveKind::send_receive, 2, Elements{size.count() / 4}}, {});
  SimulationOptions options;
  options.level = level;
  options.packet = packet;
  return simulate(*schedule, cluster, {{cluster.endpoints[0], cluster.endpoints[1]}, 1}, costs, options).time;
}

NodeSpec pcie_node() {
  NodeSpec node = nvswitch_node(2, 0);
  node.scale_up = {};
  node.pcie = {{0, true, {0, 1}}};
  return node;
}

}  // namespace

TEST_CASE(
    "a TLP costs 24 bytes beside its payload, an NVLink packet a flit of 16: efficiencies are the published ones") {
  for (const std::uint32_t payload : {128U, 256U, 512U, 1024U}) {
    LinkFraming tlp = kPcieFraming;
    tlp.unit = static_cast<std::uint16_t>(payload);
    for (const std::uint32_t units : {1U, 2U, 16U, 1000U}) {
      CHECK(tlp.on_wire(units * payload) == units * (payload + 24));
    }
  }
  CHECK(to_double(kPcieFraming.expansion()) == doctest::Approx(1 / 0.914).epsilon(0.001));
  CHECK(to_double(kNvlinkFraming.expansion()) == doctest::Approx(1 / 0.9412).epsilon(0.001));
  CHECK(kNvlinkFraming.on_wire(64) == 80);    // 80 %
  CHECK(kNvlinkFraming.on_wire(256) == 272);  // 94 %
}

TEST_CASE("payload is filled up to whole double words or flits, and a packet without payload takes one unit") {
  CHECK(kPcieFraming.on_wire(0) == 24);
  CHECK(kPcieFraming.on_wire(1) == 28);
  CHECK(kPcieFraming.on_wire(257) == 256 + 24 + 4 + 24);
  CHECK(kNvlinkFraming.on_wire(1) == 32);
  CHECK(LinkFraming{}.on_wire(4160) == 4160);
  LinkFraming inside = kPcieFraming;
  inside.left_away = 64;
  for (const std::uint32_t header_or_less : {0U, 30U, 64U}) { CHECK(inside.on_wire(header_or_less) == 24); }
  CHECK(inside.on_wire(64 + 4096) == 16 * 280);
}

TEST_CASE("a link takes for a packet what its framing makes of it, and counts it as carried") {
  PacketFabric fabric;
  const LinkIndex link = fabric.cable(fabric.host(), fabric.host(), 28_GBps, 100_ns);
  for (std::uint32_t l = 0; l < 2; ++l) { fabric.plan.links[LinkIndex{l}].framing = {256, 24, 4, 64}; }
  fabric.flow({link});
  PacketRig rig(fabric.plan, {});
  rig.move_at(Time::zero(), 0, 4096_B * 10 + 100_B);
  rig.simulator.run();
  const Bytes wire{10 * 16 * 280 + 124};
  CHECK(rig.of(0).delivered ==
        std::vector{transfer_time(4480_B, 28_GBps) * 10 + transfer_time(124_B, 28_GBps) + 100_ns});
  CHECK(rig.network.carried(LinkIndex{link}) == wire);
}

TEST_CASE("full packets bring payload over PCIe and NVLink at the usable rate, at both levels") {
  const NodeSpec nvswitch = nvswitch_node(2, 0);
  for (const NodeSpec& node : {pcie_node(), nvswitch}) {
    for (const Bytes size : {1_MiB, 64_MiB}) {
      const double flows = seconds(send_time(node, size, NetworkLevel::flow));
      const double packets = seconds(send_time(node, size, NetworkLevel::packet));
      CHECK(packets / flows > 0.9999);
      CHECK(packets / flows < 1.001);
    }
  }
}

TEST_CASE("smaller TLPs cost what their headers cost") {
  PacketSettings small;
  small.pcie.unit = 128;
  const double usual = seconds(send_time(pcie_node(), 64_MiB, NetworkLevel::packet));
  CHECK(seconds(send_time(pcie_node(), 64_MiB, NetworkLevel::packet, small)) / usual ==
        doctest::Approx((152.0 / 128) / (280.0 / 256)).epsilon(1e-4));
}

TEST_CASE("no preset's usable rate is above what the packets of its kind leave of the line rate, or below 4/5 of it") {
  const Presets presets = *load_presets(FileReader().in("scenarios/presets"));
  std::uint32_t checked = 0;
  for (const auto& [name, preset] : presets.links) {
    // Those of AMD, of TPUs, of Trainium, of Gaudi and of Ascend are of kind nvlink, but with packets of their own.
    const auto starts = [&preset_name = name](const char* with) { return preset_name.starts_with(with); };
    const std::array own{"xgmi", "ici", "neuronlink", "gaudi", "ub-", "hccs"};
    if (std::any_of(own.begin(), own.end(), starts) ||
        (preset.kind != LinkKind::pcie && preset.kind != LinkKind::nvlink)) {
      continue;
    }
    CAPTURE(name);
    const Ratio framing = (preset.kind == LinkKind::pcie ? kPcieFraming : kNvlinkFraming).expansion();
    const double reached = to_double({preset.spec.usable.count(), preset.spec.rate.count()}) * to_double(framing);
    CHECK(reached < 1);
    CHECK(reached > 0.8);
    ++checked;
  }
  CHECK(checked >= 9);
}
