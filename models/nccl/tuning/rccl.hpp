#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/nccl/tuning/call.hpp"
#include "models/nccl/tuning/communicator.hpp"
#include "models/nccl/tuning/tables.hpp"

namespace athanor {

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
  Corrections tree{};                    ///< of that rate, by floor(log2(bytes / 64)); the last for all that is larger
  Corrections ring{};                    ///< the same between nodes
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
