#include "models/nccl/execution/protocol.hpp"

#include <string>
#include <utility>

namespace athanor {

namespace {

/// What a line of 16 or 128 bytes holds beside its flag.
Ratio payload_share(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::ll: return {1, 2};
    case NcclProtocol::ll128: return {15, 16};
    case NcclProtocol::simple: break;
  }
  return {1, 1};
}

/// What a receiver can see of a message before it has all of it; nothing of Simple's, whose counter moves by slices.
Bytes line(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::ll: return Bytes{16};
    case NcclProtocol::ll128: return Bytes{128};
    case NcclProtocol::simple: break;
  }
  return Bytes::zero();
}

/// Whether a block's threads are divided between two directions.
bool goes_both_directions(const NcclRun& run) {
  return run.algorithm == NcclAlgorithm::tree || run.algorithm == NcclAlgorithm::collnet_chain;
}

/// Of a ring's block, for one of so many peers: 10 of 20 warps in place of 16, with two accesses of a byte to memory in
/// place of three (src/device/sendrecv.h and src/device/all_reduce.h).
Bandwidth peer_rate(Bandwidth ring, std::uint32_t peers) {
  constexpr Ratio kCopies{10 * 3, 16 * 2};
  return scaled_down(ring, {kCopies.numerator, kCopies.denominator * std::int64_t{peers}});
}

bool uses_nvswitches(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}

Bandwidth block_rate(Bandwidth rate, const NcclRun& run, const NcclCosts& costs) {
  if (rate == Bandwidth::max()) { return rate; }
  if (run.peers > 0) { return peer_rate(rate, run.peers); }
  return goes_both_directions(run) ? scaled_down(rate, costs.tree_share) : rate;
}

/// A proxy thread's, of a channel and peer; trees share it both ways, and so do sends and receives.
Bandwidth network_rate(Bandwidth rate, const NcclRun& run, const NcclCosts& costs) {
  const bool shared = (run.peers > 0 || goes_both_directions(run)) && rate != Bandwidth::max();
  return shared ? scaled_down(rate, costs.tree_share) : rate;
}

/// Where there are fewer lines than ranks, some steps of LL move none and are shorter.
Time step(const NcclRun& run, const NcclCosts& costs) {
  const Time step = costs.of(run.protocol).step;
  const bool idle = run.protocol == NcclProtocol::ll && run.payload < Bytes{16} * run.ranks;
  return idle ? scaled_up(step, costs.idle) : step;
}

/// What ranks start late, and channels between nodes are later than one of them.
Time lateness(const NcclRun& run, std::uint32_t channels, const NcclCosts& costs) {
  const Time ranks = last_of(costs.launch_skew, run.ranks);
  return run.nodes < 2 ? ranks : ranks + last_of(costs.network_jitter, channels);
}

void set_hops(Protocol& protocol, const NcclRun& run, const NcclCosts& costs) {
  const NcclProtocolCosts& own = costs.of(run.protocol);
  const Bandwidth block = block_rate(own.rate, run, costs);
  protocol.node = {own.node_latency, block, costs.node_efficiency, block, line(run.protocol)};
  protocol.network = {own.network_latency, network_rate(own.network_rate, run, costs), costs.network_efficiency, block,
                      Bytes::zero()};
  protocol.send_end = SendEnd::paced;
  protocol.unpack_rate = block;
  protocol.overhead = step(run, costs);
  protocol.start = lateness(run, protocol.library->of_bytes.channels, costs);
  if (!uses_nvswitches(run.algorithm)) { return; }

  constexpr Time kSwitch = Time{500'000};  // of a load or store through them, hidden behind others
  protocol.engine = {kSwitch, Bandwidth::max(), costs.nvls_efficiency, Bandwidth::max(), Bytes::zero()};
  protocol.send_end = SendEnd::injected;
  protocol.unpack_rate = Bandwidth::max();
  protocol.start += costs.nvls_start;
  protocol.overhead = costs.nvls_loop;
}

}  // namespace

Protocol protocol_of(const NcclRun& run, LibraryLayout layout, const NcclCosts& costs) {
  Protocol protocol;
  protocol.name = std::string(name(run.protocol));
  protocol.payload = payload_share(run.protocol);
  protocol.slots = run.slots;
  protocol.library = std::move(layout);
  set_hops(protocol, run, costs);
  return protocol;
}

}  // namespace athanor
