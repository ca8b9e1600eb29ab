#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "algorithms/proof/prove.hpp"
#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/sample.hpp"
#include "tests/algorithms/toy_schedules.hpp"

namespace athanor {

namespace {

/// The algorithm's schedule as a table that may be damaged.
toys::Table table_of(std::string_view name, const Collective& collective) {
  toys::Table table = toys::tabulate(*find(collective.kind, name).make(collective, {}));
  table.separate_programs();
  return table;
}

ViolationKind defect(const toys::Table& table, const Collective& collective) {
  const auto violation = prove(table, collective);
  REQUIRE(violation.has_value());
  return violation->kind;
}

/// Takes the message that a primitive of lane 0 sends away at both ends, if it is the only one there.
void forget(toys::Table& table, std::uint32_t agent, std::uint64_t index) {
  Primitive& sender = table.primitive(agent, 0, index);
  const Endpoint far = table.target(AgentId{agent}, LaneId{0}, PortId{sender.sends.first});
  sender.sends = {};
  for (Primitive& receiver : table.lane(far.agent.value, 0).primitives) {
    if (receiver.receives == Ports{far.port.value, 1}) { receiver.receives = {}; }
  }
}

std::string refusal(const Collective& collective) { return invalid(collective, {}).value_or(""); }

std::vector<Elements> elements(const std::vector<std::int64_t>& counts) {
  std::vector<Elements> result;
  for (const std::int64_t count : counts) { result.emplace_back(count); }
  return result;
}

}  // namespace

TEST_CASE("a gather promises all blocks to the root and nothing to the others, a scatter each block to its owner") {
  const Contract gather(sample(CollectiveKind::gather, 4, 10, 2));
  const Contract scatter(sample(CollectiveKind::scatter, 4, 10, 2));
  const std::vector<std::int64_t> parts{3, 3, 3, 1};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const Elements part{parts[rank]};
    CHECK(gather.input(rank) == part);
    CHECK(gather.output(rank) == Elements{rank == 2 ? 10 : 0});
    CHECK(gather.promises(rank) == (rank == 2));
    CHECK(scatter.input(rank) == Elements{rank == 2 ? 10 : 0});
    CHECK(scatter.output(rank) == part);
    CHECK(gather.promised(2)[rank].origin == rank);
    CHECK(gather.promised(2)[rank].count == part);
    REQUIRE(scatter.promised(rank).size() == 1);
    CHECK(scatter.promised(rank)[0].from == Elements{3 * rank});
    CHECK(scatter.promised(rank)[0].origin == 2);
  }
  CHECK_FALSE(gather.finished());
  CHECK_FALSE(scatter.finished());
}

TEST_CASE("a block that a gather or a scatter puts in the wrong place is found") {
  const Collective gather = sample(CollectiveKind::gather, 3, 9, 1);
  toys::Table table = table_of("linear", gather);
  CHECK_FALSE(prove(table, gather).has_value());
  std::swap(table.primitive(1, 1, 0).store, table.primitive(1, 2, 0).store);
  CHECK(defect(table, gather) == ViolationKind::result);
  table.primitive(1, 1, 0).store = table.primitive(1, 2, 0).store;
  CHECK(defect(table, gather) == ViolationKind::race);

  const Collective scatter = sample(CollectiveKind::scatter, 3, 9, 1);
  table = table_of("linear", scatter);
  CHECK_FALSE(prove(table, scatter).has_value());
  table.primitive(1, 2, 0).operands[0]->first = Elements{6};
  CHECK(defect(table, scatter) == ViolationKind::result);
}

TEST_CASE("a barrier that forgets any of its messages is none") {
  for (const std::string_view name : {"dissemination", "tree"}) {
    for (const std::uint32_t ranks : {2U, 4U, 8U}) {
      const Collective barrier = sample(CollectiveKind::barrier, ranks, 0);
      const toys::Table whole = table_of(name, barrier);
      CHECK_FALSE(prove(whole, barrier).has_value());
      whole.each_primitive([&](std::uint32_t agent, std::uint32_t, std::uint64_t index, const Primitive& primitive) {
        if (primitive.sends.count != 1) { return; }
        CAPTURE(std::string(name));
        CAPTURE(ranks);
        CAPTURE(agent);
        CAPTURE(index);
        toys::Table damaged = whole;
        forget(damaged, agent, index);
        CHECK(prove(damaged, barrier).has_value());
      });
    }
  }
}

TEST_CASE("two ranks that tell only one way make no barrier, and the one that knows too little is named") {
  const Collective barrier = sample(CollectiveKind::barrier, 2, 0);
  toys::Table table = table_of("dissemination", barrier);
  table.primitive(1, 0, 0).sends = {};
  table.primitive(0, 0, 1).receives = {};
  const auto violation = prove(table, barrier);
  REQUIRE(violation.has_value());
  CHECK(violation->kind == ViolationKind::barrier);
  CHECK(violation->place.agent == AgentId{0});
  CHECK(violation->text.find("before rank 1 has begun") != std::string::npos);
}

TEST_CASE("a lane knows what the lane knows that it waits for, and without the wait it does not") {
  const Collective barrier = sample(CollectiveKind::barrier, 3, 0);
  Primitive tell;
  tell.sends = {0, 1};
  Primitive hear;
  hear.receives = {0, 1};
  for (const bool waits : {true, false}) {
    toys::Table table = toys::empty(3, {}, {}, {});
    // Only rank 1 tells rank 0 of rank 2: its lane 0 hears, its lane 1 tells. Everyone else is told by all.
    const std::vector<std::array<std::uint32_t, 2>> messages{{2, 1}, {1, 0}, {0, 1}, {0, 2}, {1, 2}};
    for (const auto& [from, to] : messages) {
      const auto first = static_cast<std::uint32_t>(table.agents[from].size());
      const auto second = static_cast<std::uint32_t>(table.agents[to].size());
      table.add(from, {tell});
      table.add(to, {hear});
      table.join(from, first, to, second);
    }
    if (waits) { table.primitive(1, 1, 0).wait = Wait{LaneId{0}, 1}; }
    const auto violation = prove(table, barrier);
    CHECK(violation.has_value() != waits);
    if (violation) { CHECK(violation->kind == ViolationKind::barrier); }
  }
}

TEST_CASE("a barrier carries nothing") {
  Collective barrier = sample(CollectiveKind::barrier, 3, 0);
  CHECK(refusal(barrier).empty());
  barrier.count = Elements{1};
  CHECK(refusal(barrier).find("no payload") != std::string::npos);
  barrier.count = Elements::zero();
  barrier.in_place = true;
  CHECK(refusal(barrier).find("in place") != std::string::npos);
}

TEST_CASE("an all-to-all-v takes its sizes from one table, and blocks lie one after the other on both sides") {
  const AllToAllVSizes sizes(3, elements({1, 2, 3, 0, 5, 0, 7, 0, 2}));
  CHECK(sizes.input(0) == Elements{6});
  CHECK(sizes.output(0) == Elements{8});
  CHECK(sizes.size(2, 0) == Elements{7});
  CHECK(sizes.input_offset(0, 2) == Elements{3});
  CHECK(sizes.output_offset(2, 0) == Elements{1});
  CHECK(sizes.largest() == Elements{9});
  CHECK(sizes.largest_block() == Elements{7});
  CHECK(sizes.exchanged() == Elements{7});
  CHECK_THROWS_AS(AllToAllVSizes(3, elements({1, 2, 3})), ScenarioError);
  CHECK_THROWS_AS(AllToAllVSizes(1, elements({-1})), ScenarioError);
}

TEST_CASE(
    "an all-to-all-v without its table, with another's or with another payload is refused, and no other has one") {
  Collective exchange = sample(CollectiveKind::all_to_all_v, 3, 20);
  CHECK(refusal(exchange).empty());
  exchange.count += Elements{1};
  CHECK(refusal(exchange).find("busiest rank") != std::string::npos);
  exchange.sizes = std::make_shared<AllToAllVSizes>(2, elements({1, 2, 3, 4}));
  CHECK(refusal(exchange).find("for 2 ranks") != std::string::npos);
  exchange.kind = CollectiveKind::all_to_all;
  CHECK(refusal(exchange).find("only all_to_all_v") != std::string::npos);
  exchange.kind = CollectiveKind::all_to_all_v;
  exchange.sizes.reset();
  CHECK(refusal(exchange).find("needs a table") != std::string::npos);
}

TEST_CASE("blocks of an all-to-all-v that change places are found") {
  Collective exchange{CollectiveKind::all_to_all_v, 2, Elements{4}};
  exchange.sizes = std::make_shared<AllToAllVSizes>(2, elements({2, 2, 2, 2}));
  for (const std::string_view name : {"direct", "pairwise"}) {
    toys::Table table = table_of(name, exchange);
    CHECK_FALSE(prove(table, exchange).has_value());
    table.primitive(0, 0, 0).store->first = Elements{2};
    CHECK(prove(table, exchange).has_value());
  }
}

TEST_CASE("the names of element types lead back to them, and no other word does") {
  for (const DataType type : data_types()) {
    CHECK(data_type(name(type)) == type);
    CHECK(size_of(type) > Bytes::zero());
  }
  CHECK(reductions().size() == 5);
  CHECK(data_types().size() == 7);
  CHECK(size_of(DataType::bfloat16) == Bytes{2});
  CHECK(size_of(DataType::float64) == Bytes{8});
  CHECK(nccl_name(DataType::float16) == "half");
  CHECK(nccl_name(Reduction::average) == "avg");
  CHECK_FALSE(data_type("half").has_value());
  CHECK_FALSE(data_type("").has_value());
}

}  // namespace athanor
