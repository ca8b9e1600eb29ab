#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/peer_rounds.hpp"
#include "algorithms/proof/prove.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/sample.hpp"

namespace athanor {

namespace {

using enum CollectiveKind;

Layout in_groups(std::uint32_t group, std::uint32_t channels = 1, std::uint32_t parts = 1) {
  Layout layout;
  layout.group = group;
  layout.channels = channels;
  layout.shape = PeerRoundShape{.parts = parts};
  return layout;
}

/// Distances between groups of eight in the order of their rounds, from the first rank.
std::vector<std::uint32_t> distances(std::uint32_t groups) {
  const PeerRounds rounds(8 * groups, in_groups(8));
  std::vector<std::uint32_t> result;
  for (std::uint32_t group = 0; group < groups; ++group) { result.push_back(rounds.receiver(0, 8 * group) / 8); }
  return result;
}

/// Calls visit(from, lane, to, elements) for each connection, with all that it carries.
template <class Visit>
void each_connection(const Schedule& schedule, Visit visit) {
  for (AgentId agent{0}; agent.value < schedule.agent_count().ranks; ++agent.value) {
    for (LaneId lane{0}; lane.value < schedule.lanes(agent); ++lane.value) {
      const Lane shape = schedule.lane(agent, lane);
      std::vector<std::int64_t> carried(shape.out_ports);
      for (std::uint64_t index = 0; index < shape.loops * shape.steps; ++index) {
        const Primitive primitive =
            schedule.at(agent, lane, index / shape.steps, static_cast<std::uint32_t>(index % shape.steps));
        if (primitive.sends.count > 0) { carried.at(primitive.sends.first) += primitive.count.count(); }
      }
      for (PortId port{0}; port.value < shape.out_ports; ++port.value) {
        visit(agent.value, lane, schedule.target(agent, lane, port).agent.value, carried[port.value]);
      }
    }
  }
}

}  // namespace

TEST_CASE("in the rounds every rank sends once to every rank and gets once from every rank, itself first") {
  for (const std::uint32_t group : {0U, 1U, 2U, 6U, 8U, 12U, 16U}) {
    for (const std::uint32_t ranks : {12U, 24U, 48U, 80U}) {
      if (group != 0 && ranks % group != 0) { continue; }
      CAPTURE(group);
      CAPTURE(ranks);
      const PeerRounds rounds(ranks, in_groups(group));
      CHECK(rounds.rounds() == ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::set<std::uint32_t> receivers;
        CHECK(rounds.receiver(rank, 0) == rank);
        for (std::uint32_t round = 0; round < ranks; ++round) {
          const std::uint32_t to = rounds.receiver(rank, round);
          CHECK(rounds.sender(to, round) == rank);
          CHECK(rounds.round(rank, to) == round);
          receivers.insert(to);
        }
        CHECK(receivers.size() == ranks);
      }
    }
  }
}

TEST_CASE("groups of rounds are the greatest part of a node up to eight, and meet at triangular distances") {
  CHECK(PeerRounds(48, in_groups(8)).ranks_in_group() == 8);
  CHECK(PeerRounds(48, in_groups(16)).ranks_in_group() == 8);
  CHECK(PeerRounds(48, in_groups(12)).ranks_in_group() == 6);
  CHECK(PeerRounds(42, in_groups(14)).ranks_in_group() == 7);
  CHECK(PeerRounds(48, in_groups(0)).ranks_in_group() == 48);
  CHECK(PeerRounds(48, in_groups(48)).ranks_in_group() == 48);
  CHECK(distances(16) == std::vector<std::uint32_t>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8});
  CHECK(distances(6) == std::vector<std::uint32_t>{0, 1, 3, 2, 5, 4});
}

TEST_CASE("each part of each round has one channel and one turn there, and a channel's turns follow the rounds") {
  for (const std::uint32_t group : {0U, 2U, 8U}) {
    for (const std::uint32_t channels : {1U, 4U, 7U, 32U}) {
      for (const std::uint32_t parts : {1U, 2U, 4U}) {
        const PeerRounds rounds(24, in_groups(group));
        const RoundChannels of(rounds, in_groups(group, channels), std::min(parts, channels));
        std::uint32_t works = 0;
        for (std::uint32_t channel = 0; channel < of.channels(); ++channel) {
          std::uint32_t before = 0;
          for (std::uint32_t turn = 0; turn < of.works(channel); ++turn, ++works) {
            const RoundChannels::Work work = of.work(channel, turn);
            CHECK(work.round < 24);
            CHECK(work.part < parts);
            CHECK((turn == 0 || work.round > before));
            CHECK(of.channel(work) == channel);
            CHECK(of.turn(work) == turn);
            before = work.round;
          }
        }
        CHECK(works == 24 * std::min(parts, channels));
      }
    }
  }
}

TEST_CASE("the channel of a round is its number with the bits reversed, on several nodes that of its group") {
  const PeerRounds one(16, in_groups(0));
  const RoundChannels of_one(one, in_groups(0, 8), 2);
  const std::uint32_t reversed[] = {0, 4, 2, 6, 1, 5, 3, 7};
  for (std::uint32_t round = 0; round < 16; ++round) {
    CHECK(of_one.channel({round, 0}) == reversed[round % 8]);
    CHECK(of_one.channel({round, 1}) == (reversed[round % 8] + 1) % 8);
  }
  const PeerRounds several(64, in_groups(4));
  const RoundChannels of_several(several, in_groups(4, 8), 1);
  for (std::uint32_t round = 0; round < 64; ++round) {
    CHECK(of_several.channel({round, 0}) == reversed[round / 4 % 8]);
  }
}

TEST_CASE("an all-to-all in rounds takes a step for each eight ranks, on eight channels a step in all") {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    CAPTURE(ranks);
    const Collective collective = sample(all_to_all, ranks, 16 * ranks);
    const Algorithm& rounds = find(all_to_all, "rounds");
    CHECK(counted(*rounds.make(collective, {})).steps == (ranks + 7) / 8);
    CHECK(counted(*rounds.make(collective, in_groups(0, 8))).steps == 1);
    const Layout one_by_one{.shape = PeerRoundShape{.peers_at_once = 1}};
    CHECK(counted(*rounds.make(collective, one_by_one)).steps == ranks - 1);
  }
}

TEST_CASE("the parts of a message are as large as their number says and take successive channels") {
  const Collective collective = sample(all_to_all, 8, 8 * 64);
  for (const std::uint32_t parts : {1U, 2U, 4U, 8U}) {
    Layout layout = in_groups(0, 8, parts);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> pieces;
    each_connection(*find(all_to_all, "rounds").make(collective, layout),
                    [&](std::uint32_t from, LaneId, std::uint32_t to, std::int64_t count) {
                      pieces[{from, to}].push_back(count);
                    });
    CHECK(pieces.size() == 8 * 7);
    for (const auto& [pair, counts] : pieces) { CHECK(counts == std::vector<std::int64_t>(parts, 64 / parts)); }
  }
}

TEST_CASE("by rail no message changes its place between nodes, and every rank sends as much there as without") {
  for (const CollectiveKind kind : {all_to_all, all_to_all_v}) {
    for (const std::uint32_t nodes : {1U, 2U, 5U}) {
      for (const std::uint32_t group : {1U, 4U, 8U}) {
        CAPTURE(nodes);
        CAPTURE(group);
        if (nodes * group == 1) { continue; }
        const std::uint32_t ranks = nodes * group;
        const Collective collective = sample(kind, ranks, 16 * ranks);
        std::int64_t straight = 0;
        std::int64_t across = 0;
        each_connection(*find(kind, "rounds").make(collective, in_groups(group, 4, 2)),
                        [&](std::uint32_t from, LaneId, std::uint32_t to, std::int64_t count) {
                          straight += from / group == to / group ? 0 : count;
                        });
        each_connection(*find(kind, "rounds_by_rail").make(collective, in_groups(group, 4, 2)),
                        [&](std::uint32_t from, LaneId, std::uint32_t to, std::int64_t count) {
                          if (from / group == to / group) { return; }
                          across += count;
                          CHECK(from % group == to % group);
                        });
        CHECK(across == straight);
      }
    }
  }
}

TEST_CASE("the stated cost of rounds is what their schedule does, in groups too") {
  for (const auto& [kind, name] : {std::pair{all_to_all, "rounds"},
                                   {all_to_all, "rounds_by_rail"},
                                   {all_to_all_v, "rounds"},
                                   {all_to_all_v, "rounds_by_rail"},
                                   {gather, "rounds"},
                                   {scatter, "rounds"},
                                   {send_receive, "rounds"}}) {
    for (const std::uint32_t group : {1U, 2U, 3U, 8U}) {
      for (const std::uint32_t nodes : {1U, 2U, 3U, 5U}) {
        for (const std::int64_t count : {0, 37, 240}) {
          const Algorithm& rounds = find(kind, name);
          CAPTURE(rounds.name);
          CAPTURE(group);
          CAPTURE(nodes);
          CAPTURE(count);
          const Collective collective = sample(kind, group * nodes, count, group * nodes / 3);
          CHECK(counted(*rounds.make(collective, in_groups(group))) == rounds.cost(collective, in_groups(group)));
        }
      }
    }
  }
}

TEST_CASE("messages in rounds are proven with parts, chunks, places and groups of all sorts") {
  const Layout shapes[] = {
      {.channels = 4, .chunk = Elements{3}, .shape = PeerRoundShape{.parts = 2}},
      {.channels = 5, .chunk = Elements{4}, .shape = PeerRoundShape{.parts = 9, .peers_at_once = 2}},
      {.channels = 8, .shape = PeerRoundShape{.peers_at_once = 1}},
      {.channels = 16,
       .chunk = Elements{2},
       .grain = Elements{2},
       .shape = PeerRoundShape{.parts = 4, .peers_at_once = 3}},
  };
  for (const CollectiveKind kind : {all_to_all, all_to_all_v, gather, scatter, send_receive}) {
    for (const std::string_view name : {"rounds", "rounds_by_rail"}) {
      if (name == "rounds_by_rail" && kind != all_to_all && kind != all_to_all_v) { continue; }
      for (const std::uint32_t ranks : {1U, 2U, 6U, 16U, 24U}) {
        for (const std::uint32_t group : {0U, 1U, 2U, 8U, 12U}) {
          for (Layout layout : shapes) {
            layout.group = group != 0 && ranks % group == 0 ? group : 0;
            const Algorithm& rounds = find(kind, name);
            const Collective collective = sample(kind, ranks, 97, ranks / 2);
            if (rounds.refuses(collective, layout)) { continue; }
            const auto schedule = rounds.make(collective, layout);
            CAPTURE(std::string(name));
            CAPTURE(ranks);
            CAPTURE(group);
            const auto violation = prove(*schedule, collective);
            if (violation) { FAIL_CHECK(explain(schedule->agent_count(), *violation)); }
          }
        }
      }
    }
  }
}

TEST_CASE("by rail refuses nodes that are more than one group of rounds") {
  const Algorithm& rounds = find(all_to_all, "rounds_by_rail");
  CHECK_FALSE(rounds.refuses(sample(all_to_all, 32, 32), in_groups(8)).has_value());
  CHECK_FALSE(rounds.refuses(sample(all_to_all, 32, 32), in_groups(0)).has_value());
  CHECK(rounds.refuses(sample(all_to_all, 32, 32), in_groups(16)) == "it takes nodes of at most 8 ranks, not 16");
}

TEST_CASE("where sizes differ, a message has as many parts as its size asks for, and the rest carries nothing") {
  for (const std::uint32_t ranks : {2U, 5U, 8U}) {
    for (const std::int64_t count : {1, 40, 300}) {
      for (const char* name : {"rounds", "rounds_by_rail"}) {
        CAPTURE(ranks);
        CAPTURE(count);
        Layout layout = in_groups(ranks % 2 == 0 ? ranks / 2 : 0, 8, 8);
        layout.chunk = Elements{7};
        layout.shape = PeerRoundShape{.parts = 8, .parts_by_size = MessageParts{Elements{4}, Elements{16}, 2}};
        const Collective collective = sample(all_to_all_v, ranks, count);
        const auto schedule = find(all_to_all_v, name).make(collective, layout);
        const auto violation = prove(*schedule, collective);
        CHECK_MESSAGE(!violation, (violation ? violation->text : ""));
        if (name != std::string_view("rounds")) { continue; }
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> used;
        each_connection(*schedule, [&](std::uint32_t from, LaneId, std::uint32_t to, std::int64_t elements) {
          used[{from, to}] += elements > 0 ? 1 : 0;
        });
        for (const auto& [ends, parts] : used) {
          const std::int64_t size = collective.sizes->size(ends.first, ends.second).count();
          std::int64_t wanted = std::clamp<std::int64_t>((size + 3) / 4, 1, 2);
          while (2 * wanted <= 8 && (size + wanted - 1) / wanted > 16) { wanted *= 2; }
          const std::int64_t each = std::max<std::int64_t>(1, (size + wanted - 1) / wanted);
          CAPTURE(size);
          CHECK(parts == (size + each - 1) / each);
        }
      }
    }
  }
}

}  // namespace athanor
