#include "models/software/nccl_costs.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/parse.hpp"
#include "sim/quantity.hpp"

namespace athanor {

static void visit(Fields& fields, NcclProtocolCosts& costs) {
  fields.optional("step", costs.step, "Of a thread block, for each message that it receives or sends");
  fields.optional("latency", costs.node_latency, "Of a message within a node, beside the links'");
  fields.optional("rate", costs.rate, "Payload that one channel's thread block moves; absent: only links limit");
  fields.optional("network_latency", costs.network_latency, "Of a message between nodes");
  fields.optional("network_rate", costs.network_rate, "Payload of one channel between nodes");
}

void visit_version(FieldValue& value, NcclVersion& version) {
  const auto parse = [](const std::string& text) -> Parsed<NcclVersion> {
    return {nccl_version(text),
            {"wrong-version", fmt::format("'{}' is no version of NCCL", text), "write it like 2.27.5"}};
  };
  value.text(version, parse, [](NcclVersion written) { return to_string(written); });
}

void visit(Fields& fields, NcclCosts& costs) {
  const LimitsOf<Ratio> share{{1, 100}, {1, 1}};
  fields.optional_value("version", "Whose tuning tables decide; absent: the newest known",
                        [&](FieldValue& value) { visit_version(value, costs.version); });
  fields.optional("rccl", costs.rccl, "AMD's library");
  fields.optional(
      "choose", costs.choosing, "Whose word decides what runs",
      {{"tuner", NcclChoosing::tuner}, {"algorithm", NcclChoosing::algorithm}, {"fastest", NcclChoosing::fastest}});
  for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
    fields.optional_object(name(protocol), costs.of(protocol), "What this protocol costs");
  }
  fields.optional("tree_share", costs.tree_share,
                  "Of a thread block's rate that trees have each way, and sends and receives", share);
  fields.optional("idle", costs.idle, "Of a step of LL within a node that moves no data", share);
  fields.optional("nvls_start", costs.nvls_start, "Of algorithms that use NVSwitches as engines, once");
  fields.optional("nvls_loop", costs.nvls_loop, "Of these, for each chunk of a head");
  fields.renamed("network_spread", "network_jitter");
  fields.optional("network_jitter", costs.network_jitter,
                  "Mean by which one channel's way between nodes varies: the slowest of several is waited for");
  fields.optional("peer_start", costs.peer_start, "Of each peer that a rank exchanges messages with, once per call");
  fields.optional("nvls_efficiency", costs.nvls_efficiency, "Of these, of the NVLinks' usable rate", share);
  fields.optional("node_efficiency", costs.node_efficiency, "Of the usable rate of links within nodes", share);
  fields.optional("network_efficiency", costs.network_efficiency, "The same of messages between nodes", share);
  if (fields.has("host_launch")) {
    fields.problem("host_launch", "renamed-key", "what one process needs to launch is told of each GPU that it drives",
                   "write \"host_launch_per_gpu\", a host_launch divided by the GPUs of a node");
  }
  fields.optional(
      "host_launch_per_gpu", costs.host_launch_per_gpu,
      "Of the one process that drives all GPUs of a node, for each of them; absent: each has its own process");
  fields.optional("host_channel", costs.host_channel, "Of this process, for each channel after the first");
  fields.optional("launch_skew", costs.launch_skew,
                  "Mean by which one rank starts late: the last of all ranks is waited for");
}

Time last_of(Time mean, std::uint32_t n) {
  require(n >= 1, "one delay at least");
  constexpr std::uint32_t kExact = 4096;
  constexpr std::int64_t kUnit = 1'000'000;
  constexpr std::int64_t kDoubled = 693'147;  // ln 2: what twice as many add
  std::int64_t sum = 0;
  for (; n > kExact; n /= 2) { sum += kDoubled; }
  for (std::uint32_t i = 2; i <= n; ++i) { sum += (kUnit + i / 2) / i; }
  return scaled_up(mean, Ratio{sum, kUnit});
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
