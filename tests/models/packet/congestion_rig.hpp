#pragma once

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "models/network/packet/congestion/round_trip.hpp"
#include "models/network/packet/packet_links.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"
#include "tests/models/packet/packet_rig.hpp"

namespace athanor::test {

using namespace literals;

using Recovery = TransportSpec::Recovery;

/// 4096 bytes of payload and 64 of header on 10 GB/s: 416 ns a packet; 64 bytes of acknowledgement: 6.4 ns.
inline constexpr Bandwidth kRate = 10_GBps;
inline constexpr Time kPacket = 416_ns;
inline constexpr Time kReply = 6'400_ps;
/// Of a control that has one flow.
inline constexpr ConnectionId kFlow{0};

/// `keys`: of the control's object in a scenario.
inline std::shared_ptr<const ControlKind> control_of(std::string_view name, const std::string& keys = "{}") {
  const std::shared_ptr<ControlKind> control = congestion_control(name);
  Problems problems;
  read_document(Document::parse(keys, "here"), problems, [&](Fields& fields) { control->visit(fields); });
  REQUIRE(problems.empty());
  return control;
}

inline TransportSpec transport(std::string_view control, Recovery recovery = Recovery::selective) {
  TransportSpec spec;
  spec.control = control_of(control);
  spec.recovery = recovery;
  spec.jitter = Time::zero();
  return spec;
}

struct Nobody : LinkListener {
  void expect_arrival(LinkIndex, Time) override {}
  void expect_pause(LinkIndex, Time) override {}
  void send_away(LinkIndex, const Flight&) override {}
  void pause_away(LinkIndex, const Port::Pause&) override {}
};

/// What the transport's control is made for; all flows leave by links of kRate.
inline ControlSite site_of(const TransportSpec& spec, PacketLinks& links) {
  return {spec.payload + spec.header, spec.reply, initial_packets(spec),
          IdVector<ConnectionId, Bandwidth>(links.plan().flows.size(), kRate), links};
}

/// The control of one flow between two hosts, whose events the test makes up.
struct LoneControl {
  LoneControl(std::string_view name, std::uint32_t initial_window, Time latency = 1_us, const std::string& keys = "{}")
      : fabric(incast(1, {}, kRate, latency)), links(fabric.plan, nobody), spec(transport(name)) {
    spec.initial_window = spec.payload * initial_window;
    control = control_of(name, keys)->make(site());
  }

  ControlSite site() { return site_of(spec, links); }

  PacketFabric fabric;
  Nobody nobody;
  PacketLinks links;
  TransportSpec spec;
  std::unique_ptr<CongestionControl> control;
};

/// One acknowledgement of one packet after another, a round trip of a second for each window.
struct Driver {
  explicit Driver(CongestionControl& driven) : control(driven) {}

  void round(std::uint32_t packets, bool marked = false, Time round_trip = Time{1'000'000'000'000}) {
    const std::uint32_t sent = there + packets + packets;
    for (std::uint32_t p = 0; p < packets; ++p) {
      now += Time{round_trip.count() / packets};
      control.acknowledged(kFlow, {1, ++there, sent, marked, round_trip, now});
    }
  }

  CongestionControl& control;
  std::uint32_t there = 0;
  Time now;
};

}  // namespace athanor::test
