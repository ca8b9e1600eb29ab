#include "models/circuits/rotor.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

class RotorWalk {
 public:
  RotorWalk(const CircuitDemand& demand, const CircuitSwitch& circuits, const Rotor& rotor)
      : circuits_(circuits),
        rotor_(rotor),
        ranks_(static_cast<std::uint32_t>(demand.size())),
        own_(demand),
        relayed_(demand.size(), std::vector<std::int64_t>(rotor.indirect ? demand.size() : 0)),
        sent_(std::min<std::size_t>(circuits.ports, demand.size()) * demand.size()) {
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      require(demand[i].size() == ranks_, "a demand of {} columns for {} ranks", demand[i].size(), ranks_);
      own_[i][i] = 0;
      left_ += std::accumulate(own_[i].begin(), own_[i].end(), std::int64_t{0});
    }
    all_ = left_;
    const Wide carried = Wide{circuits.rate.count()} * (rotor.slot - circuits.delay).count() / kPicoseconds;
    capacity_ = static_cast<std::int64_t>(std::min<Wide>(carried, INT64_MAX));
    if (capacity_ < 1) {
      throw SimulationError("slot-too-short", "a slot ends before its circuits have carried a byte");
    }
  }

  RotorRun run(const std::stop_token& stop) {
    RotorRun result;
    while (left_ > 0) {
      if (stop.stop_requested()) { throw Interrupted(); }
      begin_ = rotor_.slot * static_cast<std::int64_t>(result.slots) + circuits_.delay;
      for (const bool others : {false, true}) {  // first what is for whom circuits lead to, on all ports
        if (others && !rotor_.indirect) { continue; }
        for (std::uint32_t port = 0; port < circuits_.ports; ++port) { carry(port, result.slots, others); }
      }
      for (const Landing& each : landings_) { relayed_[each.rank][each.receiver] += each.bytes; }
      landings_.clear();
      ++result.slots;
    }
    result.time = end_;
    result.direct = all_ > 0 ? static_cast<double>(direct_) / static_cast<double>(all_) : 1;
    return result;
  }

 private:
  static constexpr std::int64_t kPicoseconds = 1'000'000'000'000;

  /// What comes to a rank in a slot and goes on in a later one.
  struct Landing {
    std::uint32_t rank = 0;
    std::uint32_t receiver = 0;
    std::int64_t bytes = 0;
  };

  void carry(std::uint32_t port, std::uint64_t slot, bool others) {
    const std::uint32_t shifts = ranks_ - 1;
    if (port >= shifts) { return; }  // more switches than matchings: the others stay dark
    const std::uint32_t own = (shifts - port + circuits_.ports - 1) / circuits_.ports;
    const std::uint32_t shift = 1 + port + static_cast<std::uint32_t>(slot % own) * circuits_.ports;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      std::int64_t& sent = sent_[std::size_t{port} * ranks_ + rank];
      const std::uint32_t peer = (rank + shift) % ranks_;
      if (!others) {
        sent = send(rank, peer);
      } else if (sent < capacity_) {
        offload(rank, peer, capacity_ - sent);
      }
    }
  }

  std::int64_t send(std::uint32_t rank, std::uint32_t peer) {
    std::int64_t sent = 0;
    if (rotor_.indirect) { sent += deliver(relayed_[rank][peer], sent); }
    const std::int64_t straight = deliver(own_[rank][peer], sent);
    direct_ += straight;
    return sent + straight;
  }

  /// Of these bytes what the slot has room for behind `before` others; they are there when the circuit has carried
  /// them.
  std::int64_t deliver(std::int64_t& waiting, std::int64_t before) {
    const std::int64_t bytes = std::min(waiting, capacity_ - before);
    if (bytes == 0) { return 0; }
    waiting -= bytes;
    left_ -= bytes;
    end_ = std::max(end_, begin_ + transfer_time(Bytes{before + bytes}, circuits_.rate) + circuits_.latency);
    return bytes;
  }

  void offload(std::uint32_t rank, std::uint32_t peer, std::int64_t room) {
    std::vector<std::int64_t>& own = own_[rank];
    std::uint32_t receivers = 0;
    for (std::uint32_t to = 0; to < ranks_; ++to) { receivers += to != peer && own[to] > 0 ? 1 : 0; }
    for (std::uint32_t to = 0; to < ranks_ && receivers > 0; ++to) {
      if (to == peer || own[to] == 0) { continue; }
      const std::int64_t bytes = std::min(own[to], room / receivers);
      own[to] -= bytes;
      room -= bytes;
      --receivers;
      if (bytes > 0) { landings_.push_back({peer, to, bytes}); }
    }
  }

  const CircuitSwitch& circuits_;
  const Rotor& rotor_;
  std::uint32_t ranks_;
  CircuitDemand own_;
  CircuitDemand relayed_;           ///< at each rank, what it sends on
  std::vector<std::int64_t> sent_;  ///< by port and rank: bytes of this slot to those that circuits lead to
  std::vector<Landing> landings_;
  std::int64_t capacity_ = 0;  ///< bytes of a circuit in a slot
  std::int64_t left_ = 0;
  std::int64_t all_ = 0;
  std::int64_t direct_ = 0;
  Time begin_;
  Time end_;
};

}  // namespace

RotorRun run_rotor(const CircuitDemand& demand, const CircuitSwitch& circuits, const Rotor& rotor,
                   const std::stop_token& stop) {
  return RotorWalk(demand, circuits, rotor).run(stop);
}

}  // namespace athanor
