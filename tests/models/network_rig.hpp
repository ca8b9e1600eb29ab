#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "models/network/network.hpp"
#include "sim/simulator.hpp"

namespace athanor::test {

/// Random whole numbers that are the same everywhere (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return low + static_cast<std::int64_t>((z ^ z >> 31) % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t k = values.size(); k > 1; --k) {
      std::swap(values[k - 1], values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(k) - 1))]);
    }
  }

 private:
  std::uint64_t state_;
};

/// FlowGraph::Use with the link's number.
struct Crossing {
  std::uint32_t link = 0;
  std::uint32_t flows = 1;
};

inline void add_connection(FlowGraph& plan, const std::vector<Crossing>& path, Time latency = Time::zero(),
                           Bandwidth cap = Bandwidth::max(), Bytes grain = Bytes::zero()) {
  plan.connections.push_back(
      {latency, cap, grain, static_cast<std::uint32_t>(plan.uses.size()), static_cast<std::uint32_t>(path.size())});
  for (const auto& [link, flows] : path) { plan.uses.push_back({LinkIndex{link}, flows}); }
}

inline FlowGraph links_of(const std::vector<Bandwidth>& rates) {
  FlowGraph plan;
  for (const Bandwidth rate : rates) { plan.links.push_back({rate}); }
  return plan;
}

/// Notes when each connection's messages are injected, their grains arrive and they are delivered.
struct Log : MoveListener {
  struct Times {
    std::vector<Time> injected, grains, delivered;
    bool operator==(const Times&) const = default;
  };
  Log(const Simulator& clock, std::size_t connections) : clock_(clock), of(connections) {}
  void injected(ConnectionId c) override {
    of[c.value].injected.push_back(clock_.now());
    calls.emplace_back(clock_.now(), 'i', c.value);
  }
  void grain_arrived(ConnectionId c) override {
    of[c.value].grains.push_back(clock_.now());
    calls.emplace_back(clock_.now(), 'g', c.value);
  }
  void delivered(ConnectionId c) override {
    of[c.value].delivered.push_back(clock_.now());
    calls.emplace_back(clock_.now(), 'd', c.value);
    if (on_delivered) { on_delivered(c.value); }
  }

  const Simulator& clock_;
  std::vector<Times> of;
  std::vector<std::tuple<Time, char, std::uint32_t>> calls;  ///< in order, by their first letters
  std::function<void(std::uint32_t)> on_delivered;
};

/// Calls a function at given times.
class Script : public Actor {
 public:
  explicit Script(Simulator& simulator) : simulator_(simulator), self_(simulator.add(*this)) {}
  void at(Time when, std::function<void()> action) {
    simulator_.at(when, self_, actions_.size());
    actions_.push_back(std::move(action));
  }
  void on_event(std::uint64_t what) override { actions_[what](); }

 private:
  Simulator& simulator_;
  ActorId self_;
  std::vector<std::function<void()>> actions_;
};

/// A network of one kind on its own simulator, with a log.
template <class Kind>
struct Rig {
  explicit Rig(const FlowGraph& plan)
      : script(simulator), log(simulator, plan.connections.size()), network(simulator, plan, log) {}
  void move_at(Time when, std::uint32_t connection, Bytes size) {
    script.at(when, [this, connection, size] { network.move(ConnectionId{connection}, size); });
  }
  const Log::Times& of(std::uint32_t connection) const { return log.of[connection]; }

  Simulator simulator;
  Script script;
  Log log;
  Kind network;
};

/// What `size` bytes need at `rate`, in whole picoseconds, by an own formula.
inline Time time_at(Bytes size, Bandwidth rate) {
  const Wide parts = Wide{size.count()} * 1'000'000'000'000;
  return Time{static_cast<std::int64_t>((parts - 1) / rate.count() + 1)};
}

}  // namespace athanor::test
