#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/network/network.hpp"
#include "models/training/parameter_server/parameter_server.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Workers and servers of one training, as they exchange gradients and parameters over a network.
class ServerProcess final : public Actor, public MoveListener {
 public:
  /// From one endpoint to another.
  struct Route {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool operator==(const Route&) const = default;
  };

  /// Borrows both.
  ServerProcess(Simulator& simulator, const ParameterServerSetup& setup, std::uint64_t seed);

  /// In the order of the network's connections: those between different endpoints.
  std::vector<Route> routes() const;

  /// To be called once, before the simulator runs: all workers ask for parameters. Borrows the network, which reports
  /// to this process.
  void start(Network& network);
  /// Requires that the simulator has run. What is about the network is left to fill in.
  ParameterServerResult take_result();

  void on_event(std::uint64_t what) override;
  void injected(ConnectionId /*connection*/) override {}
  void grain_arrived(ConnectionId /*connection*/) override {}
  void delivered(ConnectionId connection) override;

 private:
  enum class Message : std::uint8_t { gradient, parameters, copy, acknowledgement };
  // A change of a shard is a worker's gradient, by the number of the worker, which has one under way at most. Copies
  // get a synchronous step as one change, number 0.
  struct Channel {
    Message message = Message::gradient;
    std::uint32_t server = 0;  ///< of gradient and parameters the shard's first; of others the copy that is not
    std::uint32_t worker = 0;
    Route route;
    ConnectionId connection = {};            ///< of the network, where it is one
    std::deque<std::uint32_t> changes = {};  ///< of copies and acknowledgements: which are under way
  };
  struct Worker {
    RandomStream draws;
    Ratio factor{1, 1};
    std::uint32_t awaited = 0;  ///< answers of shards
    bool begun = false;
    Time begin = {};  ///< of the present iteration
    Time sent = {};   ///< when its gradients were
  };
  /// What is between a worker and a shard.
  struct Pair {
    std::uint64_t version = 0;  ///< of the shard's parameters that the worker has: steps or gradients, as they count
    std::uint64_t clock = 0;    ///< gradients of the worker that the shard has
  };
  struct Shard {
    std::uint64_t version = 0;           ///< steps (synchronous) or gradients that its parameters hold
    std::uint32_t accepted = 0;          ///< gradients of the present step
    std::uint32_t applied = 0;           ///< accepted gradients that are in the parameters
    std::vector<std::uint32_t> waiting;  ///< workers that want an answer
    std::deque<std::uint32_t> at_clock;  ///< how many workers' clocks stand at `slowest`, at the next number, ...
    std::uint64_t slowest = 0;
    std::vector<std::uint32_t> missing;  ///< by change: acknowledgements of copies
  };
  struct Server {
    std::deque<std::uint32_t> queue;  ///< changes to apply
    bool busy = false;
    bool ignored = false;  ///< what it works on: another copy has taken its part
    Time worked;
  };
  /// What a worker and the shard that fails have between them.
  enum class Errand : std::uint8_t { computing, sent, answered };
  /// The shard that fails, and who stands for its first copy then.
  struct Failover {
    bool failed = false;
    bool mended = false;
    std::uint32_t first_backup = 0;  ///< into channels_: of each worker to the second copy, and back
    std::uint32_t first_mended = 0;  ///< to each copy behind the second one, and back to that
    std::vector<Errand> errands;     ///< by worker
    std::vector<bool> at_second;     ///< by change: the second copy has it, and not everybody
    std::vector<bool> counted;       ///< by change: it was applied where it is lost
  };

  std::uint32_t copies() const { return static_cast<std::uint32_t>(setup_.shards.front().size()); }
  std::uint32_t shard_of(std::uint32_t server) const { return server / copies(); }
  std::uint32_t first_server(std::uint32_t shard) const { return shard * copies(); }
  bool fails(std::uint32_t shard) const { return setup_.failure && setup_.failure->shard == shard; }
  bool is_mended(std::uint32_t shard) const { return failover_.mended && fails(shard); }
  /// The copy that workers talk to.
  std::uint32_t head(std::uint32_t shard) const { return first_server(shard) + (is_mended(shard) ? 1 : 0); }
  bool is_first(std::uint32_t server) const { return server == head(shard_of(server)); }
  std::uint32_t gradient_channel(std::uint32_t worker, std::uint32_t shard) const;
  bool synchronous() const { return setup_.update == ParameterServerSetup::Update::synchronous; }
  std::uint32_t wanted() const { return workers() - setup_.backup_workers; }
  std::uint32_t workers() const { return static_cast<std::uint32_t>(workers_.size()); }
  std::uint32_t shards() const { return static_cast<std::uint32_t>(shards_.size()); }
  Pair& pair(std::uint32_t worker, std::uint32_t shard) { return pairs_[std::size_t{worker} * shards_.size() + shard]; }
  Bytes parameters_of(std::uint32_t shard) const;
  Bytes gradient_of(std::uint32_t shard) const { return scaled_up(parameters_of(shard), setup_.gradient); }
  Bytes change_of(std::uint32_t server) const;

  void lay_channels();
  void lay_backup_channels();
  bool is_lost(std::uint32_t channel) const;
  void fail();
  void take_over();
  void resume(std::uint32_t worker);
  void forget_work(std::uint32_t shard);
  void note_recovery();
  void uncount(std::uint64_t parts);
  void add_channel(Message message, std::uint32_t server, std::uint32_t worker, Route route);
  std::uint32_t copy_channel(std::uint32_t server) const;
  void send(std::uint32_t channel, Bytes size);
  void arrived(std::uint32_t channel);

  void compute(std::uint32_t worker);
  void send_gradients(std::uint32_t worker);
  void get_parameters(std::uint32_t worker);

  void get_gradient(std::uint32_t worker, std::uint32_t shard);
  bool is_late(std::uint32_t worker, std::uint32_t shard);
  void enqueue(std::uint32_t server, std::uint32_t change);
  void work(std::uint32_t server);
  void finish_work(std::uint32_t server);
  void applied(std::uint32_t worker, std::uint32_t shard);
  void replicate(std::uint32_t shard, std::uint32_t change);
  void copied(std::uint32_t server, std::uint32_t change);
  void acknowledge(std::uint32_t shard, std::uint32_t change);
  void complete_step(std::uint32_t shard);
  void complete_gradient(std::uint32_t shard, std::uint32_t worker);
  std::uint64_t given_version(std::uint32_t shard) const;
  bool may_go_on(std::uint32_t shard, std::uint32_t worker);
  void answer(std::uint32_t shard, std::uint32_t worker);
  void answer_waiting(std::uint32_t shard);
  void count_gradient(std::uint64_t staleness);
  void make_progress(std::uint64_t updates);

  Simulator& simulator_;
  const ParameterServerSetup& setup_;
  ActorId self_;
  Network* network_ = nullptr;
  std::vector<Channel> channels_;
  IdVector<ConnectionId, std::uint32_t> channel_of_;
  std::uint32_t first_copy_ = 0;  ///< into channels_: for each copy that is not the first, to it, then back
  std::vector<Worker> workers_;
  std::vector<Pair> pairs_;  ///< by worker and shard
  std::vector<Shard> shards_;
  std::vector<Server> servers_;
  Failover failover_;
  std::uint64_t given_out_ = 0;  ///< steps that all shards have done
  std::uint64_t parts_ = 0;      ///< of gradients that were applied
  std::uint64_t dropped_ = 0;    ///< parts
  std::uint64_t updates_ = 0;
  bool measuring_ = false;
  bool done_ = false;
  Time begin_;
  Wide computed_ = 0;  ///< picoseconds, of all workers together, of ...
  Wide iterated_ = 0;  ///< ... the iterations that are measured
  ParameterServerResult result_;
};

}  // namespace athanor
