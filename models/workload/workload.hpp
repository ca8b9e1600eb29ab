#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "sim/units.hpp"

namespace athanor {

struct TokenExchange;

/// Groups of endpoints of a cluster, by rank within each group, that do the same thing at the same time. At least one;
/// all of equal size.
using EndpointGroups = std::vector<std::vector<std::uint32_t>>;

/// What communication is for: results are split by it.
enum class Parallelism : std::uint8_t { tensor, pipeline, data, expert, context, embedding, other };
constexpr std::size_t kParallelisms = 7;

/// "TP", "PP", "DP", "EP", "CP", "embedding", "other".
std::string_view name(Parallelism parallelism);

/// What workers do: programs of computations, collectives and messages. A trace has a worker for each of its ranks; a
/// training step has one for each class of ranks that do the same, and its groups of endpoints say for whom it stands.
///
/// A worker's operation runs when the operations that it depends on have ended and its stream is free. A stream does
/// one operation after the other: where it is ordered, in the order of the program; else whatever is ready first (of
/// what is ready at once, what comes first in the program). Collectives run when all workers of their communicator
/// have come to the same one: their k-th calls belong together, as in NCCL. The k-th send over a channel meets the k-th
/// receive.
struct Workload {
  struct Stream {
    std::string name;  ///< "compute", "TP"
    bool ordered = true;
    bool host = false;  ///< of a CPU: what is computed on it does not count as computing
  };

  /// Who takes part in collectives.
  struct Communicator {
    std::string name;  ///< "TP of stage 3"
    Parallelism use = Parallelism::other;
    std::vector<std::uint32_t> workers;  ///< each calls; at least one
    std::shared_ptr<const EndpointGroups> groups;
  };

  /// What one call asks for.
  struct Call {
    std::uint32_t communicator = 0;
    CollectiveKind kind = CollectiveKind::all_reduce;  ///< not send_receive
    Bytes size;  ///< as Collective::count counts: of the whole, or of one rank's vector
    DataType type = DataType::float32;
    std::uint32_t root = 0;
    /// Of all-to-all: how much more the busiest rank receives than the average one; at least 1.
    double imbalance = 1;
    /// Of all-to-all: tokens that go to experts or back in their own way, whatever is said above; null: they do not.
    std::shared_ptr<const TokenExchange> exchange = nullptr;
    /// Exchanges are compared by what they are, not by who made them.
    bool operator==(const Call& other) const;
  };

  /// Messages go from one worker to another. Both may be the same worker: then it passes them round a ring.
  struct Channel {
    std::string name;  ///< "activations of stage 3"
    Parallelism use = Parallelism::other;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::shared_ptr<const EndpointGroups> pairs;  ///< groups of two: sender, receiver
    bool eager = false;  ///< messages move when they are sent, and wait for their receivers; else when both have come
  };

  enum class Kind : std::uint8_t {
    compute,  ///< `time` long
    call,     ///< `subject`: of `calls`
    send,     ///< `subject`: of `channels`; `size`
    receive,
    mark,  ///< takes no time
  };

  struct Operation {
    Kind kind = Kind::mark;
    std::uint16_t stream = 0;  ///< of the worker
    std::uint32_t label = 0;   ///< of `labels`: what it is called
    std::uint32_t subject = 0;
    std::uint32_t first_dependency = 0;  ///< into Worker::dependencies: operations of the worker, any of its program
    std::uint32_t dependencies = 0;
    Time time;   ///< of computing
    Bytes size;  ///< of a message
  };

  struct Worker {
    std::string name;         ///< "stage 3"
    std::uint32_t ranks = 1;  ///< for how many it stands
    std::vector<Stream> streams;
    std::vector<Operation> operations;
    std::vector<std::uint32_t> dependencies;
    std::vector<std::uint32_t> endpoints = {};  ///< that it stands for, ascending; empty: its calls and messages tell
  };

  std::vector<Worker> workers;
  std::vector<Communicator> communicators;
  std::vector<Call> calls;
  std::vector<Channel> channels;
  std::vector<std::string> labels;
};

/// Requires that every number names something that exists. A defect of whoever made it, not of a user.
void check(const Workload& workload);

}  // namespace athanor
