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

namespace athanor {

void MaxMinShares::begin_refill() {
  for (const ConnectionId c : stopping_) {
    leave(c);
    const Flow& flow = flows_[c];
    for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
      const Link& link = links_[uses_[u].link];
      if (link.level != kNoLevel) { push_link(link.level, uses_[u].link, Kind::open_link); }
    }
  }
  for (const ConnectionId c : starting_) {
    enter(c);
    Flow& flow = flows_[c];
    flow.state = State::rising;
    touched_.push_back(c);
    if (flow.capped) { push_flow(flow.ceiling, c); }
  }
  for (const ConnectionId c : starting_) {
    const Flow& flow = flows_[c];
    for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
      Link& link = links_[uses_[u].link];
      if (link.remaining == kSummoned) { continue; }
      link.remaining = kSummoned;
      push_link(link.capacity / link.flows, uses_[u].link, Kind::open_link);
    }
  }
}

void MaxMinShares::refill() {
  begin_refill();
  FineRate level = 0;
  while (next_level(level)) { run_stage(level); }
  finish_refill();
  starting_.clear();
  stopping_.clear();
}

/// Brings the turn that comes first to the front, now that links may have risen; false: none is left.
bool MaxMinShares::next_level(FineRate& level) {
  while (!turns_.empty()) {
    const Turn turn = turns_.front();
    level = turn.level;
    if (turn.kind != Kind::fill_link) { return true; }
    const Link& link = links_[LinkIndex{turn.id}];
    if (link.unfrozen == 0) {
      heap_pop(turns_);
      continue;
    }
    const FineRate fair = link.remaining / link.unfrozen;
    if (fair == level) { return true; }
    heap_sink(turns_, 0, Turn{fair, turn.id, Kind::fill_link});
  }
  return false;
}

void MaxMinShares::run_stage(FineRate level) {
  if (level == 0) { throw SimulationError("rate-too-small", "more flows share a link than it has 1/1024 byte/s for"); }
  full_.clear();
  due_.clear();
  collect(level);
  for (const LinkIndex l : full_) { links_[l].level = level; }
  for (const LinkIndex l : full_) {
    const Link& link = links_[l];
    for (std::uint32_t m = link.first; m < link.first + link.active; ++m) {
      const State state = flows_[members_[m].connection].state;
      if (state == State::waiting || state == State::rising) { freeze(members_[m].connection, level); }
    }
  }
  // Links opened on the way may make further flows due at this same level.
  for (std::size_t k = 0; k < due_.size(); ++k) { decide(due_[k], level); }
}

/// All that happens at this level, before any of it changes what remains on a link.
void MaxMinShares::collect(FineRate level) {
  FineRate next = 0;
  while (next_level(next) && next == level) {
    const Turn turn = turns_.front();
    heap_pop(turns_);
    switch (turn.kind) {
      case Kind::open_link:
        if (links_[LinkIndex{turn.id}].remaining < 0) { open_link(LinkIndex{turn.id}, level); }
        break;
      case Kind::fill_link: full_.push_back(LinkIndex{turn.id}); break;
      case Kind::flow: due_.push_back(ConnectionId{turn.id}); break;
    }
  }
}

void MaxMinShares::open_link(LinkIndex l, FineRate level) {
  Link& link = links_[l];
  open_.push_back(l);
  link.level = kNoLevel;
  link.remaining = link.capacity;
  link.unfrozen = 0;
  for (std::uint32_t m = link.first; m < link.first + link.active; ++m) {
    const Member member = members_[m];
    Flow& flow = flows_[member.connection];
    if (flow.state == State::frozen) {
      link.remaining -= flow.next * member.flows;
    } else if (flow.state == State::settled && flow.rate < level) {
      link.remaining -= flow.rate * member.flows;
    } else {
      link.unfrozen += member.flows;
      if (flow.state != State::settled) { continue; }
      flow.state = State::waiting;
      touched_.push_back(member.connection);
      if (flow.rate == level) {
        due_.push_back(member.connection);
      } else {
        push_flow(flow.rate, member.connection);
      }
    }
  }
  if (link.unfrozen > 0) { push_link(link.remaining / link.unfrozen, l, Kind::fill_link); }
}

void MaxMinShares::open_links_of(const Flow& flow, FineRate level) {
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    if (links_[uses_[u].link].remaining < 0) { open_link(uses_[u].link, level); }
  }
}

/// Whether a link holds the flow at this level: a settled one that did before, or a refilled one that has filled up.
bool MaxMinShares::held(const Flow& flow, FineRate level) const {
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    if (links_[uses_[u].link].level == level) { return true; }
  }
  return false;
}

/// The flow has come to its old rate or to its cap.
void MaxMinShares::decide(ConnectionId connection, FineRate level) {
  Flow& flow = flows_[connection];
  if (flow.state == State::frozen) { return; }
  if ((flow.capped && flow.ceiling == level) || held(flow, level)) { return freeze(connection, level); }
  flow.state = State::rising;
  if (flow.capped) { push_flow(flow.ceiling, connection); }
  open_links_of(flow, level);
}

void MaxMinShares::freeze(ConnectionId connection, FineRate level) {
  Flow& flow = flows_[connection];
  for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
    Link& link = links_[uses_[u].link];
    if (link.remaining < 0) { continue; }
    link.remaining -= level * uses_[u].flows;
    link.unfrozen -= uses_[u].flows;
  }
  flow.state = State::frozen;
  flow.next = level;
  if (level != flow.rate) { open_links_of(flow, level); }
}

void MaxMinShares::finish_refill() {
  for (const LinkIndex l : open_) {
    Link& link = links_[l];
    require(link.unfrozen == 0 && link.remaining >= 0, "link {} is to carry {} units more than its rate", l.value,
            -link.remaining);
    link.used = link.capacity - link.remaining;
    link.remaining = kSettled;
  }
  open_.clear();
  for (const ConnectionId c : touched_) {
    Flow& flow = flows_[c];
    require(flow.state == State::frozen, "connection {} has been given no rate", c.value);
    flow.state = State::settled;
    if (flow.next == flow.rate) { continue; }
    flow.rate = flow.next;
    changed_.push_back(c);
  }
  touched_.clear();
}

}  // namespace athanor
