#pragma once

#include <cstdint>
#include <vector>

#include "models/aggregators/aggregation_protocol.hpp"
#include "models/aggregators/aggregation_transport.hpp"

namespace athanor {

/// The slots of a switch that a job of ATP uses, one for each place in its window, all different as long as there are
/// enough: those that a pseudo-random order of its own names first. Where a packet met a collision the server names the
/// next one that the job does not use, for the packets behind it (the hosts' programs of https://github.com/in-ATP/ATP,
/// common/HashTable.cc and CHANGE_AGTR_ENABLE).
class AggregatorPlaces {
 public:
  /// Requires window > 0; `slots` may be 0, then there are no places.
  AggregatorPlaces(std::uint32_t slots, std::uint32_t window, std::uint64_t seed);

  std::uint32_t slot(std::uint32_t sequence) const {
    const Place& place = places_[sequence % places_.size()];
    return sequence >= place.from ? place.slot : place.before;
  }
  /// The packet met a collision and its result is known: those that follow it at its place use another slot.
  void change(std::uint32_t sequence);

 private:
  struct Place {
    std::uint32_t from = 0;  ///< packet from which on `slot` holds
    std::uint32_t slot = 0;
    std::uint32_t before = 0;  ///< what held for the packet before
  };
  std::vector<Place> places_;
  std::vector<std::uint32_t> order_;
  std::vector<bool> used_;    ///< by slot
  std::uint32_t cursor_ = 0;  ///< into order_: to be looked at next
};

/// ATP: the slots of a switch are everyone's. A packet takes the slot that its job and its place in the window are
/// hashed to, or adds itself to what is there of its own; where the slot is another's it goes on alone. What a slot has
/// from all workers below goes on to the switch next to the server, and from there to the server, which adds up what
/// comes and sends the result back; on the way it frees the slots. After a collision the packets behind it use another
/// slot. A worker that misses a result sends its packet
/// again: that makes slots give up what they have, towards the server, which counts each worker once.
class AtpPool final : public AggregationProtocol {
 public:
  static constexpr std::uint32_t kMostWorkers = 64;

  /// Throws SimulationError: "no-server", "too-many-workers", "no-switch".
  AtpPool(Simulator& simulator, AggregationTransport& carrier, const std::vector<AggregationJob>& jobs,
          const AggregatorSettings& settings, const Cluster& cluster, std::uint64_t seed);

  void arrive(ConnectionId connection, const AggregationPacket& packet) override;

 private:
  using Workers = std::uint64_t;  ///< a set: bit w is worker w of a job
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Slot {
    Workers workers = 0;  ///< whose parts are in it; none: it is free
    std::uint64_t sum = 0;
    std::uint32_t job = 0;
    std::uint32_t sequence = 0;
    bool marked = false;
  };
  struct Switch {
    VertexId vertex;
    std::vector<Slot> slots;
  };
  /// A switch that works for a job: next to some of its workers, or to its server.
  struct Site {
    std::uint32_t place = 0;  ///< into switches_
    std::uint32_t job = 0;
    ConnectionId up = kNoConnection;    ///< towards the server
    ConnectionId back = kNoConnection;  ///< of results, from the site next to the server; none: it is that one
    Workers below = 0;                  ///< whose packets come to it
  };
  struct Worker {
    std::uint32_t site = 0;  ///< into sites_
    ConnectionId up;
    ConnectionId down;
    SendWindow window;
  };
  struct Job {
    Workers all = 0;
    std::uint32_t first_worker = 0;  ///< into workers_
    std::uint32_t first_site = 0;    ///< into sites_: the one next to the server; the others follow
    std::uint32_t sites = 0;
    ConnectionId to_switch;  ///< from the server
    std::optional<AggregatorPlaces> places;
    std::vector<Workers> at_server;      ///< by packet: whose parts have come
    std::vector<std::uint64_t> sums;     ///< by packet, at the server
    std::vector<bool> marked_at_server;  ///< by packet
    std::vector<bool> collided;          ///< by packet, as far as the server knows
  };
  enum class Stage : std::uint8_t { gradient, server, result, worker };
  /// What happens at the end of a connection.
  struct Target {
    Stage stage = Stage::gradient;
    std::uint32_t job = 0;
    std::uint32_t index = 0;  ///< into sites_ or workers_
  };

  void begin(std::uint32_t job) override;
  bool waits(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries) const override;
  void time_out(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence) override;
  Time round_trip(std::uint32_t job) const override;

  void add_job(std::uint32_t job, std::uint64_t seed);
  std::uint32_t site_at(std::uint32_t job, VertexId vertex);
  void join_sites(std::uint32_t job);
  ConnectionId join(std::uint32_t job, VertexId from, End sender, VertexId to, End receiver, const Target& target);

  Slot& slot_of(const Site& site, std::uint32_t sequence);
  void send_more(std::uint32_t worker, std::uint32_t job);
  void send(std::uint32_t worker, std::uint32_t job, std::uint32_t sequence, bool repeat);
  void add_up(const Site& site, AggregationPacket packet);
  void flush(const Site& site, Slot& slot, AggregationPacket packet);
  void go_on(const Site& site, const AggregationPacket& packet) { carrier_.send(site.up, packet); }
  void serve(std::uint32_t job, const AggregationPacket& packet);
  void hand_out(const Site& site, const AggregationPacket& packet);
  void use(std::uint32_t worker, std::uint32_t job, const AggregationPacket& packet);

  std::uint32_t window_ = 0;
  std::vector<Switch> switches_;
  std::vector<Site> sites_;
  std::vector<Worker> workers_;
  std::vector<Job> states_;
  IdVector<ConnectionId, Target> targets_;  ///< by connection
};

}  // namespace athanor
