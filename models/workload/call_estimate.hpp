#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/workload/call_shares.hpp"
#include "models/workload/workload.hpp"
#include "sim/time.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// Which nodes of a fabric look alike: their devices have links of the same figures to the same devices of the node, or
/// out of it, in one order. One slower link makes a kind of its own. Nodes are looked at when they are asked for.
class NodeKinds {
 public:
  /// Borrows the fabric.
  explicit NodeKinds(const Fabric& fabric) : fabric_(fabric) {}

  /// Equal for nodes that look alike, and for no others. Requires a node of the fabric.
  std::uint32_t kind_of(std::uint32_t node);

  /// The link of this node that stands where `link` stands in one that looks alike.
  LinkId same_link(LinkId link, std::uint32_t node);

 private:
  using Devices = std::map<std::pair<VertexKind, std::uint32_t>, VertexId>;  ///< by kind and index

  const Devices& devices(std::uint32_t node);
  std::vector<std::int64_t> looks(std::uint32_t node);

  const Fabric& fabric_;
  std::map<std::uint32_t, Devices> devices_;  ///< by node; filled when first asked for
  std::map<std::vector<std::int64_t>, std::uint32_t> kinds_;
  std::map<std::uint32_t, std::uint32_t> kind_of_;  ///< by node
};

/// What a call takes if nothing else runs, and what of which links.
struct CallEstimate {
  Time time;
  Time latency;  ///< of `time`, before or after what links carry: no other call can use the time in its place
  Bytes size;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm;
  std::string protocol;
  std::uint32_t channels = 1;
  bool extrapolated = false;  ///< outside what the profile of collectives was fitted in
  std::shared_ptr<const std::vector<LinkShare>> shares;

  /// The rest of the time, in which its links are busy or others may use them: between the steps of a collective.
  Time transfer() const { return time - latency; }
  /// What it takes of its links during its transfer.
  std::vector<LinkShare> transfer_shares() const;

  /// The link that it keeps busy longest, the first of several; none, with a share of 0, where it moves nothing.
  LinkShare busiest() const;
};

/// What every call and message of a workload takes alone, by the number that operations are given.
struct WorkloadEstimates {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<const CallEstimate*> estimates;                           ///< each once
  std::vector<std::uint32_t> of_call;                                   ///< by call of the workload
  std::map<std::pair<std::uint32_t, Bytes>, std::uint32_t> of_message;  ///< by channel and size

  /// The estimate of an operation; kNone for what is no call or message.
  std::uint32_t of(const Workload::Operation& operation) const;
};

}  // namespace athanor
