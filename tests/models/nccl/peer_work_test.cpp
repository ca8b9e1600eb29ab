#include "models/nccl/tuning/peer_work.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

TEST_CASE("Channels for peers are powers of two, twice the NVLinks to one peer") {
  CHECK(peer_channels(dgx_h100(1)) == 32);
  CHECK(channels_per_peer(dgx_h100(1)) == 32);
  CHECK(peer_channels(dgx_h100(2)) == 16);
  CHECK(channels_per_peer(pcie_box()) == 2);
  CHECK(peer_channels(with_variable(dgx_h100(1), "NCCL_MAX_P2P_NCHANNELS", "8")) == 8);
  CHECK(peer_channels(with_variable(dgx_h100(2), "NCCL_MIN_P2P_NCHANNELS", "20")) == 32);
}

TEST_CASE("Between nodes a peer has a channel for each 14 GB/s of its NIC, fewer among many ranks") {
  CHECK(channels_per_peer(dgx_h100(2)) == 4);
  CHECK(channels_per_peer(dgx_h100(4)) == 4);
  CHECK(channels_per_peer(dgx_h100(8)) == 2);
  CHECK(channels_per_peer(dgx_h100(16)) == 1);
  CHECK(channels_per_peer(dgx_a100(2)) == 2);
  CHECK(channels_per_peer(with_version(dgx_h100(2), {2, 27, 5})) == 2);
  CHECK(channels_per_peer(with_version(dgx_h100(16), {2, 27, 5})) == 1);
  CHECK(channels_per_peer(with_variable(dgx_h100(2), "NCCL_NCHANNELS_PER_NET_PEER", "8")) == 8);
}

TEST_CASE("A message on a node is cut into as few parts as all peers have channels for, and more above 16 MiB") {
  const auto parts = [](Bytes bytes) { return nccl_peer_work(dgx_h100(1), bytes, false).parts; };
  CHECK(parts(0_B) == 1);
  CHECK(parts(64_KiB) == 1);
  CHECK(parts(65_KiB) == 2);
  CHECK(parts(1_MiB) == 4);  // 32 channels for 8 ranks
  CHECK(parts(64_MiB) == 4);
  CHECK(parts(64_MiB + Bytes{4}) == 8);
  CHECK(parts(1_GiB) == 32);
  CHECK(nccl_peer_work(dgx_h100(1), 1_MiB, false).part == 256_KiB);
  CHECK(nccl_peer_work(dgx_h100(1), Bytes{4097 * 3}, false).part == 16_KiB);
}

TEST_CASE("Before 2.20 a node's messages to all ranks have at most four parts for each channel") {
  const auto parts = [](NcclVersion version) {
    return nccl_peer_work(with_version(dgx_h100(1), version), 1_GiB, false).parts;
  };
  CHECK(parts({2, 19, 4}) == 16);  // 32 channels, 8 ranks
  CHECK(parts({2, 20, 3}) == 32);
}

TEST_CASE("A block works for as many peers at once as share its channel, and for eight at most") {
  CHECK(peers_at_once(dgx_h100(1), 1, 32) == 1);
  CHECK(peers_at_once(dgx_h100(1), 8, 4) == 1);
  CHECK(peers_at_once(dgx_h100(1), 8, 8) == 2);
  CHECK(peers_at_once(dgx_h100(1), 8, 32) == 8);
  CHECK(peers_at_once(dgx_h100(16), 128, 1) == 8);
}

TEST_CASE("A message to another node is cut into parts of 128 KiB, and finer chunks where it is short") {
  const auto work = [](Bytes bytes) { return nccl_peer_work(dgx_h100(2), bytes, true); };
  CHECK(work(64_KiB).parts == 1);
  CHECK(work(128_KiB).parts == 1);
  CHECK(work(128_KiB + Bytes{1}).parts == 2);
  CHECK(work(1_GiB).parts == 4);
  CHECK(work(128_KiB - Bytes{1}).chunk == 32_KiB);
  CHECK(work(128_KiB).chunk == 64_KiB);
  CHECK(work(1_MiB - Bytes{1}).chunk == 64_KiB);
  CHECK(work(1_MiB).chunk == 128_KiB);
  NcclCommunicator grace = dgx_b200(2);
  grace.cpu = CpuArchitecture::arm;
  CHECK(nccl_peer_work(grace, 16_MiB, true).chunk == 256_KiB);
  CHECK(nccl_peer_work(with_variable(dgx_h100(2), "NCCL_P2P_NET_CHUNKSIZE", "262144"), 16_MiB, true).chunk == 256_KiB);
}

TEST_CASE("Messages of at most 16 KiB a channel take LL within a node, where it has buffers") {
  const auto protocol = [](const NcclCommunicator& box, Bytes bytes, bool over_network) {
    return nccl_peer_work(box, bytes, over_network).protocol;
  };
  CHECK(protocol(dgx_h100(1), 16_KiB, false) == NcclProtocol::ll);
  CHECK(protocol(dgx_h100(1), 16_KiB + Bytes{1}, false) == NcclProtocol::simple);
  CHECK(protocol(dgx_h100(2), 8_B, true) == NcclProtocol::simple);
  CHECK(protocol(with_variable(dgx_h100(2), "NCCL_ALLOC_P2P_NET_LL_BUFFERS", "1"), 8_B, true) == NcclProtocol::ll);
  CHECK(protocol(with_variable(dgx_h100(1), "NCCL_P2P_LL_THRESHOLD", "0"), 8_B, false) == NcclProtocol::simple);
  CHECK(nccl_peer_work(dgx_h100(1), 8_B, false).chunk == 32_KiB);
  CHECK(nccl_peer_work(dgx_h100(1), 1_MiB, false).chunk == 512_KiB);
  CHECK(nccl_peer_work(pcie_box(), 1_MiB, false).chunk == 128_KiB);
}

TEST_CASE("The rule of parts is that of single messages") {
  for (const NcclCommunicator& communicator : {dgx_h100(1), dgx_h100(2), dgx_h100(16), pcie_box()}) {
    const NcclParts rule = nccl_parts(communicator);
    for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 34; bytes = bytes * 7 / 2 + 5) {
      std::int64_t parts = std::min<std::int64_t>(rule.least, (bytes + rule.small.count() - 1) / rule.small.count());
      while (2 * parts <= rule.most && (bytes + parts - 1) / parts > rule.large.count()) { parts *= 2; }
      CHECK(nccl_peer_work(communicator, Bytes{bytes}, false).parts == parts);
    }
  }
  CHECK(nccl_parts(dgx_h100(2)).large == 128_KiB);
  CHECK(nccl_parts(dgx_h100(1)).small == 64_KiB);
}
