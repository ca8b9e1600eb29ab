#include "models/software/nccl_costs.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "sim/quantity.hpp"

namespace athanor {

namespace {

const LimitsOf<Ratio> kShare{{1, 100}, {1, 1}};

void read_protocol(ObjectReader& reader, NcclProtocolCosts& costs) {
  reader.optional("step", costs.step, "Of a thread block, for each message that it receives or sends");
  reader.optional("latency", costs.node_latency, "Of a message within a node, beside the links'");
  reader.optional("rate", costs.rate, "Payload that one channel's thread block moves; absent: only links limit");
  reader.optional("network_latency", costs.network_latency, "Of a message between nodes");
  reader.optional("network_rate", costs.network_rate, "Payload of one channel between nodes");
}

}  // namespace

void read_version(ValueReader& value, NcclVersion& version) {
  std::string text;
  value.read(text);
  if (value.describing() || !value.ok()) { return; }
  const std::optional<NcclVersion> parsed = nccl_version(text);
  if (parsed) {
    version = *parsed;
  } else {
    value.problem("wrong-version", fmt::format("'{}' is no version of NCCL", text), "write it like 2.27.5");
  }
}

void read(ObjectReader& reader, NcclCosts& costs) {
  reader.optional_value("version", "Whose tuning tables decide; absent: the newest known",
                        [&](ValueReader& value) { read_version(value, costs.version); });
  reader.optional("rccl", costs.rccl, "AMD's library");
  reader.optional(
      "choose", costs.choosing, "Whose word decides what runs",
      {{"tuner", NcclChoosing::tuner}, {"algorithm", NcclChoosing::algorithm}, {"fastest", NcclChoosing::fastest}});
  for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
    reader.optional_object(name(protocol), "What this protocol costs",
                           [&](ObjectReader& inner) { read_protocol(inner, costs.of(protocol)); });
  }
  reader.optional("tree_share", costs.tree_share,
                  "Of a thread block's rate that trees have each way, and sends and receives", kShare);
  reader.optional("idle", costs.idle, "Of a step of LL within a node that moves no data", kShare);
  reader.optional("nvls_start", costs.nvls_start, "Of algorithms that use NVSwitches as engines, once");
  reader.optional("nvls_loop", costs.nvls_loop, "Of these, for each chunk of a head");
  reader.optional("network_spread", costs.network_spread,
                  "Mean by which one channel's way between nodes varies: the slowest of several is waited for");
  reader.optional("peer_start", costs.peer_start, "Of each peer that a rank exchanges messages with, once per call");
  reader.optional("nvls_efficiency", costs.nvls_efficiency, "Of these, of the NVLinks' usable rate", kShare);
  reader.optional("node_efficiency", costs.node_efficiency, "Of the usable rate of links within nodes", kShare);
  reader.optional("network_efficiency", costs.network_efficiency, "The same of messages between nodes", kShare);
  reader.optional("host_launch", costs.host_launch,
                  "Of the one process that drives all GPUs, per collective; absent: each GPU has its own process");
  reader.optional("host_channel", costs.host_channel, "Of this process, for each channel after the first");
}

Time overlapped_launch(Time device, Time host) {
  if (host == Time::zero() || device == Time::zero()) { return std::max(device, host); }
  const std::int64_t larger = std::max(device.count(), host.count());
  const std::int64_t smaller = std::min(device.count(), host.count());
  // (larger^3 + smaller^3)^(1/3) = larger * (1 + q^3)^(1/3): the excess over `larger`, by bisection, where
  // 3 x + 3 x^2 + x^3 = q^3 in units of larger / 2^20, so that all products fit into 128 bits.
  constexpr std::int64_t kUnit = 1 << 20;
  const Wide q = Wide{smaller} * kUnit / larger;
  const Wide wanted = q * q * q;
  Wide low = 0;
  Wide high = kUnit;
  while (high - low > 1) {
    const Wide x = (low + high) / 2;
    (3 * x * kUnit * kUnit + 3 * x * x * kUnit + x * x * x <= wanted ? low : high) = x;
  }
  return Time{larger + static_cast<std::int64_t>(Wide{larger} * low / kUnit)};
}

}  // namespace athanor
