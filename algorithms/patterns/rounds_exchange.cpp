#include "algorithms/patterns/rounds_exchange.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// One node is a group of all ranks; no more places than rounds are of use.
Layout completed(const Collective& collective, Layout layout) {
  if (layout.group == 0) { layout.group = collective.ranks; }
  return layout;
}

}  // namespace

RoundsExchange::RoundsExchange(const Collective& collective, const Layout& layout, RoundsPath path)
    : RankSchedule(collective),
      layout_(completed(collective, layout)),
      peers_at_once_(std::min(layout.as<PeerRoundShape>().peers_at_once, collective.ranks)),
      path_(path),
      nodes_(collective.ranks, layout_),
      rounds_(collective.ranks, layout_),
      messages_(collective, layout_, RoundChannels::channels(layout_)),
      channels_(rounds_, layout_, messages_.parts()) {
  if (collective.kind == CollectiveKind::send_receive) { return; }
  if (collective.kind != CollectiveKind::gather) { duties_.push_back(Duty::send); }
  if (collective.kind != CollectiveKind::scatter) { duties_.push_back(Duty::receive); }
  waited_for_ = static_cast<std::uint32_t>(duties_.size());
  if (path == RoundsPath::by_rail) { duties_.push_back(Duty::pass_on); }
  first_lanes_.push_back(0);
  for (std::uint32_t channel = 0; channel < channels_.channels(); ++channel) {
    const auto lanes = places(channel) * static_cast<std::uint32_t>(duties_.size()) + (has_turns(channel) ? 1 : 0);
    first_lanes_.push_back(first_lanes_.back() + lanes);
    loops_ = loops_ && !has_turns(channel);
  }
  if (path == RoundsPath::by_rail && rounds_.ranks_in_group() == layout_.group) { count_passed(); }
}

/// A message is passed on where its sender and receiver differ in both node and place, which the round alone says.
void RoundsExchange::count_passed() {
  const std::uint32_t group = rounds_.ranks_in_group();
  for (std::uint32_t channel = 0; channel < channels_.channels(); ++channel) {
    for (std::uint32_t place = 0; place < peers_at_once_; ++place) {
      first_passed_.push_back(static_cast<std::uint32_t>(passed_.size()));
      std::uint32_t count = 0;
      passed_.push_back(count);
      if (place >= places(channel)) { continue; }
      const Task task{Duty::pass_on, channel, place};
      for (std::uint32_t turn = 0; turn < turns(task); ++turn) {
        const std::uint32_t round = work(task, turn).round;
        count += round >= group && round % group != 0 ? 1 : 0;
        passed_.push_back(count);
      }
    }
  }
}

std::span<const std::uint32_t> RoundsExchange::passed(const Task& task) const {
  const std::size_t lane = std::size_t{task.channel} * peers_at_once_ + task.place;
  return std::span(passed_).subspan(first_passed_[lane], turns(task) + 1);
}

bool RoundsExchange::meets_all(std::uint32_t rank) const {
  if (collective().kind == CollectiveKind::send_receive) { return false; }
  return !has_root(collective().kind) || rank == collective().root;
}

std::uint32_t RoundsExchange::lanes(AgentId agent) const {
  if (meets_all(agent.value)) { return first_lanes_.back(); }
  const bool silent = collective().kind == CollectiveKind::send_receive && agent.value != collective().root &&
                      !messages_.exist(collective().root, agent.value);
  return silent ? 0 : messages_.parts();
}

std::uint32_t RoundsExchange::turns(const Task& task) const {
  if (task.only) { return 1; }
  return (channels_.works(task.channel) - task.place + peers_at_once_ - 1) / peers_at_once_;
}

std::uint32_t RoundsExchange::duty_lane(Duty duty) const {
  return static_cast<std::uint32_t>(std::find(duties_.begin(), duties_.end(), duty) - duties_.begin());
}

RoundsExchange::Task RoundsExchange::task_of(std::uint32_t rank, LaneId lane) const {
  const std::uint32_t root = collective().root;
  if (meets_all(rank)) {
    const auto next = std::upper_bound(first_lanes_.begin(), first_lanes_.end(), lane.value);
    const auto channel = static_cast<std::uint32_t>(next - first_lanes_.begin()) - 1;
    const auto duties = static_cast<std::uint32_t>(duties_.size());
    const std::uint32_t inside = lane.value - first_lanes_[channel];
    if (inside == places(channel) * duties) { return {Duty::wait, channel, 0}; }
    return {duties_[inside % duties], channel, inside / duties};
  }
  const std::uint32_t receiver = collective().kind == CollectiveKind::send_receive ? (root + 1) % ranks() : rank;
  const bool sends = collective().kind == CollectiveKind::gather || rank != receiver;
  const std::uint32_t round =
      collective().kind == CollectiveKind::gather ? rounds_.round(rank, root) : rounds_.round(root, receiver);
  const Work work{round, lane.value};
  return {sends ? Duty::send : Duty::receive, channels_.channel(work), 0, work};
}

LaneId RoundsExchange::lane_of(std::uint32_t rank, Duty duty, const Work& work) const {
  if (!meets_all(rank)) { return LaneId{work.part}; }
  const std::uint32_t place = channels_.turn(work) % peers_at_once_;
  const auto duties = static_cast<std::uint32_t>(duties_.size());
  return LaneId{first_lanes_[channels_.channel(work)] + place * duties + duty_lane(duty)};
}

RoundChannels::Work RoundsExchange::work(const Task& task, std::uint32_t turn) const {
  return task.only ? *task.only : channels_.work(task.channel, task.place + turn * peers_at_once_);
}

std::optional<std::uint32_t> RoundsExchange::via(std::uint32_t from, std::uint32_t to) const {
  if (path_ == RoundsPath::direct || nodes_.node(from) == nodes_.node(to)) { return std::nullopt; }
  const std::uint32_t neighbour = nodes_.rank(nodes_.node(from), nodes_.place(to));
  return neighbour == from ? std::nullopt : std::optional(neighbour);
}

std::optional<RoundsExchange::Part> RoundsExchange::part(std::uint32_t rank, const Task& task,
                                                         std::uint32_t turn) const {
  const Work work = this->work(task, turn);
  Part part{rank, rank, work.part};
  switch (task.duty) {
    case Duty::wait: return std::nullopt;
    case Duty::send: part.to = rounds_.receiver(rank, work.round); break;
    case Duty::receive: part.from = rounds_.sender(rank, work.round); break;
    case Duty::pass_on: {
      part.from = nodes_.rank(nodes_.node(rank), nodes_.place(rounds_.sender(rank, work.round)));
      part.to = rounds_.receiver(part.from, work.round);
      return via(part.from, part.to) == rank ? std::optional(part) : std::nullopt;
    }
  }
  const bool idle = copies(part) && task.duty != duties_.front();
  return idle || !messages_.exist(part.from, part.to) ? std::nullopt : std::optional(part);
}

std::uint64_t RoundsExchange::primitives(std::uint32_t rank, const Task& task, std::uint32_t turn) const {
  const std::optional<Part> part = this->part(rank, task, turn);
  if (!part) { return 0; }
  if (copies(*part)) { return collective().in_place ? 0 : 1; }
  return messages_.chunks(part->from, part->to, part->number);
}

std::uint64_t RoundsExchange::primitives_before(std::uint32_t rank, const Task& task, std::uint32_t turn) const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < turn; ++i) { sum += primitives(rank, task, i); }
  return sum;
}

std::uint32_t RoundsExchange::ports_before(std::uint32_t rank, const Task& task, std::uint32_t turn) const {
  if (moves_all(task)) { return turn == 0 ? 0 : turn - kept(task); }
  if (!passed_.empty()) { return passed(task)[turn]; }
  std::uint32_t ports = 0;
  for (std::uint32_t i = 0; i < turn; ++i) {
    const std::optional<Part> part = this->part(rank, task, i);
    ports += part && !copies(*part) ? 1 : 0;
  }
  return ports;
}

RoundsExchange::Part RoundsExchange::at_port(std::uint32_t rank, const Task& task, PortId port) const {
  if (moves_all(task)) {
    const std::uint32_t turn = port.value + kept(task);
    require(turn < turns(task), "a lane of channel {} has no port {}", task.channel, port.value);
    return part(rank, task, turn).value();
  }
  std::uint32_t left = port.value;
  std::uint32_t turn = 0;
  if (!passed_.empty()) {
    const std::span<const std::uint32_t> before = passed(task);
    turn = static_cast<std::uint32_t>(std::upper_bound(before.begin(), before.end(), left) - before.begin()) - 1;
    left = 0;
  }
  for (; turn < turns(task); ++turn) {
    const std::optional<Part> part = this->part(rank, task, turn);
    if (part && !copies(*part) && left-- == 0) { return *part; }
  }
  require(false, "a lane of channel {} has no port {}", task.channel, port.value);
  return {};
}

Endpoint RoundsExchange::endpoint(std::uint32_t rank, Duty duty, const Part& part) const {
  const Work work{rounds_.round(part.from, part.to), part.number};
  const LaneId lane = lane_of(rank, duty, work);
  if (!meets_all(rank)) { return {AgentId{rank}, lane, PortId{0}}; }
  const std::uint32_t turn = channels_.turn(work) / peers_at_once_;
  return {AgentId{rank}, lane, PortId{ports_before(rank, task_of(rank, lane), turn)}};
}

Endpoint RoundsExchange::target(AgentId agent, LaneId lane, PortId out) const {
  const Task task = task_of(agent.value, lane);
  const Part part = at_port(agent.value, task, out);
  const std::optional<std::uint32_t> neighbour = via(part.from, part.to);
  if (neighbour && task.duty == Duty::send) { return endpoint(*neighbour, Duty::pass_on, part); }
  return endpoint(part.to, Duty::receive, part);
}

Endpoint RoundsExchange::source(AgentId agent, LaneId lane, PortId in) const {
  const Task task = task_of(agent.value, lane);
  const Part part = at_port(agent.value, task, in);
  const std::optional<std::uint32_t> neighbour = via(part.from, part.to);
  if (neighbour && task.duty == Duty::receive) { return endpoint(*neighbour, Duty::pass_on, part); }
  return endpoint(part.from, Duty::send, part);
}

/// Lanes that do the same but for what they name: their place counts where they wait for the lane that waits for all,
/// and the numbers of their parts where these differ in length.
ProgramId RoundsExchange::program(std::uint32_t rank, const Task& task, LaneId lane) const {
  if (collective().sizes) { return ProgramId{rank * first_lanes_.back() + lane.value}; }
  const auto duty = static_cast<std::uint32_t>(task.duty);
  if (path_ == RoundsPath::by_rail) { return ProgramId{lane.value}; }
  if (!messages_.uniform()) {
    const std::uint32_t before = first_lanes_.empty() ? 0 : first_lanes_.back();
    return ProgramId{meets_all(rank) ? lane.value : before + 2 * lane.value + duty};
  }
  const bool keeps = !task.only && task.place == 0 && channels_.work(task.channel, 0).round == 0;
  const std::uint32_t waits = turns(task) > 1 ? task.place : 0;
  const std::uint32_t length =
      task.duty == Duty::wait ? channels_.works(task.channel) : turns(task) * peers_at_once_ + waits;
  return ProgramId{(length * 4 + duty) * 2 + (keeps ? 1 : 0)};
}

Lane RoundsExchange::lane(AgentId agent, LaneId lane) const {
  const std::uint32_t rank = agent.value;
  const Task task = task_of(rank, lane);
  const ProgramId program = this->program(rank, task, lane);
  if (task.duty == Duty::wait) { return {(turns(task) - 1) * places(task.channel) * waited_for_, 1, 0, 0, program}; }
  const std::uint64_t total = std::max<std::uint64_t>(1, primitives_before(rank, task, turns(task)));
  const std::uint32_t ports = ports_before(rank, task, turns(task));
  const std::uint32_t in = task.duty == Duty::send ? 0 : ports;
  const std::uint32_t out = task.duty == Duty::receive ? 0 : ports;
  return {loops_ ? 1 : static_cast<std::uint32_t>(total), loops_ ? total : 1, in, out, program};
}

std::optional<RoundsExchange::Progress> RoundsExchange::progress(std::uint32_t rank, const Task& task,
                                                                 std::uint64_t done) const {
  for (std::uint32_t turn = 0; turn < turns(task); ++turn) {
    const std::uint64_t here = primitives(rank, task, turn);
    if (done < here) { return Progress{turn, done}; }
    done -= here;
  }
  return std::nullopt;
}

Primitive RoundsExchange::waiting(std::uint32_t rank, const Task& task, std::uint32_t step) const {
  const std::uint32_t lanes = places(task.channel) * waited_for_;
  const Task other{duties_[step % lanes % waited_for_], task.channel, step % lanes / waited_for_};
  const std::uint32_t turn = std::min(step / lanes + 1, turns(other));
  const Work first = channels_.work(task.channel, other.place);
  Primitive primitive;
  primitive.wait = {lane_of(rank, other.duty, first), primitives_before(rank, other, turn)};
  return primitive;
}

Primitive RoundsExchange::moving(std::uint32_t rank, const Task& task, const Progress& progress) const {
  const Part part = this->part(rank, task, progress.turn).value();
  const ElementRange range = copies(part) ? messages_.whole(part.from, part.to, part.number)
                                          : messages_.chunk(part.from, part.to, part.number, progress.chunk);
  const Ports port{ports_before(rank, task, progress.turn), copies(part) ? 0U : 1U};
  Primitive primitive = over(range);
  if (task.duty != Duty::receive) { primitive.sends = port; }
  if (task.duty != Duty::send) { primitive.receives = port; }
  if (task.duty != Duty::pass_on && part.from == rank) {
    primitive.operands[0] = contiguous(Buffer::input, messages_.in_input(part.from, part.to) + range.first);
  }
  if (task.duty != Duty::pass_on && part.to == rank) {
    primitive.store = contiguous(Buffer::output, messages_.in_output(part.from, part.to) + range.first);
  }
  if (progress.turn > 0 && progress.chunk == 0 && task.duty != Duty::pass_on) {
    const std::uint64_t waits = std::uint64_t{progress.turn} * places(task.channel) * waited_for_;
    primitive.wait = {LaneId{first_lanes_[task.channel + 1] - 1}, waits};
  }
  return primitive;
}

Primitive RoundsExchange::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
  const Task task = task_of(agent.value, lane);
  if (task.duty == Duty::wait) { return waiting(agent.value, task, step); }
  const std::optional<Progress> progress = this->progress(agent.value, task, loop + step);
  return progress ? moving(agent.value, task, *progress) : Primitive{};
}

}  // namespace athanor
