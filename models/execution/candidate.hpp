#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/catalog.hpp"
#include "models/engines/engine_sites.hpp"
#include "models/execution/pricing.hpp"
#include "models/execution/run.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/software/costs.hpp"

namespace athanor {

/// Why a request cannot be carried out in one way, in words for the user.
struct Refusal {
  std::string reason;
};

/// An algorithm with a protocol, laid out for one size: it can run. Borrows the request and the algorithm.
class Candidate {
 public:
  /// Would smaller chunks help, and does nobody say how large they are?
  bool may_choose_chunk() const;
  /// This candidate in chunks of so much.
  Candidate in_chunks_of(Bytes chunk) const;
  /// This candidate for another request, of the same collective elsewhere; none where it refuses. Borrows that request.
  std::optional<Candidate> on(const RunRequest& elsewhere) const;

  /// Is it carried out packet by packet over memory of switches, and not by its schedule (see goes_by_packets())?
  bool by_packets() const;
  /// Simulates it; of the result bound, limits and notes are for the caller.
  RunResult run(const SimulationOptions& options) const;
  /// What it would take if bytes cost nothing: every latency and overhead, and nothing else.
  Time latency(const SimulationOptions& options) const { return simulate_with(Bytes::zero(), options).time; }
  /// On the request's timeline; nothing where it goes by packets.
  void draw() const;

  const Algorithm& algorithm() const { return algorithm_; }
  const Protocol& protocol() const { return parts_.protocol; }
  /// Before its first primitive.
  Time launch() const;
  /// How long a host is busy with it that prepares it for all ranks, one after the other, beside the one before it.
  Time host_time() const;
  /// A call whose primitives take so long, where nothing of the call before is left.
  Time launched(Time primitives) const;
  std::unique_ptr<const Schedule> schedule() const { return algorithm_.make(collective(), layout()); }
  const Layout& layout() const { return parts_.layout; }
  /// As it is priced: rounded up.
  const Collective& collective() const { return parts_.collective; }
  /// The trees that it was laid out on, as it asked for them; nothing where it needs none.
  const std::optional<TreeRequest>& wanted_trees() const { return parts_.wanted_trees; }
  /// Where the agents of its schedule are.
  Placement place(const AgentCount& agent_count) const;
  /// What they cost. Borrows from the request.
  std::unique_ptr<const CostModel> costs(const Schedule& schedule, Bytes element_size) const;

 private:
  friend class CandidateBuilder;
  struct Parts {
    Protocol protocol;  ///< whose engines' costs are those of one channel
    Collective collective;
    Layout layout;
    EngineSites sites;
    std::optional<TreeRequest> wanted_trees;
  };
  Candidate(const RunRequest& request, const Algorithm& algorithm, Parts parts)
      : request_(request), algorithm_(algorithm), parts_(std::move(parts)) {}

  std::shared_ptr<const PreparedSchedule> prepared(const Schedule& schedule, const Placement& placement,
                                                   const SimulationOptions& options) const;
  Simulated simulate_with(Bytes element_size, const SimulationOptions& options) const;
  void call_again(const SimulationOptions& options, RunResult& result) const;
  AgentKinds kinds(const Schedule& schedule) const;
  void use_nics(const AgentCount& agent_count, Placement& placement) const;
  std::vector<std::string> roots() const;

  const RunRequest& request_;
  const Algorithm& algorithm_;
  Parts parts_;
  /// In classes, once it has been simulated: what bytes cost does not change them. Not for several threads at once.
  mutable std::shared_ptr<const PreparedSchedule> prepared_;
};

/// Lays an algorithm out with a protocol for the request's size, or says why it cannot run.
std::variant<Candidate, Refusal> lay_out(const RunRequest& request, const Algorithm& algorithm, Protocol protocol);

/// Do they run the same schedule, up to who plays the roles and where engines are?
bool same_schedule(const Candidate& a, const Candidate& b);

/// Whether it needs engines in switches of the network.
bool aggregates(const Algorithm& algorithm);

/// The payload of the request's collective.
Bytes payload(const RunRequest& request);

}  // namespace athanor
