#include "models/network/packet/packet_settings.hpp"

namespace athanor {

using namespace literals;

namespace {

/// Enough to keep 400 Gb/s busy over 1 us of delay and back, as deep buffers per port and priority are configured.
SwitchSpec lossless() {
  SwitchSpec spec;
  spec.cut_through = true;
  spec.flow_control = FlowControl::pfc;
  spec.pause_above = 256_KiB;
  spec.resume_below = 192_KiB;
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
                  {{"pfc", FlowControl::pfc}, {"none", FlowControl::none}});
  reader.optional("pause_above", spec.pause_above, "pfc: bytes of one ingress and class that make it pause its source",
                  kAnyBuffer);
  reader.optional("resume_below", spec.resume_below, "pfc: bytes at which the source may go on");
  reader.optional("queue", spec.queue, "none: most in the queue of one port; what exceeds it is dropped", kAnyBuffer);
  reader.optional("buffer", spec.buffer, "Memory shared by all ports of a switch", kAnyBuffer);
  reader.optional("trims", spec.trims, "Cuts the payload off what finds no room instead of dropping it");
  reader.optional_object("marking", "ECN marks; absent: none",
                         [&](ObjectReader& fields) { read_marking(fields, spec.marking); });
  if (!reader.describing() && spec.flow_control == FlowControl::pfc && spec.resume_below > spec.pause_above) {
    reader.problem("resume_below", "out-of-range", "\"resume_below\" is above \"pause_above\"",
                   "a source that was paused goes on when less is held than paused it");
  }
}

void read_transport(ObjectReader& reader, TransportSpec& spec) {
  reader.optional("control", spec.control, "What a sender does about congestion",
                  {{"none", TransportSpec::Control::none}, {"dcqcn", TransportSpec::Control::dcqcn}});
  reader.optional("payload", spec.payload, "Most of one packet: the MTU without headers", {64_B, 64_KiB});
  reader.optional("header", spec.header, "Of a data packet, on the wire", {Bytes::zero(), 1_KiB});
  reader.optional("reply", spec.reply, "An acknowledgement, on the wire", {1_B, 1_KiB});
  reader.optional("window", spec.window, "Most payload that is sent and not acknowledged", kAnyBuffer);
  reader.optional("acknowledge_every", spec.acknowledge_every, "Data packets per acknowledgement", {1, 1024});
  reader.optional("timeout", spec.timeout, "Without progress for so long a sender goes back", {1_us, 10_s});
}

}  // namespace

PacketSettings::PacketSettings() : fabric(lossless()), node(lossless()) {}

void read(ObjectReader& reader, PacketSettings& settings) {
  reader.optional_object("transport", "How messages become packets",
                         [&](ObjectReader& fields) { read_transport(fields, settings.transport); });
  reader.optional_object("switches", "What the switches of the network do",
                         [&](ObjectReader& fields) { read_switch(fields, settings.fabric); });
}

}  // namespace athanor
