#include <deque>
#include <numeric>

#include <doctest/doctest.h>

#include "models/network/flow_network.hpp"
#include "tests/models/naive_max_min.hpp"

namespace athanor::test {

namespace {

struct Message {
  Time start;
  std::uint32_t connection = 0;
  Bytes size;
};

std::vector<Message> random_messages(Random& random, std::size_t connections, std::int64_t most, Time within,
                                     std::int64_t most_bytes) {
  std::vector<Message> messages;
  const std::int64_t count = random.between(1, most);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto c = static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(connections) - 1));
    const std::int64_t bytes = random.between(0, 9) == 0 ? 0 : random.between(1, most_bytes);
    // Few distinct starts, so that several things happen at one instant.
    messages.push_back({within * random.between(0, 7) / 7, c, Bytes{bytes}});
  }
  std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return messages;
}

/// The same network simulated without any cleverness: at each instant at which anything starts or ends, all rates are
/// computed from scratch. Returns when each connection's messages are injected.
std::vector<std::vector<Time>> naive_injections(const FlowGraph& plan, const std::vector<Message>& messages) {
  constexpr Wide kPart = Wide{kFinePerByte} * 1'000'000'000'000;
  const std::size_t connections = plan.connections.size();
  std::vector<std::vector<Time>> injected(connections);
  std::vector<std::deque<Wide>> queue(connections);
  std::vector<FineRate> rate(connections);
  std::size_t next = 0;
  Time now;
  for (;;) {
    for (; next < messages.size() && messages[next].start == now; ++next) {
      queue[messages[next].connection].push_back(messages[next].size.count() * kPart);
    }
    std::vector<bool> active(connections);
    for (std::size_t c = 0; c < connections; ++c) {
      while (!queue[c].empty() && queue[c].front() <= 0) {
        queue[c].pop_front();
        injected[c].push_back(now);
      }
      active[c] = !queue[c].empty();
    }
    rate = whole_rates(plan, active);
    Time then = next < messages.size() ? messages[next].start : Time::max();
    for (std::size_t c = 0; c < connections; ++c) {
      if (!active[c]) { continue; }
      const Wide span = (queue[c].front() + rate[c] - 1) / rate[c];
      then = std::min(then, now + Time{static_cast<std::int64_t>(span)});
    }
    if (then == Time::max()) { return injected; }
    for (std::size_t c = 0; c < connections; ++c) {
      if (active[c]) { queue[c].front() -= Wide{rate[c]} * (then - now).count(); }
    }
    now = then;
  }
}

template <class Kind>
void play(Rig<Kind>& rig, const std::vector<Message>& messages) {
  for (const Message& message : messages) { rig.move_at(message.start, message.connection, message.size); }
}

CarriedBytes bytes_by_link(const FlowGraph& plan, const std::vector<Message>& messages) {
  CarriedBytes bytes(plan.links.size());
  for (const Message& message : messages) {
    const FlowGraph::Connection& connection = plan.connections[ConnectionId{message.connection}];
    for (std::uint32_t u = 0; u < connection.uses; ++u) {
      const FlowGraph::Use& use = plan.uses[connection.first_use + u];
      bytes[use.link] += message.size * use.flows;
    }
  }
  return bytes;
}

CarriedBytes carried_by_link(const Network& network, const FlowGraph& plan) {
  CarriedBytes bytes;
  for (const LinkIndex link : plan.links.ids()) { bytes.push_back(network.carried(link)); }
  return bytes;
}

}  // namespace

TEST_CASE("random runs end each message at the picosecond of a simulation that shares out anew at every event") {
  Random random(17);
  for (int system = 0; system < 250; ++system) {
    CAPTURE(system);
    const FlowGraph plan = random_plan(random, 8, 16, 1'000'000, 1'000'000'000, system % 3 == 0 ? 3 : 1);
    const Time within{system % 2 == 0 ? 0 : 2'000'000'000};
    const std::vector<Message> messages = random_messages(random, plan.connections.size(), 40, within, 500'000);
    Rig<FlowNetwork> rig(plan);
    play(rig, messages);
    rig.simulator.run();
    const std::vector<std::vector<Time>> expected = naive_injections(plan, messages);
    for (std::uint32_t c = 0; c < expected.size(); ++c) {
      REQUIRE(rig.of(c).injected == expected[c]);
      REQUIRE(rig.of(c).delivered.size() == expected[c].size());
      for (std::size_t k = 0; k < expected[c].size(); ++k) {
        CHECK(rig.of(c).delivered[k] == expected[c][k] + plan.connections[ConnectionId{c}].latency);
      }
    }
    CHECK(carried_by_link(rig.network, plan) == bytes_by_link(plan, messages));
  }
}

TEST_CASE("no link carries more than its rate over any span, and all bytes are carried in the end") {
  Random random(19);
  for (int system = 0; system < 60; ++system) {
    CAPTURE(system);
    const FlowGraph plan = random_plan(random, 6, 12, 1'000'000, 1'000'000'000);
    const std::vector<Message> messages =
        random_messages(random, plan.connections.size(), 30, Time{2'000'000'000}, 500'000);
    Rig<FlowNetwork> rig(plan);
    play(rig, messages);
    CarriedBytes before(plan.links.size());
    const Time span{random.between(1, 400'000'000)};
    for (int k = 1; k <= 20; ++k) {
      rig.script.at(span * k, [&] {
        const CarriedBytes after = carried_by_link(rig.network, plan);
        for (const LinkIndex l : after.ids()) {
          const Wide most = Wide{plan.links[l].rate.count()} * span.count() / 1'000'000'000'000;
          // Each message under way is counted in whole bytes.
          CHECK((after[l] - before[l]).count() <= static_cast<std::int64_t>(most) + 12 + 1);
          CHECK(after[l] >= before[l]);
        }
        before = after;
      });
    }
    rig.simulator.run();
    CHECK(carried_by_link(rig.network, plan) == bytes_by_link(plan, messages));
  }
}

TEST_CASE("classes with multiplicities tell the times of the whole system to the picosecond") {
  // Member j of a class of n connections uses link j mod s of a class of s links, so n / s of them share each link.
  Random random(23);
  for (int system = 0; system < 120; ++system) {
    CAPTURE(system);
    FlowGraph classes = random_plan(random, 6, 8, 1'000'000, 1'000'000'000);
    const std::vector<std::uint32_t> divisors{1, 2, 3, 4, 6, 12};
    FlowGraph whole;
    std::vector<std::uint32_t> copies;
    std::vector<std::uint32_t> first_copy;
    for (const FlowGraph::Link& link : classes.links) {
      copies.push_back(divisors[static_cast<std::size_t>(random.between(0, 5))]);
      first_copy.push_back(static_cast<std::uint32_t>(whole.links.size()));
      for (std::uint32_t copy = 0; copy < copies.back(); ++copy) { whole.links.push_back(link); }
    }
    std::vector<std::uint32_t> first_member;
    std::vector<std::uint32_t> members;
    for (const FlowGraph::Connection& connection : classes.connections) {
      members.push_back(12 * static_cast<std::uint32_t>(random.between(1, 2)));
      first_member.push_back(static_cast<std::uint32_t>(whole.connections.size()));
      for (std::uint32_t j = 0; j < members.back(); ++j) {
        std::vector<Crossing> path;
        for (std::uint32_t u = 0; u < connection.uses; ++u) {
          FlowGraph::Use& use = classes.uses[connection.first_use + u];
          use.flows = members.back() / copies[use.link.value];
          path.push_back({first_copy[use.link.value] + j % copies[use.link.value]});
        }
        add_connection(whole, path, connection.latency, connection.cap);
      }
    }
    const auto messages = random_messages(random, classes.connections.size(), 25, Time{2'000'000'000}, 500'000);
    Rig<FlowNetwork> folded(classes);
    Rig<FlowNetwork> full(whole);
    play(folded, messages);
    for (const Message& message : messages) {
      for (std::uint32_t j = 0; j < members[message.connection]; ++j) {
        full.move_at(message.start, first_member[message.connection] + j, message.size);
      }
    }
    folded.simulator.run();
    full.simulator.run();
    for (std::uint32_t c = 0; c < members.size(); ++c) {
      for (std::uint32_t j = 0; j < members[c]; ++j) { REQUIRE(full.of(first_member[c] + j) == folded.of(c)); }
    }
    for (std::uint32_t l = 0; l < copies.size(); ++l) {
      for (std::uint32_t j = 0; j < copies[l]; ++j) {
        CHECK(full.network.carried(LinkIndex{first_copy[l] + j}) == folded.network.carried(LinkIndex{l}));
      }
    }
  }
}

TEST_CASE("a run is the same to the picosecond when connections and links are numbered otherwise") {
  Random random(29);
  for (int system = 0; system < 60; ++system) {
    const FlowGraph plan = random_plan(random, 8, 16, 1'000'000, 1'000'000'000);
    std::vector<std::uint32_t> link_at(plan.links.size());
    std::vector<std::uint32_t> connection_at(plan.connections.size());
    std::iota(link_at.begin(), link_at.end(), 0U);
    std::iota(connection_at.begin(), connection_at.end(), 0U);
    random.shuffle(link_at);
    random.shuffle(connection_at);
    FlowGraph other = plan;
    for (std::uint32_t l = 0; l < link_at.size(); ++l) {
      other.links[LinkIndex{link_at[l]}] = plan.links[LinkIndex{l}];
    }
    for (FlowGraph::Use& use : other.uses) { use.link = LinkIndex{link_at[use.link.value]}; }
    for (std::uint32_t c = 0; c < connection_at.size(); ++c) {
      other.connections[ConnectionId{connection_at[c]}] = plan.connections[ConnectionId{c}];
    }
    std::vector<Message> messages = random_messages(random, plan.connections.size(), 40, Time{1'000'000'000}, 500'000);
    Rig<FlowNetwork> rig(plan);
    Rig<FlowNetwork> renumbered(other);
    play(rig, messages);
    for (Message& message : messages) { message.connection = connection_at[message.connection]; }
    play(renumbered, messages);
    rig.simulator.run();
    renumbered.simulator.run();
    for (std::uint32_t c = 0; c < connection_at.size(); ++c) { REQUIRE(renumbered.of(connection_at[c]) == rig.of(c)); }
  }
}

}  // namespace athanor::test
