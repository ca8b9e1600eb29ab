#include "models/network/packet/packet_settings.hpp"

#include <fmt/core.h>

#include "sim/format.hpp"

namespace athanor {

using namespace literals;

namespace {

using Recovery = TransportSpec::Recovery;

/// Enough to keep 400 Gb/s busy over 1 us of delay and back, as deep buffers per port and priority are configured.
SwitchSpec lossless() {
  SwitchSpec spec;
  spec.cut_through = true;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 256_KiB;
  spec.resume_below = 192_KiB;
  spec.lane_buffer = 128_KiB;
  spec.flowlet_gap = 50_us;
  return spec;
}

const Range<Bytes> kAnyBuffer{1_B, Bytes::max()};

void visit_marking(Fields& fields, MarkingSpec& marking) {
  fields.required("from", marking.from, "Queue from which packets are marked, with a probability that rises",
                  kAnyBuffer);
  fields.required("to", marking.to, "Queue from which every packet is marked", kAnyBuffer);
  fields.optional("most", marking.most, "Probability just below \"to\"", {{0, 1}, {1, 1}});
  if (marking.to < marking.from) {
    fields.problem("to", "out-of-range", "\"to\" lies below \"from\"",
                   "let the probability rise from one to the other");
  }
}

void visit_switch(Fields& fields, SwitchSpec& spec) {
  fields.optional("cut_through", spec.cut_through, "Does a packet leave while it still arrives?");
  fields.optional("flow_control", spec.flow_control, "What keeps queues from overflowing",
                  {{"pfc", FlowControl::pfc}, {"credits", FlowControl::credits}, {"none", FlowControl::none}});
  fields.optional("pause_above", spec.pause_above, "pfc: bytes of one ingress and class that make it pause its source",
                  kAnyBuffer);
  fields.optional("resume_below", spec.resume_below, "pfc: bytes at which the source may go on");
  fields.optional("lane_buffer", spec.lane_buffer,
                  "credits: buffer of each port and class (virtual lane), given away in blocks of 64 bytes",
                  {64_B, 64_GiB});
  fields.optional("queue", spec.queue, "none: most in the queue of one port; what exceeds it is dropped", kAnyBuffer);
  fields.optional("buffer", spec.buffer, "Memory shared by all ports of a switch", kAnyBuffer);
  fields.optional("trims", spec.trims, "Cuts the payload off what finds no room instead of dropping it");
  fields.optional(
      "load_balancing", spec.load_balancing, "Which of all shortest paths a packet takes",
      {{"none", LoadBalancing::none}, {"adaptive", LoadBalancing::adaptive}, {"flowlets", LoadBalancing::flowlets}});
  fields.optional("flowlet_gap", spec.flowlet_gap, "flowlets: silence after which a flow may take another way",
                  {1_ns, 1_s});
  fields.optional_object("marking", "ECN marks; absent: none",
                         [&](Fields& inner) { visit_marking(inner, spec.marking); });
  if (spec.flow_control == FlowControl::credits && (spec.trims || spec.buffer != Bytes::max())) {
    fields.problem(spec.trims ? "trims" : "buffer", "conflict", "with credits nothing comes that finds no room",
                   "leave it out; \"lane_buffer\" is what credits are given for");
  }
  if (spec.flow_control == FlowControl::pfc && spec.resume_below > spec.pause_above) {
    fields.problem("resume_below", "out-of-range", "\"resume_below\" is above \"pause_above\"",
                   "a source that was paused goes on when less is held than paused it");
  }
}

/// `largest`: payload of one packet that the standard allows.
void read_framing(Fields& fields, Bytes largest, LinkFraming& framing) {
  Bytes payload{framing.unit};
  Bytes overhead{framing.overhead};
  const Bytes granule{framing.granule};
  fields.optional("payload", payload, "Most of one packet", {granule, largest});
  fields.optional("overhead", overhead, "Header, framing and check of one packet", {Bytes::zero(), 256_B});
  if (fields.ok() && payload % granule != Bytes::zero()) {
    fields.problem("payload", "out-of-range", fmt::format("no multiple of {}", to_string(granule)),
                   fmt::format("payload travels in pieces of {}", to_string(granule)));
  }
  framing.unit = static_cast<std::uint16_t>(payload.count());
  framing.overhead = static_cast<std::uint16_t>(overhead.count());
}

void check_together(Fields& fields, const TransportSpec& spec) {
  const auto conflict = [&](const char* key, const char* message, const char* hint) {
    fields.problem(key, "conflict", message, hint);
  };
  if (spec.recovery == Recovery::selective && spec.acknowledge_every > 1) {
    conflict("acknowledge_every", "selective recovery acknowledges every packet", "leave it out, or use go_back_n");
  }
  if (spec.control->words().selective_only && spec.recovery != Recovery::selective) {
    conflict("control", "receivers that ask for single packets need selective recovery",
             R"(write "recovery": "selective")");
  }
  if (spec.spray && spec.recovery != Recovery::selective) {
    conflict("spray", "packets that take many paths come in any order, which go_back_n takes for losses",
             R"(write "recovery": "selective")");
  }
  if (spec.window / spec.payload < spec.acknowledge_every && spec.window != Bytes::max()) {
    conflict("acknowledge_every",
             "the window is full before a packet is acknowledged: every window would wait for the timeout",
             "acknowledge more often, or enlarge \"window\"");
  }
  if (spec.initial_window > Bytes::zero() && spec.initial_window < spec.payload) {
    conflict("initial_window", "less than a packet", "give at least \"payload\"");
  }
}

enum class TransportPreset : std::uint8_t { infiniband_rc, roce_v2, tcp };

/// Headers count everything between the payloads of two packets on the cable: preamble and gap of Ethernet, too.
TransportSpec transport_of(TransportPreset preset) {
  const Time local_ack_timeout = 4'096_ns * (1 << 14);  // 14, as rdma_cm and perftest set it
  TransportSpec spec;
  switch (preset) {
    case TransportPreset::infiniband_rc:
      spec.header = 26_B;                      // LRH 8, BTH 12, ICRC 4, VCRC 2
      spec.reply = 30_B;                       // and AETH 4
      spec.reply_service = spec.data_service;  // a connection has one service level
      spec.timeout = local_ack_timeout;
      break;
    case TransportPreset::roce_v2:
      spec.control = congestion_control("dcqcn");
      spec.header = 82_B;  // preamble and gap 20, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4
      spec.reply = 86_B;   // and AETH 4
      spec.timeout = local_ack_timeout;
      break;
    case TransportPreset::tcp:
      spec.control = congestion_control("cubic");
      spec.recovery = Recovery::selective;
      spec.payload = 1'448_B;  // of an MTU of 1500
      spec.header = 90_B;      // preamble and gap 20, Ethernet 14, IPv4 20, TCP 20 and its timestamps 12, FCS 4
      spec.reply = 90_B;
      spec.timeout = 200_ms;  // Linux' least
      break;
  }
  return spec;
}

/// Classes are numbered from 0, which is served first.
void read_class(Fields& fields, std::string_view key, std::string_view meaning, std::uint8_t& service) {
  std::uint32_t number = service;
  fields.optional(key, number, meaning, {0, kServices - 1});
  service = static_cast<std::uint8_t>(number);
}

/// Keys of other controls than the one that is chosen are read, too: what is wrong with them is wrong.
void read_control(Fields& fields, std::shared_ptr<const ControlKind>& control) {
  OneOf names;
  for (const ControlEntry& each : congestion_controls()) { names.words.emplace_back(each.words.name); }
  std::string name(control->words().name);
  fields.optional("control", name, "What a sender does about congestion", names);
  for (const ControlEntry& each : congestion_controls()) {
    const std::shared_ptr<ControlKind> made = each.make();
    if (each.words.has_keys) {
      fields.optional_object(each.words.name, fmt::format("Parameters of {}", each.words.name),
                             [&](Fields& inner) { made->visit(inner); });
    }
    if (each.words.name == name) { control = made; }
  }
}

void visit_transport(Fields& fields, TransportSpec& spec) {
  std::optional<TransportPreset> preset;
  fields.optional("preset", preset, "What the other keys of the transport are by default",
                  {{"infiniband_rc", TransportPreset::infiniband_rc},
                   {"roce_v2", TransportPreset::roce_v2},
                   {"tcp", TransportPreset::tcp}});
  if (preset) { spec = transport_of(*preset); }
  read_control(fields, spec.control);
  fields.optional("recovery", spec.recovery, "What happens about packets that are missing",
                  {{"go_back_n", Recovery::go_back_n}, {"selective", Recovery::selective}});
  fields.optional("spray", spec.spray, "Does each packet take another of all shortest paths, as its host draws?");
  fields.optional("initial_window", spec.initial_window,
                  fmt::format("Of {}; default: ten packets", controls_with_initial_window()));
  fields.optional("payload", spec.payload, "Most of one packet: the MTU without headers", {64_B, 64_KiB});
  fields.optional("header", spec.header, "Of a data packet, on the wire", {Bytes::zero(), 1_KiB});
  fields.optional("reply", spec.reply, "An acknowledgement, on the wire", {1_B, 1_KiB});
  fields.optional("window", spec.window, "Most payload that is sent and not acknowledged", kAnyBuffer);
  fields.optional(
      "jitter", spec.jitter,
      "Most that a host takes to send what an acknowledgement allows, drawn for each packet; default: with newreno "
      "and cubic the time of a packet on its link, else 0");
  fields.optional("acknowledge_every", spec.acknowledge_every, "Data packets per acknowledgement", {1, 1024});
  fields.optional("timeout", spec.timeout, "Without progress for so long a sender goes back", {1_us, 10_s});
  read_class(fields, "class", "Of data packets: priority, virtual lane; 0 is served first", spec.data_service);
  read_class(fields, "reply_class", "Of acknowledgements and all else that is no data", spec.reply_service);
  check_together(fields, spec);
}

/// What switches do that does not go with the transport.
void check_switches(Fields& fields, const PacketSettings& settings) {
  const SwitchSpec& switches = settings.fabric;
  const Bytes packet = settings.transport.payload + settings.transport.header;
  if (switches.flow_control == FlowControl::credits &&
      switches.lane_buffer.count() / 64 < ceil_div(packet.count(), 64)) {
    fields.problem("switches", "conflict",
                   fmt::format("a packet of {} never fits into a \"lane_buffer\" of {}", to_string(packet),
                               to_string(switches.lane_buffer)),
                   "enlarge \"lane_buffer\", or make \"payload\" smaller");
  }
  const auto check_room = [&](const char* key, Bytes room) {
    if (packet <= room) { return; }
    fields.problem(
        "switches", "conflict",
        fmt::format("a packet of {} never fits into a \"{}\" of {}", to_string(packet), key, to_string(room)),
        fmt::format("enlarge \"{}\", or make \"payload\" smaller", key));
  };
  if (settings.transport.control->words().needs_marks && switches.marking.from == Bytes::max()) {
    fields.problem("transport", "conflict",
                   "its control slows down for packets that switches have marked, and no switch marks any",
                   R"(add "marking": {"from": "5kB", "to": "200kB", "most": 0.01} to "switches")");
  }
  if (switches.flow_control == FlowControl::none) { check_room("queue", switches.queue); }
  if (switches.flow_control != FlowControl::credits) { check_room("buffer", switches.buffer); }
  if (switches.load_balancing == LoadBalancing::none) { return; }
  if (settings.transport.spray) {
    fields.problem("switches", "conflict", "with \"spray\" hosts choose the path of each packet, and no switch does",
                   "leave out \"spray\" or \"load_balancing\"");
  } else if (switches.load_balancing == LoadBalancing::adaptive && settings.transport.recovery != Recovery::selective) {
    fields.problem("switches", "conflict",
                   "packets that switches send different ways come in any order, which go_back_n takes for losses",
                   R"(write "recovery": "selective" in "transport", or "load_balancing": "flowlets")");
  }
}

}  // namespace

PacketSettings::PacketSettings() : fabric(lossless()), node(lossless()) {}

void visit(Fields& fields, PacketSettings& settings) {
  fields.optional_object("transport", settings.transport, "How messages become packets", visit_transport);
  fields.optional_object("switches", settings.fabric, "What the switches of the network do", visit_switch);
  fields.optional_object("pcie", "Packets of PCIe links (TLPs)",
                         [&](Fields& inner) { read_framing(inner, 4_KiB, settings.pcie); });
  fields.optional_object("nvlink", "Packets of NVLinks",
                         [&](Fields& inner) { read_framing(inner, 256_B, settings.nvlink); });
  if (fields.ok()) { check_switches(fields, settings); }
  settings.transport.any_order = settings.transport.spray || settings.fabric.load_balancing == LoadBalancing::adaptive;
}

}  // namespace athanor
