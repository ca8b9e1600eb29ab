#pragma once

#include "models/aggregators/aggregation_protocol.hpp"

namespace athanor {

/// SwitchML: each job has slots of its own in every switch of its tree, and a worker sends the next packet of a slot
/// when it has the result of the one before. A slot is there twice, for packets that take turns: while a new sum grows
/// in one copy, the other keeps the sum before it for a worker that has not got it.
///
/// A switch below the top hands its sum up and the result down. What comes a second time is answered from the copy, or
/// hands the switch's own sum up once more.
class SwitchMlPool final : public AggregationProtocol {
 public:
  /// Throws SimulationError as build_aggregation_tree(); "slots" where a job would get none.
  SwitchMlPool(Simulator& simulator, AggregationTransport& carrier, const std::vector<AggregationJob>& jobs,
               const AggregatorSettings& settings, const Cluster& cluster);

  void arrive(ConnectionId connection, const AggregationPacket& packet) override;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// One copy of a slot.
  struct Slot {
    std::uint32_t sequence = kNone;  ///< of the packet that it is for
    std::uint32_t missing = 0;       ///< children that have not contributed
    bool answered = false;           ///< holds the result of the whole job
    std::uint64_t sum = 0;
  };
  /// A switch of a job's tree.
  struct Node {
    std::uint32_t job = 0;
    ConnectionId up = kNoConnection;  ///< to the switch above; none: the top
    std::vector<ConnectionId> down;   ///< by child
    std::uint32_t words = 1;          ///< of 64 children
    std::vector<Slot> slots;          ///< two copies of each, one after the other
    std::vector<std::uint64_t> seen;  ///< by copy: the children that have contributed
  };
  struct Worker {
    std::uint32_t job = 0;
    std::uint32_t number = 0;  ///< in the job
    ConnectionId up;
    std::uint32_t results = 0;
    std::vector<std::uint32_t> waits_for;  ///< by slot: the packet; kNone: none is left
    std::vector<std::uint32_t> tries;      ///< by slot: how often it was sent
  };
  /// What a connection ends at.
  struct Target {
    bool is_worker = false;
    std::uint32_t index = 0;      ///< into workers_ or nodes_
    std::uint32_t child = kNone;  ///< of the node, that it comes from; kNone: from above
  };

  void begin(std::uint32_t job) override;
  bool waits(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries) const override;
  void time_out(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence) override;
  Time round_trip(std::uint32_t job) const override;

  void add_job(std::uint32_t job);
  void join_children(std::uint32_t job, const PlacedTree& placed);
  void target(ConnectionId connection, Target target);
  std::uint32_t copy(std::uint32_t sequence) const { return sequence % (2 * slots_); }

  void send(Worker& worker, std::uint32_t sequence, bool repeat);
  void contribute(Node& node, std::uint32_t child, const AggregationPacket& packet);
  void complete(Node& node, Slot& slot);
  void answer(Node& node, Slot& slot);
  void use(Worker& worker, const AggregationPacket& packet);

  std::uint32_t slots_ = 0;                  ///< of one job
  std::vector<std::uint32_t> first_worker_;  ///< by job, into workers_
  std::vector<std::uint32_t> first_node_;    ///< by job, into nodes_
  std::vector<Worker> workers_;
  std::vector<Node> nodes_;
  IdVector<ConnectionId, Target> targets_;  ///< by connection
};

}  // namespace athanor
