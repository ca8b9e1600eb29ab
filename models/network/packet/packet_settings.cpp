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

void read_marking(ObjectReader& reader, MarkingSpec& marking) {
  reader.required("from", marking.from, "Queue from which packets are marked, with a probability that rises",
                  kAnyBuffer);
  reader.required("to", marking.to, "Queue from which every packet is marked", kAnyBuffer);
  reader.optional("most", marking.most, "Probability just below \"to\"", {{0, 1}, {1, 1}});
  if (!reader.describing() && marking.to < marking.from) {
    reader.problem("to", "out-of-range", "\"to\" lies below \"from\"",
                   "let the probability rise from one to the other");
  }
}

void read_switch(ObjectReader& reader, SwitchSpec& spec) {
  reader.optional("cut_through", spec.cut_through, "Does a packet leave while it still arrives?");
  reader.optional("flow_control", spec.flow_control, "What keeps queues from overflowing",
                  {{"pfc", FlowControl::pfc}, {"credits", FlowControl::credits}, {"none", FlowControl::none}});
  reader.optional("pause_above", spec.pause_above, "pfc: bytes of one ingress and class that make it pause its source",
                  kAnyBuffer);
  reader.optional("resume_below", spec.resume_below, "pfc: bytes at which the source may go on");
  reader.optional("lane_buffer", spec.lane_buffer,
                  "credits: buffer of each port and class (virtual lane), given away in blocks of 64 bytes",
                  {64_B, 64_GiB});
  reader.optional("queue", spec.queue, "none: most in the queue of one port; what exceeds it is dropped", kAnyBuffer);
  reader.optional("buffer", spec.buffer, "Memory shared by all ports of a switch", kAnyBuffer);
  reader.optional("trims", spec.trims, "Cuts the payload off what finds no room instead of dropping it");
  reader.optional(
      "load_balancing", spec.load_balancing, "Which of all shortest ways a packet takes",
      {{"none", LoadBalancing::none}, {"adaptive", LoadBalancing::adaptive}, {"flowlets", LoadBalancing::flowlets}});
  reader.optional("flowlet_gap", spec.flowlet_gap, "flowlets: silence after which a flow may take another way",
                  {1_ns, 1_s});
  reader.optional_object("marking", "ECN marks; absent: none",
                         [&](ObjectReader& fields) { read_marking(fields, spec.marking); });
  if (!reader.describing() && spec.flow_control == FlowControl::credits &&
      (spec.trims || spec.buffer != Bytes::max())) {
    reader.problem(spec.trims ? "trims" : "buffer", "conflict", "with credits nothing comes that finds no room",
                   "leave it out; \"lane_buffer\" is what credits are given for");
  }
  if (!reader.describing() && spec.flow_control == FlowControl::pfc && spec.resume_below > spec.pause_above) {
    reader.problem("resume_below", "out-of-range", "\"resume_below\" is above \"pause_above\"",
                   "a source that was paused goes on when less is held than paused it");
  }
}

/// `largest`: payload of one packet that the standard allows.
void read_framing(ObjectReader& reader, Bytes largest, LinkFraming& framing) {
  Bytes payload{framing.unit};
  Bytes overhead{framing.overhead};
  const Bytes granule{framing.granule};
  reader.optional("payload", payload, "Most of one packet", {granule, largest});
  reader.optional("overhead", overhead, "Header, framing and check of one packet", {Bytes::zero(), 256_B});
  if (!reader.describing() && reader.ok() && payload % granule != Bytes::zero()) {
    reader.problem("payload", "out-of-range", fmt::format("no multiple of {}", to_string(granule)),
                   fmt::format("payload travels in pieces of {}", to_string(granule)));
  }
  framing.unit = static_cast<std::uint16_t>(payload.count());
  framing.overhead = static_cast<std::uint16_t>(overhead.count());
}

void check_together(ObjectReader& reader, const TransportSpec& spec) {
  const auto conflict = [&](const char* key, const char* message, const char* hint) {
    reader.problem(key, "conflict", message, hint);
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
void read_class(ObjectReader& reader, std::string_view key, std::string_view meaning, std::uint8_t& service) {
  std::uint32_t number = service;
  reader.optional(key, number, meaning, {0, kServices - 1});
  service = static_cast<std::uint8_t>(number);
}

/// Keys of other controls than the one that is chosen are read, too: what is wrong with them is wrong.
void read_control(ObjectReader& reader, std::shared_ptr<const ControlKind>& control) {
  OneOf names;
  for (const ControlEntry& each : congestion_controls()) { names.words.emplace_back(each.words.name); }
  std::string name(control->words().name);
  reader.optional("control", name, "What a sender does about congestion", names);
  for (const ControlEntry& each : congestion_controls()) {
    const std::shared_ptr<ControlKind> made = each.make();
    if (each.words.has_keys) {
      reader.optional_object(each.words.name, fmt::format("Parameters of {}", each.words.name),
                             [&](ObjectReader& fields) { made->read(fields); });
    }
    if (each.words.name == name) { control = made; }
  }
}

void read_transport(ObjectReader& reader, TransportSpec& spec) {
  std::optional<TransportPreset> preset;
  reader.optional("preset", preset, "What the other keys of the transport are by default",
                  {{"infiniband_rc", TransportPreset::infiniband_rc},
                   {"roce_v2", TransportPreset::roce_v2},
                   {"tcp", TransportPreset::tcp}});
  if (preset) { spec = transport_of(*preset); }
  read_control(reader, spec.control);
  reader.optional("recovery", spec.recovery, "What happens about packets that are missing",
                  {{"go_back_n", Recovery::go_back_n}, {"selective", Recovery::selective}});
  reader.optional("spray", spec.spray, "Does each packet take another of all shortest paths, as its host draws?");
  reader.optional("initial_window", spec.initial_window,
                  fmt::format("Of {}; default: ten packets", controls_with_initial_window()));
  reader.optional("payload", spec.payload, "Most of one packet: the MTU without headers", {64_B, 64_KiB});
  reader.optional("header", spec.header, "Of a data packet, on the wire", {Bytes::zero(), 1_KiB});
  reader.optional("reply", spec.reply, "An acknowledgement, on the wire", {1_B, 1_KiB});
  reader.optional("window", spec.window, "Most payload that is sent and not acknowledged", kAnyBuffer);
  reader.optional(
      "jitter", spec.jitter,
      "Most that a host takes to send what an acknowledgement allows, drawn for each packet; default: with newreno "
      "and cubic the time of a packet on its link, else 0");
  reader.optional("acknowledge_every", spec.acknowledge_every, "Data packets per acknowledgement", {1, 1024});
  reader.optional("timeout", spec.timeout, "Without progress for so long a sender goes back", {1_us, 10_s});
  read_class(reader, "class", "Of data packets: priority, virtual lane; 0 is served first", spec.data_service);
  read_class(reader, "reply_class", "Of acknowledgements and all else that is no data", spec.reply_service);
  if (!reader.describing()) { check_together(reader, spec); }
}

/// What switches do that does not go with the transport.
void check_switches(ObjectReader& reader, const PacketSettings& settings) {
  const SwitchSpec& switches = settings.fabric;
  const Bytes packet = settings.transport.payload + settings.transport.header;
  if (switches.flow_control == FlowControl::credits &&
      switches.lane_buffer.count() / 64 < ceil_div(packet.count(), 64)) {
    reader.problem("switches", "conflict",
                   fmt::format("a packet of {} never fits into a \"lane_buffer\" of {}", to_string(packet),
                               to_string(switches.lane_buffer)),
                   "enlarge \"lane_buffer\", or make \"payload\" smaller");
  }
  const auto check_room = [&](const char* key, Bytes room) {
    if (packet <= room) { return; }
    reader.problem(
        "switches", "conflict",
        fmt::format("a packet of {} never fits into a \"{}\" of {}", to_string(packet), key, to_string(room)),
        fmt::format("enlarge \"{}\", or make \"payload\" smaller", key));
  };
  if (settings.transport.control->words().needs_marks && switches.marking.from == Bytes::max()) {
    reader.problem("transport", "conflict",
                   "its control slows down for packets that switches have marked, and no switch marks any",
                   R"(add "marking": {"from": "5kB", "to": "200kB", "most": 0.01} to "switches")");
  }
  if (switches.flow_control == FlowControl::none) { check_room("queue", switches.queue); }
  if (switches.flow_control != FlowControl::credits) { check_room("buffer", switches.buffer); }
  if (switches.load_balancing == LoadBalancing::none) { return; }
  if (settings.transport.spray) {
    reader.problem("switches", "conflict", "with \"spray\" hosts choose the path of each packet, and no switch does",
                   "leave out \"spray\" or \"load_balancing\"");
  } else if (switches.load_balancing == LoadBalancing::adaptive && settings.transport.recovery != Recovery::selective) {
    reader.problem("switches", "conflict",
                   "packets that switches send different ways come in any order, which go_back_n takes for losses",
                   R"(write "recovery": "selective" in "transport", or "load_balancing": "flowlets")");
  }
}

}  // namespace

PacketSettings::PacketSettings() : fabric(lossless()), node(lossless()) {}

void read(ObjectReader& reader, PacketSettings& settings) {
  reader.optional_object("transport", "How messages become packets",
                         [&](ObjectReader& fields) { read_transport(fields, settings.transport); });
  reader.optional_object("switches", "What the switches of the network do",
                         [&](ObjectReader& fields) { read_switch(fields, settings.fabric); });
  reader.optional_object("pcie", "Packets of PCIe links (TLPs)",
                         [&](ObjectReader& fields) { read_framing(fields, 4_KiB, settings.pcie); });
  reader.optional_object("nvlink", "Packets of NVLinks",
                         [&](ObjectReader& fields) { read_framing(fields, 256_B, settings.nvlink); });
  if (!reader.describing() && reader.ok()) { check_switches(reader, settings); }
  settings.transport.any_order = settings.transport.spray || settings.fabric.load_balancing == LoadBalancing::adaptive;
}

}  // namespace athanor
