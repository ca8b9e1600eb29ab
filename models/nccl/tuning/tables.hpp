#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/nccl/tuning/call.hpp"
#include "models/nccl/tuning/communicator.hpp"
#include "models/software/nccl.hpp"

namespace athanor {

/// By generation of GPUs (compute capability below 80, 80 to 89, 90 to 99, from 100), then on 1 node, 2 nodes, more.
using NcclCaps = std::array<std::array<double, 3>, 4>;
/// By algorithm and protocol, in us.
using NcclLatencies = std::array<std::array<double, kNcclProtocols>, kNcclAlgorithms>;

/// The constants of NCCL's tuning model (src/graph/tuning.cc), and where its formulas changed.
struct NcclTuningTables {
  NcclVersion since;
  std::uint32_t through = 0;  ///< the last minor version that is known to have them

  NcclLatencies base{};    ///< once
  NcclLatencies nvlink{};  ///< per step
  NcclLatencies pcie{};
  NcclLatencies network{};

  NcclCaps ll{};          ///< GB/s of LL over all channels
  NcclCaps ring_ll128{};  ///< GB/s per channel
  NcclCaps tree_ll128{};
  NcclCaps tree{};                          ///< of any protocol
  NcclCaps nvls_tree{};                     ///< 0: no cap
  std::array<double, 4> nvls_efficiency{};  ///< of NVLink's rate, by generation

  /// How the rate of NVLS and NVLSTree follows from what the search found.
  enum class NvlsRate : std::uint8_t {
    share_of_nodes,  ///< 2.18: 5/6 of the least rate; NVLSTree 0.7 N / (2 (N - 1))
    five_sixths,     ///< to 2.27: 5/6 of the least rate; NVLSTree's way between more than two nodes counts half
    efficiency,      ///< from 2.28: a share of NVLink's rate, counted twice for all-reduce, as bus bandwidth
  };
  NvlsRate nvls_rate = NvlsRate::efficiency;

  double ring_ll_across = 0.5;        ///< of a ring's rate with LL: between nodes, and of all-reduce and reduce
  double ring_ll_within = 0.5;        ///< of all others on one node
  double ring_ll128_alone = 0.92;     ///< of a ring's rate with LL128 where every node has one rank
  bool ring_pays_every_node = false;  ///< all-reduce pays 2 N network latencies, not 2 (N - 1)
  bool lone_ranks_pay_tree = true;    ///< where every node has one rank, a network step costs what a tree's does
  bool gathers_by_ring_only = false;  ///< all-gather and reduce-scatter know no other algorithm
  bool has_pat = true;
  bool nvls_gathers_over_network = true;     ///< the least of NVLink's (p-1)/p and 0.9 of the network's rate counts
  bool nvls_gathers_at_five_sixths = false;  ///< as all-reduce
  bool nvls_tree_pays_every_node = false;    ///< 2 (N - 1) network latencies, not 2 log2 N
  bool collnet_gathers_by_share =
      false;                       ///< the rate of CollNetDirect's gathers falls from 0.95 to 0.85 at 8 ranks a node
  bool corrects_nvls_tree = true;  ///< the correction of trees holds for NVLSTree on Blackwell and x86
  std::vector<std::uint32_t> ll128_capabilities = {};  ///< compute capabilities that use LL128; none: from 70 on
  bool ll128_mixed = true;                             ///< also where compute capabilities of at least 90 differ
};

/// The tables of a version, or of the nearest older one that is known; of 2.18 for what is older still.
const NcclTuningTables& nccl_tuning_tables(NcclVersion version);

/// Where the tables of a version are not known: whose are taken in their place, in a sentence. "": they are known.
std::string nccl_version_note(NcclVersion version);

/// By what a tree's rate for all-reduce is multiplied: measured, by floor(log2(bytes / 64)) from 0 to 23.
double nccl_tree_correction(NcclProtocol protocol, std::uint32_t index);

/// What RCCL's tuner knows of machines with one architecture of GPUs: the constants of one of its models (RCCL 2.27 of
/// ROCm 7, src/graph/tuning.cc, tuning_model_5 for gfx942 and tuning_model_6 for gfx950). Its models of other machines
/// are told apart by tables of whole machines, which are not here.
struct RcclTuningModel {
  static constexpr std::size_t kSizes = 27;
  using Corrections = std::array<std::array<double, kSizes>, kNcclProtocols>;
  /// For bytes of one rank's part (all-gather, reduce-scatter, broadcast, reduce) or of the vector: more than `above`,
  /// at most `to`. No bytes: RCCL has no such range.
  struct Range {
    Bytes above;
    Bytes to;
  };
  struct Ranges {
    Range ll;
    Range ll128;
  };

  std::string_view architecture;
  NcclTuningTables tables;               ///< latencies; none of its caps
  std::array<NcclLatencies, 2> share{};  ///< of the channels' rate, on one or two nodes and on more; no latencies
  Corrections tree{};  ///< factors of the rate of trees, by floor(log2(bytes / 64)); the last for all that is larger
  Corrections ring{};  ///< factors of the rate of rings between nodes, by the same logarithm
  std::array<Ranges, kNcclFunctions> ranges{};  ///< by NcclFunction, between nodes
};

/// Null: NCCL runs the communicator, or RCCL on GPUs whose model is not known; then NCCL's tables stand in.
const RcclTuningModel* rccl_tuning_model(const NcclCommunicator& communicator);

/// The tables of the library that runs the communicator.
const NcclTuningTables& tuning_tables(const NcclCommunicator& communicator);

/// By what RCCL multiplies the rate of an algorithm for a call of so many bytes.
double rccl_correction(const RcclTuningModel& model, const NcclCommunicator& communicator, const NcclCall& call,
                       NcclAlgorithm algorithm, NcclProtocol protocol);

/// The protocol that RCCL takes for the call whatever its estimates say (src/rccl_wrap.cc): by ranges of sizes between
/// nodes, and LL for short reduce-scatters (gfx950: and all-gathers) on one. None: its estimates decide. `ll128`: LL128
/// can be had.
std::optional<NcclProtocol> rccl_protocol(const RcclTuningModel& model, const NcclCommunicator& communicator,
                                          const NcclCall& call, bool ll128);

}  // namespace athanor
