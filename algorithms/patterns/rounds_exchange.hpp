#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/node_groups.hpp"
#include "algorithms/patterns/peer_rounds.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

/// How a message reaches a rank of another node.
enum class RoundsPath : std::uint8_t {
  direct,
  by_rail,  ///< over the sender's neighbour at the receiver's place in its node, which passes it on
};

/// Messages in rounds, as NCCL runs Send and Recv in one group: every rank goes through the rounds of PeerRounds, in
/// each of which it sends one message and receives one, spread in parts over the channels of RoundChannels. A channel
/// moves the parts of PeerRoundShape::peers_at_once rounds side by side, in as many places; when all of them have been
/// sent and received, it begins with the next as many.
///
/// Per channel a rank has for each place a lane that sends, one that receives, and, by rail, one that passes on; a part
/// is moved chunk after chunk, and port i of a lane belongs to its i-th message. What a rank keeps is copied by the
/// lane that sends, or receives where none sends. A channel with more rounds than places has one more lane, which
/// does nothing but wait, for all lanes that send or receive, once between two turns. A rank that has but one message
/// (not the root of a gather or scatter) has one lane per part. Where every lane has one message, its chunks are loops.
class RoundsExchange final : public RankSchedule {
 public:
  RoundsExchange(const Collective& collective, const Layout& layout, RoundsPath path);

  std::uint32_t lanes(AgentId agent) const override;
  Lane lane(AgentId agent, LaneId lane) const override;
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return task_of(agent.value, lane).channel; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override;
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override;
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override;
  Elements message_limit() const override { return messages_.message_limit(); }
  Elements shift(Buffer) const override { return messages_.chunk_size(); }

 private:
  using Work = RoundChannels::Work;
  enum class Duty : std::uint8_t { send, receive, pass_on, wait };
  struct Task {
    Duty duty = Duty::send;
    std::uint32_t channel = 0;
    std::uint32_t place = 0;
    std::optional<Work> only = std::nullopt;  ///< of a rank with one message
  };
  /// One part of one message.
  struct Part {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t number = 0;
  };
  struct Progress {
    std::uint32_t turn = 0;   ///< which work of its lane
    std::uint64_t chunk = 0;  ///< primitives of it that have ended
  };

  bool meets_all(std::uint32_t rank) const;
  std::uint32_t places(std::uint32_t channel) const { return std::min(peers_at_once_, channels_.works(channel)); }
  bool has_turns(std::uint32_t channel) const { return channels_.works(channel) > peers_at_once_; }
  std::uint32_t turns(const Task& task) const;
  Task task_of(std::uint32_t rank, LaneId lane) const;
  LaneId lane_of(std::uint32_t rank, Duty duty, const Work& work) const;
  std::uint32_t duty_lane(Duty duty) const;

  Work work(const Task& task, std::uint32_t turn) const;
  /// What the lane does about a work, if anything.
  std::optional<Part> part(std::uint32_t rank, const Task& task, std::uint32_t turn) const;
  static bool copies(const Part& part) { return part.from == part.to; }
  std::uint64_t primitives(std::uint32_t rank, const Task& task, std::uint32_t turn) const;
  std::uint64_t primitives_before(std::uint32_t rank, const Task& task, std::uint32_t turn) const;
  std::uint32_t ports_before(std::uint32_t rank, const Task& task, std::uint32_t turn) const;
  /// What a rank keeps is the first work of its lane: 1 if this is that lane.
  std::uint32_t kept(const Task& task) const { return work(task, 0).round == 0 ? 1 : 0; }
  /// Has the lane a port for each of its works, but for what is kept?
  static bool moves_all(const Task& task) { return task.duty == Duty::send || task.duty == Duty::receive; }
  void count_passed();
  std::span<const std::uint32_t> passed(const Task& task) const;
  Part at_port(std::uint32_t rank, const Task& task, PortId port) const;
  Endpoint endpoint(std::uint32_t rank, Duty duty, const Part& part) const;
  /// The rank over which a message goes, if any.
  std::optional<std::uint32_t> via(std::uint32_t from, std::uint32_t to) const;

  /// Where the lane is after so many primitives; none at the end of one that has nothing to do.
  std::optional<Progress> progress(std::uint32_t rank, const Task& task, std::uint64_t done) const;
  Primitive waiting(std::uint32_t rank, const Task& task, std::uint32_t step) const;
  Primitive moving(std::uint32_t rank, const Task& task, const Progress& progress) const;
  ProgramId program(std::uint32_t rank, const Task& task, LaneId lane) const;

  Layout layout_;
  std::uint32_t peers_at_once_;
  RoundsPath path_;
  NodeGroups nodes_;
  PeerRounds rounds_;
  PeerMessages messages_;
  RoundChannels channels_;
  std::vector<std::uint32_t> first_lanes_;  ///< by channel, of a rank that meets all; one more at the end
  std::vector<Duty> duties_;                ///< of such a rank, one lane of each per place
  std::uint32_t waited_for_ = 0;            ///< lanes per place that end a turn: all but those that pass on
  /// By channel, place and turn: how many works before the turn the lane passes on, of every rank alike; one more turn
  /// at the end. Empty where ranks differ in that, since groups are not nodes.
  std::vector<std::uint32_t> passed_;
  std::vector<std::uint32_t> first_passed_;  ///< by channel and place
  bool loops_ = true;                        ///< has no lane more than one message?
};

}  // namespace athanor
