#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/network/heap.hpp"
#include "models/network/network.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// Rates inside the flow model, in 1/1024 byte/s: fine enough that rounding down costs a link less than one byte in a
/// quarter of an hour for each flow on it, coarse enough that 4 PB/s fit.
using FineRate = std::int64_t;
constexpr FineRate kFinePerByte = 1'024;

/// Max-min fair rates of the connections that share links, kept up while connections start and stop.
///
/// The rates are those of progressive filling on whole numbers. All rates rise together; at each stage the least of
/// all caps and of all links' fair levels, floor(what remains / unfrozen flows), is taken, the links and caps at that
/// level are collected, and then all their flows freeze at it. Collecting before freezing makes the result a function
/// of the set of active connections alone: no order of flows, links, starts or stops changes a bit of it, and classes
/// (FlowGraph::Use::flows) get exactly what each of their members would get. Beside the rational solution, rounding
/// moves a rate by no more units than flows are connected with it.
///
/// With a leeway above 0 a link that holds flows may leave up to that part of its rate unused. So what stops, starts or
/// gets another rate changes nothing beyond the links where it adds up to more than that. The rates are then at every
/// moment the fair ones of links of which each is slower by its leeway at most. They hang on what came before, and
/// where several things happen at one instant on the numbers of connections, too.
class MaxMinShares {
 public:
  /// Throws SimulationError("link-too-fast", ...) above 4 PB/s. Requires a graph whose indices and rates are valid, and
  /// a leeway of at least 0 and below 1.
  explicit MaxMinShares(const FlowGraph& graph, Ratio leeway = {0, 1});

  /// The connection takes part from the next update on. Requires that it uses links.
  void start(ConnectionId connection) { want(connection, true); }
  /// It takes part no longer.
  void stop(ConnectionId connection) { want(connection, false); }

  /// Brings the rates up to date with all starts and stops since the last update, and returns the connections whose
  /// rate has changed, started ones included. Valid until the next update.
  /// Throws SimulationError("rate-too-small", ...) when more flows share a link than it has units of rate.
  const std::vector<ConnectionId>& update();

  /// As of the last update; 0: takes no part.
  FineRate rate(ConnectionId connection) const { return flows_[connection].rate; }
  /// What all active connections take of one link of the class.
  FineRate used(LinkIndex link) const { return links_[link].used; }
  /// The link limits flows: with a leeway of 0 all of it is used but less than a unit for each of them.
  bool is_full(LinkIndex link) const { return links_[link].level != kNoLevel; }
  /// How often a full link was let be by its leeway.
  std::uint64_t let_be() const { return let_be_; }

  /// Appends what the next update hangs on beside the rates: with a leeway, which links are full, and at what level.
  void snapshot(std::vector<std::int64_t>& state) const;

  /// Calls visit(connection, flows) for every connection of the graph that uses the link, active or not; for none where
  /// the link is slack.
  template <class Visit>
  void for_each_user(LinkIndex link, Visit visit) const {
    for (std::uint32_t m = links_[link].first; m < first_member(LinkIndex{link.value + 1}); ++m) {
      visit(members_[m].connection, members_[m].flows);
    }
  }

 private:
  static constexpr FineRate kNoLevel = INT64_MAX;
  static constexpr std::uint32_t kAhead = 8;  ///< how many flows ahead memory is read
  static constexpr LinkIndex kNoLink{UINT32_MAX};
  static constexpr ConnectionId kNoConnection{UINT32_MAX};

  /// Where a flow stands in the present refilling.
  enum class State : std::uint8_t {
    settled,  ///< keeps its old rate, as far as anything is known
    waiting,  ///< on a refilled link; keeps its old rate if something holds it there
    rising,   ///< has passed its old rate (or had none)
    frozen    ///< has its new rate
  };
  /// What a refilling looks at of many flows lies close together, for the caches: this, `standing_` and `holder_`.
  struct Flow {
    FineRate rate = 0;  ///< in the last solution; once frozen, in the present one
    std::uint32_t first_use = 0;
    std::uint32_t uses = 0;
  };
  struct Standing {
    State state = State::settled;
    bool capped = false;  ///< the ceiling is the cap's
  };
  struct Limit {
    FineRate ceiling = 0;  ///< least of the cap and all that its links could give it alone
    bool active = false;   ///< is in the solution
    bool wanted = false;   ///< is to be in it
  };
  /// Where a link stands in the present refilling.
  enum class Filling : std::uint8_t {
    settled,   ///< as in the last solution, as far as anything is known
    summoned,  ///< settled, and its turn to be opened is in the heap
    watched,   ///< has room for all that has changed so far
    open       ///< is filled anew
  };
  struct Link {
    FineRate capacity = 0;
    FineRate used = 0;
    FineRate level = 0;                 ///< at which it froze flows, or kNoLevel
    FineRate remaining = 0;             ///< for the unfrozen flows of the present refilling
    std::int64_t unfrozen = 0;          ///< flows of the present refilling; of a watched link those that rise
    FineRate turn = kNoLevel;           ///< level of its turn to fill up in the heap; others of its are stale
    std::int64_t flows = 0;             ///< active
    std::uint32_t first = 0;            ///< into members_; the active ones come first
    std::uint32_t active = 0;           ///< connections, not flows
    std::uint32_t first_candidate = 0;  ///< into candidates_: flows that were not frozen when it was opened
    std::uint32_t candidates = 0;
    ConnectionId waiting = kNoConnection;  ///< first of those waiting for the rate at which this link held them
    Filling filling = Filling::settled;
  };
  /// Of one link, where there is a leeway.
  struct Leeway {
    FineRate most = 0;  ///< of its capacity, that may be left unused
    FineRate kept = 0;  ///< in the present refilling, for flows that rise a little later on
  };
  struct Use {
    LinkIndex link;
    std::uint32_t flows = 0;
  };
  struct Member {
    ConnectionId connection;
    std::uint32_t use = 0;
    std::uint32_t flows = 0;
  };
  /// What happens at a level of the refilling.
  enum class Kind : std::uint32_t { open_link, fill_link, held_flows, flow };
  struct Turn {
    FineRate level = 0;    ///< for fill_link: not above the true one
    std::uint32_t id = 0;  ///< of a link, or of a flow
    Kind kind = Kind::flow;

    bool before(const Turn& other) const { return level < other.level; }
  };

  void add_links(const FlowGraph& graph, Ratio leeway);
  void add_flow(const FlowGraph& graph, const FlowGraph::Connection& connection);
  void add_members();
  std::uint32_t first_member(LinkIndex link) const {
    return link < links_.next() ? links_[link].first : static_cast<std::uint32_t>(members_.size());
  }

  void want(ConnectionId connection, bool wanted);
  void swap_members(std::uint32_t a, std::uint32_t b);
  void enter(ConnectionId connection);
  void leave(ConnectionId connection);
  bool fits(ConnectionId connection) const;
  void stop_now(ConnectionId connection);
  void let_relieved_be();
  bool is_overdue(LinkIndex link) const {
    return links_[link].capacity - links_[link].used > (lenient_ ? leeways_[link].most : 0);
  }
  void start_beside(ConnectionId connection);

  void refill();
  void begin_refill();
  void finish_refill();
  void summon(LinkIndex link, FineRate level);
  void summon_links_of(const Flow& flow);
  void push_flow(FineRate level, ConnectionId flow) { heap_push(turns_, Turn{level, flow.value, Kind::flow}); }
  /// At which the unfrozen flows of a link that is filled, or those that rise on a watched one, come to its limit.
  /// Requires some.
  static FineRate fill_level(const Link& link) { return std::min(link.remaining / link.unfrozen, link.level); }
  void push_fill(LinkIndex link, std::vector<Turn>& turns);
  bool front_stands(std::vector<Turn>& turns);
  std::vector<Turn>* next_turns();
  void freeze_flows_of(LinkIndex link, FineRate level);
  void collect(FineRate level);
  void run_stage(FineRate level);
  void fill_link(LinkIndex link, FineRate level);
  void make_due(LinkIndex holder);
  void open_link(LinkIndex link, FineRate level, FineRate kept = 0);
  /// What a link that is opened for flows that rise or fall a little is to leave unused.
  FineRate kept_by(LinkIndex link) const { return lenient_ && is_full(link) ? leeways_[link].most / 2 : 0; }
  void wait(ConnectionId connection, FineRate level);
  bool may_watch(const Link& link) const;
  bool watches(LinkIndex link);
  bool absorbs_fall(LinkIndex link, FineRate fall);
  void rise_on(LinkIndex link, FineRate old_rate, std::uint32_t flows);
  void rise(ConnectionId connection, FineRate level);
  /// Brings near the processor what deciding the flow will read: of many flows it lies in no order.
  void fetch(ConnectionId connection) const {
    __builtin_prefetch(&flows_[connection]);
    __builtin_prefetch(&uses_[flows_[connection].first_use]);
  }
  void decide(ConnectionId connection, FineRate level);
  void freeze(ConnectionId connection, FineRate level, LinkIndex holder);
  LinkIndex holder_of(ConnectionId connection, FineRate level) const;

  IdVector<ConnectionId, Flow> flows_;
  IdVector<ConnectionId, Standing> standing_;
  IdVector<ConnectionId, LinkIndex> holder_;           ///< that holds it at its rate; kNoLink: its cap does
  IdVector<ConnectionId, ConnectionId> next_waiting_;  ///< in the list of its holder
  IdVector<ConnectionId, Limit> limits_;
  IdVector<LinkIndex, Link> links_;
  bool lenient_;                         ///< there is a leeway
  IdVector<LinkIndex, Leeway> leeways_;  ///< empty where there is none
  std::uint64_t let_be_ = 0;
  std::vector<Use> uses_;
  std::vector<std::uint32_t> places_;  ///< of each use in members_
  std::vector<Member> members_;
  std::vector<ConnectionId> toggled_;  ///< wanted or unwanted since the last update
  std::vector<ConnectionId> changed_;
  std::vector<ConnectionId> starting_;  ///< connections that begin and need a refilling
  std::vector<LinkIndex> relieved_;     ///< full links that flows have left
  std::vector<Turn> turns_;             ///< heap, of all but watched links
  std::vector<Turn> threats_;           ///< heap, of watched links: hardly any of them comes
  std::vector<ConnectionId> candidates_;
  std::size_t unsettled_ = 0;          ///< flows that wait or rise, and links that are to be opened
  std::vector<LinkIndex> filled_;      ///< links that are watched or open
  std::vector<ConnectionId> touched_;  ///< flows that are not settled
  std::vector<LinkIndex> full_;        ///< links collected in this stage
  std::vector<ConnectionId> due_;      ///< flows to decide in this stage
};

}  // namespace athanor
