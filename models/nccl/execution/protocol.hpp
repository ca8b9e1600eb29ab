#pragma once

#include <cstdint>
#include <memory>

#include "models/software/nccl_costs.hpp"
#include "models/software/protocol.hpp"

namespace athanor {

/// What the costs of a call depend on.
struct NcclRun {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  std::uint32_t peers = 0;  ///< no algorithm, but sends and receives: for so many peers a block works at once
  NcclProtocol protocol = NcclProtocol::simple;
  std::uint32_t slots = 8;  ///< messages that a connection holds
  Bytes payload;            ///< of the collective, as nccl-tests counts it
  std::uint32_t ranks = 1;
  std::uint32_t nodes = 1;
};

/// That run in this layout as a protocol: NCCL's structure with a stack's costs.
///
/// LL and LL128 flag every line, so that within a node a rank passes on line by line (grain), and what a step costs is
/// its threads' (NcclProtocolCosts::step). Simple hands over whole slices. Between nodes a proxy thread waits for the
/// whole message, whatever the protocol. The two directions of a tree share the threads of a block. So do sends and
/// receives: a block that works for one peer has 10 of its 20 warps for each, where a ring has 16 for both. But they
/// copy, a byte is read and written once, where a ring's crosses memory three times: 15/16 of the ring's rate, divided
/// by the peers that a block works for at once. With NVLS the engine streams, and the head of a chunk pays for each
/// (nvls_loop). The last rank of a way copies what arrives out of the buffer that it arrived in, at the rate of its
/// block: the ends of a ring cost more than its middle.
Protocol protocol_of(const NcclRun& run, LibraryLayout layout, const NcclCosts& costs);

}  // namespace athanor
