#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/ids.hpp"
#include "sim/simulator.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What each link of a network has carried.
using CarriedBytes = IdVector<LinkIndex, Bytes>;

/// What a network is built from: links and the connections over them, each standing for a class of equal ones.
/// Without classes every class has one member and every `flows` is 1.
struct FlowGraph {
  struct Link {
    Bandwidth rate;
    bool slack = false;  ///< never decides a rate (SlackLinks), so that it need not tell apart those that cross it
  };
  /// One link on a connection's path.
  struct Use {
    LinkIndex link;
    /// Members of the connection's class that cross one link of the link's class. 0: a slack link on the path of the
    /// member that stands for its class; how many cross it is told `beside`.
    std::uint32_t flows = 1;
  };
  struct Connection {
    Time latency;                 ///< of the whole path, and of software
    Bandwidth cap;                ///< most that one connection ever takes, besides what links allow; max: no cap
    Bytes grain;                  ///< of the first part that is reported on its own; 0: none is
    std::uint32_t first_use = 0;  ///< into `uses`
    std::uint32_t uses = 0;       ///< 0: the two ends are one device, and only `cap` limits
    std::uint32_t beside = 0;     ///< of a class: further uses behind them, slack links that some member crosses
  };
  IdVector<LinkIndex, Link> links;
  IdVector<ConnectionId, Connection> connections;
  std::vector<Use> uses;
};

/// Told what becomes of the bytes given to a network; one call per message, in the order of the moves.
class MoveListener {
 public:
  virtual ~MoveListener() = default;
  virtual void injected(ConnectionId connection) = 0;       ///< the last byte has left the source
  virtual void grain_arrived(ConnectionId connection) = 0;  ///< the first grain is there (only where grain > 0)
  virtual void delivered(ConnectionId connection) = 0;      ///< the last byte is there
};

/// How long moving bytes takes. A connection is first in, first out: a message starts to be injected when the one
/// before it has been injected, and is delivered one latency after its last byte was injected.
class Network {
 public:
  virtual ~Network() = default;

  /// Starts to move `size` bytes (0 is legal: latency only) over a connection, now.
  virtual void move(ConnectionId connection, Bytes size) = 0;

  /// What the receiver has, in order, of the message that is being delivered over a connection; nothing where that is
  /// not known: at levels other than packets, and over several queue pairs.
  virtual std::optional<Bytes> arrived(ConnectionId) const { return std::nullopt; }

  /// Bytes that one link of this class has carried so far.
  virtual Bytes carried(LinkIndex link) const = 0;

  /// Appends all that decides how the future differs from that of another moment, in times relative to now, so that
  /// equal snapshots mean equal futures.
  virtual void snapshot(std::vector<std::int64_t>& state) const = 0;

  /// The simulator has just skipped `by` (Simulator::fast_forward), `times` repetitions of what happened since
  /// `carried_before`, of each link, was taken: moves remembered times, and counts the bytes carried in the skipped
  /// repetitions.
  virtual void fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) = 0;
};

/// Requires that a graph's uses exist, that rates and caps are above zero and that latencies and grains are not below.
void check(const FlowGraph& graph);

/// What a connection reaches where nothing else moves, not even other members of its class: the least of its cap and
/// the rates of its links. Bandwidth::max(): nothing limits it.
Bandwidth rate_alone(const FlowGraph& graph, const FlowGraph::Connection& connection);

/// Time to inject a message at a rate; none where the rate is without limit (Bandwidth::max()).
Time injection_time(Bytes size, Bandwidth rate);

}  // namespace athanor
