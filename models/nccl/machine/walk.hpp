#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/nccl/machine/paths.hpp"

namespace athanor {

/// A graph while it is searched for: what is asked of each channel, and those placed so far. Rates in MB/s.
struct GraphDraft {
  struct Channel {
    std::uint32_t in = 0;  ///< place of the net; meaningless where nothing leaves the node
    std::uint32_t out = 0;
    std::vector<std::uint32_t> gpus;  ///< places
  };
  NcclPattern pattern = NcclPattern::ring;
  std::uint32_t cross_nic = 0;
  bool collnet = false;  ///< only over nets whose switches add up
  std::uint32_t min_channels = 1;
  std::uint32_t max_channels = 1;
  std::int64_t intra = 0;
  std::int64_t inter = 0;
  double latency = 0;
  NcclPath type_intra = NcclPath::loc;
  NcclPath type_inter = NcclPath::pix;
  bool same_channels = true;
  std::int64_t hops = 0;
  std::vector<Channel> channels;

  std::int64_t count() const { return static_cast<std::int64_t>(channels.size()); }
};

/// Places channels one after the other (2.30, src/graph/search.cc): depth first, each channel taking its rate from
/// every link on its route, until the budget of visits is used up.
class ChannelWalk {
 public:
  /// Borrows the paths. `across`: channels leave the node.
  ChannelWalk(const NcclPaths& paths, bool across);

  /// Improves `best` by graphs with the demands of `asked`, whose channels count for nothing. Returns what is left of
  /// the budget: 0 where it was used up, -1 where as many channels were found as are allowed.
  int run(const GraphDraft& asked, GraphDraft& best, int budget);

  /// Nets to try, the preferred ones of each GPU (or of one) first, then all within a type of path (none: no others).
  const std::vector<std::uint32_t>& nets(std::optional<NcclPath> within, std::optional<std::uint32_t> gpu);

 private:
  using Gpu = std::uint32_t;
  enum class Order : std::uint8_t { free, by_number, as_before };
  /// Where a channel still has to go: to the net after this many GPUs, back to its first GPU after this many.
  struct Goals {
    std::optional<std::uint32_t> net;
    std::optional<std::uint32_t> first;
  };

  Goals goals() const;
  void next_channel(int& budget);
  void from_nets(int& budget);
  void from_net(std::uint32_t net, int& budget);
  void from_head_net(std::uint32_t net, bool& found, int& budget);
  void from_gpus(int& budget);
  void try_gpu(std::optional<std::uint32_t> from, Gpu gpu, std::uint32_t step, const Goals& goals, Order order,
               int& budget);
  void visit(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, int& budget);
  void finish_channel(int& budget);
  void leave(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, int& budget);
  void go_on(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, int& budget);
  void close(Gpu gpu, std::uint32_t step, const Goals& goals, int& budget);
  void try_nvls(Gpu head, int& budget);
  void try_collnet_direct(Gpu head, int& budget);
  bool may_leave_by(std::uint32_t net, std::uint32_t step) const;
  bool may_enter_by(std::uint32_t net, std::int64_t rate) const;
  bool same_port(std::uint32_t a, std::uint32_t b) const;
  void take_from_port(std::uint32_t net, std::int64_t rate);
  bool is_better() const;
  bool reduces(std::uint32_t net) const;

  /// Takes `rate` x `times` / `parts` from the route between two vertices; all or nothing.
  bool take(std::uint32_t from, std::uint32_t to, std::int64_t rate, std::int64_t times = 1, std::int64_t parts = 1);
  void give_back(std::uint32_t from, std::uint32_t to, std::int64_t rate, std::int64_t times = 1,
                 std::int64_t parts = 1);
  bool may_take(std::uint32_t from, std::uint32_t to) const;
  std::uint32_t charge(const NcclRoute& route, std::uint32_t from, std::int64_t rate, std::uint32_t steps, bool check);
  bool loaded_by_root_complex(const NcclRoute& route, std::uint32_t from) const;
  std::int64_t reverse_charge(const NcclArc& arc, std::uint32_t from, std::int64_t forward) const;
  void count_hops(std::uint32_t from, std::uint32_t to, int sign);

  struct Candidate {
    Gpu gpu = 0;
    std::int64_t rate = 0;  ///< in whole GB/s
    std::uint32_t hops = 0;
  };
  /// Of all GPUs but itself, best first; to go on to a net or not.
  const std::vector<Candidate>& ranked(Gpu gpu, bool to_net);
  std::vector<Candidate> rank(Gpu gpu, bool to_net) const;
  void find_candidates(Gpu gpu, std::uint32_t step, const Goals& goals, Order order, std::vector<Gpu>& found);
  void find_neighbours(Gpu gpu, std::vector<Gpu>& found) const;
  std::int64_t pci_rate(Gpu gpu) const;
  bool used(Gpu gpu) const { return (used_[gpu] >> placed_) % 2 == 1; }

  GraphDraft::Channel& current() { return draft_.channels[placed_]; }
  const GraphDraft::Channel& current() const { return draft_.channels[placed_]; }
  std::uint32_t gpu_vertex(Gpu gpu) const { return paths_.system().gpus[gpu].vertex; }
  std::uint32_t net_vertex(std::uint32_t net) const { return paths_.system().nets[net].vertex; }

  const NcclPaths& paths_;
  bool across_;
  std::uint32_t gpus_;
  GraphDraft draft_;
  GraphDraft* best_ = nullptr;
  std::size_t placed_ = 0;                   // channels that are complete
  std::vector<std::int64_t> free_;           // by arc
  std::vector<std::int64_t> net_free_;       // by net
  std::vector<std::uint64_t> used_;          // by GPU, a bit for each channel
  std::vector<std::optional<Gpu>> nearest_;  // by net, the GPU that uses it first
  std::vector<std::vector<Gpu>> beside_;     // by net, the GPUs that reach it best
  bool charges_back_ = false;                // some links cost in the other direction
  // Known answers of nets() and ranked(), and the choices of each step of each channel.
  std::vector<std::optional<std::vector<std::uint32_t>>> nets_;
  std::vector<std::vector<Candidate>> ranked_;
  std::vector<std::vector<Gpu>> choices_;
};

}  // namespace athanor
