#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "models/nccl/execution/protocol.hpp"
#include "models/nccl/tuning/choice.hpp"
#include "models/nccl/tuning/communicator.hpp"

namespace athanor {

struct Algorithm;
struct NcclWork;

/// What NCCL is asked to carry out. Borrows the costs.
struct NcclRequest {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;  ///< of send_receive: who sends to the next rank
  Bytes payload;           ///< as nccl-tests counts it for the collective
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::vector<const Algorithm*> algorithms;  ///< of the catalog, that may be taken
  std::optional<std::string> protocol;       ///< that must be taken
  const NcclCosts& costs;
};

/// What of NCCL's a request is simulated with for one algorithm of the catalog.
struct NcclOffer {
  std::vector<Protocol> protocols;  ///< candidates, in NCCL's order of protocols
  std::string reason;               ///< why there are none
  bool passed_over = false;         ///< it could run, and NCCL takes another one
};

/// NCCL on one communicator: what it found there, and how it runs a call. Pure: calls do not depend on each other.
class NcclRuntime {
 public:
  explicit NcclRuntime(NcclCommunicator communicator);

  const NcclCommunicator& communicator() const { return communicator_; }

  /// What carries out the request with this algorithm: protocols as its costs say who chooses (NcclChoosing).
  NcclOffer offer(const NcclRequest& request, const Algorithm& algorithm) const;

  /// What NCCL itself would take for the request; none: it is made of sends and receives.
  std::optional<NcclChoice> choice(const NcclRequest& request) const;

 private:
  NcclOffer offer_all(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                      const NcclCosts& costs) const;
  NcclOffer offer_rounds(const NcclRequest& request, const Algorithm& algorithm) const;
  LibraryLayout layout_of(const NcclCommunicator& communicator, NcclAlgorithm algorithm, const NcclWork& work) const;
  Protocol protocol(const NcclCommunicator& communicator, const NcclCall& call, const NcclChoice& choice,
                    const NcclCosts& costs) const;

  NcclCommunicator communicator_;
  Shared<ChannelOrders> ring_orders_;
  Shared<ChannelOrders> tree_orders_;
  Shared<ChannelOrders> chain_orders_;  // of CollNet
};

/// The name in the catalog of what NCCL calls so; NVLS is "nvls" on one node and "nvls_sharp" on several.
std::string_view catalog_name(NcclAlgorithm algorithm, bool one_node);
/// The inverse; none: NCCL has no such algorithm.
std::optional<NcclAlgorithm> nccl_algorithm_of(std::string_view catalog_name);

/// Whether NCCL has it on one node, or on several: in rings, trees, with engines or as rounds of sends and receives.
bool is_nccls(const Algorithm& algorithm, bool one_node);

/// What NCCL calls the request's collective; none: it is made of sends and receives.
std::optional<NcclCall> nccl_call(const NcclRequest& request);

/// NCCL on any endpoints of a platform's cluster, found once for all that are in their nodes alike.
using NcclSource = std::function<std::shared_ptr<const NcclRuntime>(const std::vector<std::uint32_t>&)>;

/// NCCL of a workload; empty where the platform's profile has no "nccl".
struct WorkloadNccl {
  std::shared_ptr<const NcclRuntime> all;  ///< on the endpoints of all ranks
  NcclSource groups;
};

}  // namespace athanor
