#include <algorithm>
#include <utility>

#include "models/network/max_min_shares.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

// The refilling: progressive filling again, of that part of the system alone which the starts and stops change.
//
// Levels are gone through from the least up. A link is settled (it fills up at the level and with the flows that it
// had in the last solution) until something shows that it does not: it is then opened, at the level at which it begins
// to differ, and filled anew from there. Flows below that level keep their rates. A flow above it waits for its old
// rate: there it freezes again if a settled link (or its cap, or a refilled link that has come to that same level)
// holds it, and otherwise rises on, which opens its other links. A flow that freezes elsewhere than before opens its
// other links too. So work is done only for what is connected to the change, above the level of the change, and
// ends where a link's level comes out as it was.
//
// A link that was not full is not opened when one of its flows begins to differ. Flows that fall leave more of it.
// Where flows rise, and a unit is left for each flow, it is watched: they share what all others leave of it at their
// old rates (or at their new ones, once those are known), less that unit. Up to the level that this gives them, the
// link freezes nothing, rounding included, since flows that wait take no more than their old rates before. It is opened
// at that level, if flows still rise then; otherwise what has changed is all that there is to count.
//
// With a leeway full links are let be, too, as long as what they leave unused is not more than that: flows that fall on
// them make it more, and flows that rise share it as on any watched link, up to the link's level, at which it holds
// them. A link that is opened because such flows have used its leeway up, or left more, keeps half of it when it is
// filled anew: it can then bear most before it is opened again.

namespace athanor {

void MaxMinShares::begin_refill() {
  for (const LinkIndex l : relieved_) {
    if (is_full(l)) { summon(l, links_[l].level); }
  }
  for (const ConnectionId c : starting_) {
    enter(c);
    standing_[c].state = State::rising;
    ++unsettled_;
    touched_.push_back(c);
    if (standing_[c].capped) { push_flow(limits_[c].ceiling, c); }
  }
  for (const ConnectionId c : starting_) { summon_links_of(flows_[c]); }
}

void MaxMinShares::summon(LinkIndex link, FineRate level) {
  ++unsettled_;
  heap_push(turns_, Turn{level, link.value, Kind::open_link});
}

/// Links of a flow that starts.
void MaxMinShares::summon_links_of(const Flow& flow) {
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    const Use use = uses_[u];
    Link& link = links_[use.link];
    const FineRate fair = link.capacity / link.flows;
    // A full link that would have to be opened below that level has more to go through than one that is summoned.
    const bool has_room = !is_full(use.link) || link.capacity - link.used - link.flows >= fair * use.flows;
    if (link.filling == Filling::watched || (has_room && watches(use.link))) {
      rise_on(use.link, 0, use.flows);
    } else if (link.filling == Filling::settled) {
      link.filling = Filling::summoned;
      summon(use.link, fair);
    }
  }
}

void MaxMinShares::refill() {
  begin_refill();
  while (const std::vector<Turn>* turns = next_turns()) { run_stage(turns->front().level); }
  finish_refill();
  starting_.clear();
  relieved_.clear();
}

/// Whether the front turn is one; otherwise it has been taken out, or put where its link has risen to.
bool MaxMinShares::front_stands(std::vector<Turn>& turns) {
  const Turn turn = turns.front();
  if (turn.kind != Kind::fill_link) { return true; }
  Link& link = links_[LinkIndex{turn.id}];
  if (link.turn != turn.level || link.unfrozen == 0) {
    if (link.turn == turn.level) { link.turn = kNoLevel; }
    heap_pop(turns);
    return false;
  }
  const FineRate fair = fill_level(link);
  if (fair == turn.level) { return true; }
  link.turn = fair;
  heap_sink(turns, 0, Turn{fair, turn.id, Kind::fill_link});
  return false;
}

/// The heap whose front comes first; nullptr: nothing is left to be decided.
std::vector<MaxMinShares::Turn>* MaxMinShares::next_turns() {
  if (unsettled_ == 0) { return nullptr; }
  while (!turns_.empty() && !front_stands(turns_)) {}
  while (!threats_.empty() && (turns_.empty() || !turns_.front().before(threats_.front()))) {
    if (front_stands(threats_)) { return &threats_; }
  }
  return turns_.empty() ? nullptr : &turns_;
}

void MaxMinShares::run_stage(FineRate level) {
  full_.clear();
  due_.clear();
  collect(level);
  if (level == 0 && !full_.empty()) {
    throw SimulationError("rate-too-small", "more flows share a link than it has 1/1024 byte/s for");
  }
  for (const LinkIndex l : full_) { links_[l].level = level; }
  for (const LinkIndex l : full_) { freeze_flows_of(l, level); }
  // Links opened on the way may make further flows due at this same level.
  for (std::size_t k = 0; k < due_.size(); ++k) {
    if (k + kAhead < due_.size()) { fetch(due_[k + kAhead]); }
    decide(due_[k], level);
  }
}

void MaxMinShares::freeze_flows_of(LinkIndex l, FineRate level) {
  const std::uint32_t first = links_[l].first_candidate;
  const std::uint32_t end = first + links_[l].candidates;
  for (std::uint32_t k = first; k < end; ++k) {
    if (k + kAhead < end) { fetch(candidates_[k + kAhead]); }
    const State state = standing_[candidates_[k]].state;
    if (state == State::waiting || state == State::rising) { freeze(candidates_[k], level, l); }
  }
}

/// All that happens at this level, before any of it changes what remains on a link.
void MaxMinShares::collect(FineRate level) {
  for (;;) {
    std::vector<Turn>* turns = next_turns();
    if (turns == nullptr || turns->front().level != level) { return; }
    const Turn turn = turns->front();
    heap_pop(*turns);
    switch (turn.kind) {
      case Kind::open_link:
        --unsettled_;
        if (links_[LinkIndex{turn.id}].filling != Filling::open) { open_link(LinkIndex{turn.id}, level); }
        break;
      case Kind::fill_link: fill_link(LinkIndex{turn.id}, level); break;
      case Kind::held_flows: make_due(LinkIndex{turn.id}); break;
      case Kind::flow: due_.push_back(ConnectionId{turn.id}); break;
    }
  }
}

/// The link may have come to the level at which it freezes its flows.
void MaxMinShares::fill_link(LinkIndex l, FineRate level) {
  links_[l].turn = kNoLevel;
  if (links_[l].filling == Filling::watched) {
    open_link(l, level, kept_by(l));
  } else {
    full_.push_back(l);
  }
}

/// Flows that this link held, as far as they wait, have come to their old rate.
void MaxMinShares::make_due(LinkIndex holder) {
  ConnectionId& first = links_[holder].waiting;
  for (ConnectionId c = first; c != kNoConnection; c = next_waiting_[c]) { due_.push_back(c); }
  first = kNoConnection;
}

/// `kept`: of what the link has beyond that level, not to be given out.
void MaxMinShares::open_link(LinkIndex l, FineRate level, FineRate kept) {
  Link& link = links_[l];
  if (link.filling != Filling::watched) { filled_.push_back(l); }
  link.filling = Filling::open;
  link.level = kNoLevel;
  link.remaining = link.capacity;
  link.unfrozen = 0;
  link.first_candidate = static_cast<std::uint32_t>(candidates_.size());
  const std::uint32_t end = link.first + link.active;
  for (std::uint32_t m = link.first; m < end; ++m) {
    if (m + kAhead < end) { __builtin_prefetch(&flows_[members_[m + kAhead].connection]); }
    const Member member = members_[m];
    const State state = standing_[member.connection].state;
    const FineRate rate = flows_[member.connection].rate;
    if (state == State::frozen || (state == State::settled && rate < level)) {
      link.remaining -= rate * member.flows;
    } else {
      link.unfrozen += member.flows;
      candidates_.push_back(member.connection);
      if (state == State::settled) { wait(member.connection, level); }
    }
  }
  link.candidates = static_cast<std::uint32_t>(candidates_.size()) - link.first_candidate;
  if (kept > 0) {
    leeways_[l].kept = std::clamp<FineRate>(link.remaining - level * link.unfrozen, 0, kept);
    link.remaining -= leeways_[l].kept;
  }
  if (link.unfrozen > 0) { push_fill(l, turns_); }
}

/// The flow is left at its old rate until the refilling comes to that.
void MaxMinShares::wait(ConnectionId connection, FineRate level) {
  const FineRate rate = flows_[connection].rate;
  const LinkIndex holder = holder_[connection];
  standing_[connection].state = State::waiting;
  ++unsettled_;
  touched_.push_back(connection);
  if (rate == level) {
    due_.push_back(connection);
  } else if (holder == kNoLink) {
    push_flow(rate, connection);
  } else {
    ConnectionId& first = links_[holder].waiting;
    if (first == kNoConnection) { heap_push(turns_, Turn{rate, holder.value, Kind::held_flows}); }
    next_waiting_[connection] = first;
    first = connection;
  }
}

void MaxMinShares::push_fill(LinkIndex l, std::vector<Turn>& turns) {
  Link& link = links_[l];
  link.turn = fill_level(link);
  heap_push(turns, Turn{link.turn, l.value, Kind::fill_link});
}

/// A full link without a leeway has nothing to spare.
bool MaxMinShares::may_watch(const Link& link) const {
  return (lenient_ || link.level == kNoLevel) && link.capacity - link.used >= link.flows;
}

/// Whether the link is watched: from now on, if it may be.
bool MaxMinShares::watches(LinkIndex l) {
  Link& link = links_[l];
  if (link.filling != Filling::settled) { return link.filling == Filling::watched; }
  if (!may_watch(link)) { return false; }
  filled_.push_back(l);
  link.filling = Filling::watched;
  link.remaining = link.capacity - link.used - link.flows;
  link.unfrozen = 0;
  return true;
}

/// A flow begins to rise from its old rate on a watched link.
void MaxMinShares::rise_on(LinkIndex l, FineRate old_rate, std::uint32_t flows) {
  Link& link = links_[l];
  link.remaining += old_rate * flows;
  link.unfrozen += flows;
  if (fill_level(link) < link.turn) { push_fill(l, threats_); }
}

void MaxMinShares::rise(ConnectionId connection, FineRate level) {
  const Flow& flow = flows_[connection];
  standing_[connection].state = State::rising;
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    const Use use = uses_[u];
    if (links_[use.link].filling == Filling::open) { continue; }
    if (watches(use.link)) {
      rise_on(use.link, flow.rate, use.flows);
    } else {
      open_link(use.link, level, kept_by(use.link));
    }
  }
}

/// Whether the link may be let be though a flow of it has so much less: it has room, or a leeway for that. Requires
/// that it is not open.
bool MaxMinShares::absorbs_fall(LinkIndex l, FineRate fall) {
  Link& link = links_[l];
  if (link.filling == Filling::summoned) { return false; }
  link.used -= fall;
  if (link.filling == Filling::watched) { link.remaining += fall; }
  if (link.level == kNoLevel) { return true; }
  if (is_overdue(l)) { return false; }
  ++let_be_;
  return true;
}

/// A link that holds the flow at this level: a settled one that did before, or a refilled one that has filled up.
LinkIndex MaxMinShares::holder_of(ConnectionId connection, FineRate level) const {
  const LinkIndex holder = holder_[connection];
  if (holder != kNoLink && links_[holder].level == level) { return holder; }
  const Flow& flow = flows_[connection];
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    if (links_[uses_[u].link].level == level) { return uses_[u].link; }
  }
  return kNoLink;
}

/// The flow has come to its old rate or to its cap.
void MaxMinShares::decide(ConnectionId connection, FineRate level) {
  const Standing standing = standing_[connection];
  if (standing.state == State::frozen) { return; }
  const FineRate ceiling = standing.capped ? limits_[connection].ceiling : kNoLevel;
  if (ceiling == level) { return freeze(connection, level, kNoLink); }
  const LinkIndex holder = holder_of(connection, level);
  if (holder != kNoLink) { return freeze(connection, level, holder); }
  if (standing.capped) { push_flow(ceiling, connection); }
  rise(connection, level);
}

void MaxMinShares::freeze(ConnectionId connection, FineRate level, LinkIndex holder) {
  Flow& flow = flows_[connection];
  const FineRate old_rate = flow.rate;
  const bool rose = standing_[connection].state == State::rising;
  standing_[connection].state = State::frozen;
  holder_[connection] = holder;
  flow.rate = level;
  if (level != old_rate) { changed_.push_back(connection); }
  --unsettled_;
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    const Use use = uses_[u];
    Link& link = links_[use.link];
    if (link.filling == Filling::open || (rose && link.filling == Filling::watched)) {
      link.remaining -= level * use.flows;
      link.unfrozen -= use.flows;
      link.used += (level - old_rate) * use.flows;
    } else if (level != old_rate && !absorbs_fall(use.link, (old_rate - level) * use.flows)) {
      open_link(use.link, level, kept_by(use.link));
    }
  }
}

void MaxMinShares::finish_refill() {
  for (const Turn& turn : turns_) {
    if (turn.kind == Kind::held_flows) { links_[LinkIndex{turn.id}].waiting = kNoConnection; }
  }
  turns_.clear();
  threats_.clear();
  candidates_.clear();
  for (const LinkIndex l : filled_) {
    Link& link = links_[l];
    require(link.unfrozen == 0 && link.remaining >= 0, "link {} is to carry {} units more than its rate", l.value,
            -link.remaining);
    const FineRate spared = link.filling == Filling::watched ? link.flows : 0;
    link.used = link.capacity - link.remaining - spared;
    if (lenient_) { link.used -= std::exchange(leeways_[l].kept, 0); }
    link.filling = Filling::settled;
    link.turn = kNoLevel;
  }
  filled_.clear();
  for (const ConnectionId c : touched_) {
    require(standing_[c].state == State::frozen, "connection {} has been given no rate", c.value);
    standing_[c].state = State::settled;
  }
  touched_.clear();
}

}  // namespace athanor
