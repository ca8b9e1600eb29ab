#include "models/serving/simulate_pools.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/simulator.hpp"

namespace athanor {

namespace {

/// Both pools, their engines instant by instant, and the fabric between them, on one clock.
class PooledServing final : public Actor {
 public:
  PooledServing(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& prefill,
                const IterationLaw& decode, const PoolFabric& fabric, const std::stop_token& stop)
      : requests_(requests),
        rules_(rules),
        model_(fabric.prefilled.model),
        simulator_(stop),
        self_(simulator_.add(*this)),
        network_(simulator_, fabric.cluster,
                 {rules.prefill->replicas, fabric.prefilled.tensor, rules.replicas, fabric.decode_tensor},
                 kv_shares(fabric.prefilled, fabric.decode_tensor), fabric.options, fabric.seed,
                 [this](std::uint32_t request) { arrived(request); }) {
    run_.outcomes.resize(requests.size());
    run_.transfers.resize(requests.size());
    const std::uint32_t all = rules.prefill->replicas + rules.replicas;
    engines_.reserve(all);
    for (std::uint32_t i = 0; i < all; ++i) {
      const bool first = i < rules.prefill->replicas;
      engines_.emplace_back(first ? rules.prefill->engine : rules.engine, first ? prefill : decode, requests,
                            run_.outcomes, stop, first ? EngineRole::prefill : EngineRole::decode);
    }
    wake_.assign(all, Time::max());
    touched_.assign(all, false);
  }

  ServingRun run() {
    await(0);
    simulator_.run();
    if (network_.under_way() > 0 || !under_way_.empty()) {
      throw SimulationError("undelivered", "the network never delivered what is kept of some requests");
    }
    for (std::uint32_t i = 0; i < engines_.size(); ++i) {
      (i < rules_.prefill->replicas ? run_.prefill : run_.replicas).push_back(engines_[i].account());
    }
    for (const ServedOutcome& outcome : run_.outcomes) { run_.end = std::max(run_.end, outcome.finished); }
    run_.kv_bytes = network_.bytes();
    return std::move(run_);
  }

  void on_event(std::uint64_t what) override {
    const auto subject = static_cast<std::uint32_t>(what);
    switch (static_cast<Kind>(what >> kKindBits)) {
      case Kind::engine:
        engines_[subject].end(simulator_.now());
        touch(subject);
        break;
      case Kind::request: come(subject); break;
      case Kind::prefilled: announce(subject); break;
      case Kind::piece: send(subject, static_cast<std::uint32_t>(what >> kPieceBits) & kPieceMask); break;
    }
  }

  void on_end_of_instant() override {
    std::vector<std::uint32_t> touched = std::exchange(to_begin_, {});
    std::sort(touched.begin(), touched.end());
    for (const std::uint32_t engine : touched) {
      touched_[engine] = false;
      begin(engine);
    }
  }

 private:
  enum class Kind : std::uint8_t { engine, request, prefilled, piece };
  static constexpr std::uint32_t kKindBits = 56;
  static constexpr std::uint32_t kPieceBits = 32;
  static constexpr std::uint32_t kPieceMask = 0xffffff;

  /// From the iteration with the last tokens of a prompt until what is kept of it is where it decodes.
  struct Transfer {
    std::uint32_t prefill = 0;  ///< engines
    std::uint32_t decode = 0;
    Time begin;  ///< of the iteration
    Time end;
  };

  static std::uint64_t event(Kind kind, std::uint32_t subject, std::uint32_t piece = 0) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindBits | std::uint64_t{piece} << kPieceBits | subject;
  }
  std::uint32_t pieces() const { return rules_.prefill->transfer.pieces; }
  /// The layer behind those of a piece.
  std::uint32_t layers_until(std::uint32_t piece) const {
    return static_cast<std::uint32_t>(std::uint64_t{model_.layers} * (piece + 1) / pieces());
  }

  /// Requests come behind all else of their instant, so that who is chosen for them knows what has ended.
  void await(std::uint32_t request) {
    if (request == requests_.size()) { return; }
    constexpr std::uint64_t kBehind = std::uint64_t{1} << 40U;
    simulator_.at_rank(requests_[request].arrival, self_, event(Kind::request, request), kBehind + request);
  }

  void come(std::uint32_t request) {
    const std::uint32_t engine = choose(0, rules_.prefill->replicas, request);
    engines_[engine].join(request, simulator_.now());
    touch(engine);
    await(request + 1);
  }

  std::uint32_t choose(std::uint32_t first, std::uint32_t count, std::uint32_t turn) const {
    std::uint32_t best = first + turn % count;
    switch (rules_.balance) {
      case Balance::round_robin: break;
      case Balance::least_load:
        best = first;
        for (std::uint32_t i = first; i < first + count; ++i) {
          if (engines_[i].load() < engines_[best].load()) { best = i; }
        }
        break;
    }
    return best;
  }

  void touch(std::uint32_t engine) {
    if (!touched_[engine]) { to_begin_.push_back(engine); }
    touched_[engine] = true;
    simulator_.at_end_of_instant(self_);
  }

  void begin(std::uint32_t engine) {
    const Time until = engines_[engine].begin(simulator_.now());
    if (until < Time::max() && until != wake_[engine]) { simulator_.at(until, self_, event(Kind::engine, engine)); }
    wake_[engine] = until;
    for (const ReplicaEngine::Prefilled& each : engines_[engine].take_prefilled()) {
      under_way_[each.request] = {engine, 0, each.begin, each.end};
      simulator_.at_rank(pieces() > 1 ? each.begin : each.end, self_, event(Kind::prefilled, each.request),
                         each.request);
    }
    for (const std::uint32_t request : engines_[engine].take_admitted()) { schedule_pieces(request); }
  }

  void announce(std::uint32_t request) {
    const std::uint32_t engine = choose(rules_.prefill->replicas, rules_.replicas, announced_++);
    under_way_.at(request).decode = engine;
    engines_[engine].announce(request, simulator_.now());
    touch(engine);
  }

  void schedule_pieces(std::uint32_t request) {
    const Transfer& transfer = under_way_.at(request);
    const Time admitted = simulator_.now() + rules_.prefill->transfer.overhead;
    const Time computing = transfer.end - transfer.begin;
    for (std::uint32_t piece = 0; piece < pieces(); ++piece) {
      const Time computed = transfer.begin + computing * layers_until(piece) / model_.layers;
      const Time when = std::max(admitted, computed);
      if (piece == 0) { run_.transfers[request].begun = std::max(simulator_.now(), computed); }
      simulator_.at(when, self_, event(Kind::piece, request, piece));
    }
  }

  void send(std::uint32_t request, std::uint32_t piece) {
    const Transfer& transfer = under_way_.at(request);
    const std::uint32_t first = piece == 0 ? 0 : layers_until(piece - 1);
    if (piece + 1 == pieces()) { network_.close(request); }
    network_.send(request, {transfer.prefill, transfer.decode - rules_.prefill->replicas},
                  sent_tokens(model_, requests_[request].prompt, first, layers_until(piece)));
  }

  void arrived(std::uint32_t request) {
    const Transfer transfer = under_way_.at(request);
    under_way_.erase(request);
    run_.transfers[request].there = simulator_.now();
    engines_[transfer.decode].deliver(request, simulator_.now());
    engines_[transfer.prefill].release(request, simulator_.now());
    touch(transfer.decode);
    touch(transfer.prefill);
  }

  const ServedRequests& requests_;
  const ServingRules& rules_;
  const Transformer& model_;
  ServingRun run_;
  std::vector<ReplicaEngine> engines_;  ///< those that prefill, then those that decode
  std::vector<Time> wake_;              ///< by engine: of the last event that it has asked for
  std::vector<bool> touched_;
  std::vector<std::uint32_t> to_begin_;
  std::map<std::uint32_t, Transfer> under_way_;  ///< by request
  std::uint32_t announced_ = 0;
  Simulator simulator_;
  ActorId self_;
  KvNetwork network_;
};

}  // namespace

ServingRun simulate_pools(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& prefill,
                          const IterationLaw& decode, const PoolFabric& fabric, const std::stop_token& stop) {
  require(rules.prefill.has_value(), "there is no pool that prefills");
  return PooledServing(requests, rules, prefill, decode, fabric, stop).run();
}

}  // namespace athanor
