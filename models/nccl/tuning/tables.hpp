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
  std::uint32_t from = 0;     ///< the first minor version that is known to have them; before it they are the nearest
  std::uint32_t through = 0;  ///< the last

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

  /// By protocol and floor(log2(bytes / 64)), up to `corrected`: by what a tree's rate for all-reduce is multiplied,
  /// measured.
  std::array<std::array<double, 24>, kNcclProtocols> tree_correction{};
  std::uint32_t corrected = 23;

  std::array<double, 4> most{};                        ///< GB/s of all channels, by generation; 0: any
  std::array<double, kNcclFunctions> ll128_channel{};  ///< of a channel with LL128, by NcclFunction; 0: as the caps say
  std::array<double, 2> tree_most{};                   ///< of trees over all channels, to two nodes and beyond; 0: any
  std::array<double, 2> ampere_ll128_tree_most{};      ///< the same of Ampere with LL128
  std::array<double, 4> plateau{1.9, 1.4, 1.4, 1.4};   ///< of a ring's latency between nodes, by generation
  bool plateau_by_ranks = false;                       ///< from 4 KiB a rank on, not 64 B a rank and channel
  double tree_share = 0.92;                            ///< of the channels' rate
  double tree_ll128_share = 120.0 / 128.0;             ///< the same between nodes
  double lone_tree_share = 0.85;                       ///< of trees whose children are all at one GPU
  double ll_step_between_nodes = 1;                    ///< a step within a node with LL is so much longer then
  bool pays_posts = true;                              ///< steps within a node take no less than posting a message
  /// What a NIC's own latency does to that of a step between nodes: it comes beside it, in its place, or not at all.
  enum class NicLatency : std::uint8_t { beside, instead, none };
  NicLatency nic_latency = NicLatency::beside;
  double direct_serial = 0.4;  ///< us for each further GPU of a node with CollNetDirect
  double direct_hopper_share = 0.85;
  double chain_share = 1;
  bool chain_pays_network = true;
  bool has_nvls = true;
  bool has_nvls_tree = true;
  bool halves_tree_chunks = false;   ///< with Simple, down to 32 KiB
  bool ll128_over_third_gpu = true;  ///< paths of type NVB are NVLink enough for LL128
  bool ampere_is_a100 = false;       ///< GPUs of other capabilities than 8.0 count as Volta
  bool by_threshold = false;         ///< trees up to a size, rings beyond; no estimates (2.4)

  /// How the rate of NVLS and NVLSTree follows from what the search found.
  enum class NvlsRate : std::uint8_t {
    rings,           ///< 2.17: 3/4 of the rings' rate
    share_of_nodes,  ///< 2.18: 5/6 of the rate; NVLSTree 0.7 N / (2 (N - 1))
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

/// The tables of a version, or the nearest that are known.
const NcclTuningTables& nccl_tuning_tables(NcclVersion version);

/// Where the tables of a version are not known: whose are taken in their place, in a sentence. "": they are known.
std::string nccl_version_note(NcclVersion version);

/// NCCL 2.4: bytes of an all-reduce up to which trees carry it out; none: at all sizes. Of the version's own formula
/// (src/init.cu, ncclTreeThreshold) or NCCL_TREE_THRESHOLD.
std::optional<Bytes> nccl_tree_threshold(const NcclCommunicator& communicator);

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
