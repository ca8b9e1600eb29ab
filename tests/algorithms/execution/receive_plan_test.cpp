#include "algorithms/execution/mpi/receive_plan.hpp"

#include <doctest/doctest.h>

#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

/// Rank 0 sends, rank 1 has the lanes that a test gives it; its lane 0 receives from rank 0.
toys::Table receiver(std::vector<Primitive> lane) {
  toys::Table table = toys::empty(2, Elements{100}, Elements{100}, Elements{100});
  table.add(0, std::vector<Primitive>(lane.size(), toys::send(4, toys::input(0))));
  table.add(1, std::move(lane));
  table.join(0, 0, 1, 0);
  return table;
}

using From = std::optional<std::uint64_t>;

/// Of each receive of rank 1's lane 0.
std::vector<From> straight(const toys::Table& table, bool finishes = false) {
  Wiring wiring;
  REQUIRE_FALSE(wire(table, wiring));
  const ReceivePlan plan(table, wiring, AgentId{1}, finishes);
  std::vector<From> all;
  for (const PlannedReceive& receive : plan.receives(0)) { all.push_back(receive.straight_from); }
  return all;
}

Primitive waiting(Primitive primitive, std::uint32_t lane, std::uint64_t ended) {
  primitive.wait = Wait{LaneId{lane}, ended};
  return primitive;
}

}  // namespace

TEST_CASE("what is only received and stored needs no slot, from the beginning where nothing else touches the store") {
  const std::vector<Primitive> lane{toys::receive(4, toys::output(0)), toys::receive(4, toys::output(4))};
  CHECK(straight(receiver(lane)) == std::vector<From>{0, 0});
}

TEST_CASE("a message waits for the last primitive of its lane that reads or stores there") {
  const std::vector<Primitive> lane{toys::receive(4, toys::output(0)), toys::copy(4, toys::output(2), toys::output(50)),
                                    toys::receive(4, toys::output(4)), toys::receive(4, toys::output(3)),
                                    toys::copy(4, toys::output(3), {Buffer::scratch, {}, {}, {}})};
  CHECK(straight(receiver(lane)) == std::vector<From>{0, 2, 3});
}

TEST_CASE("what is reduced, stored in strides, finished or only passed on takes a slot") {
  Primitive reduced = toys::receive(4, toys::output(0));
  reduced.operands[0] = toys::input(0);
  Primitive strided = toys::receive(4, toys::output(10));
  strided.store->run = Elements{1};
  strided.store->stride = Elements{2};
  Primitive finished = toys::receive(4, toys::output(30));
  finished.finish = true;
  Primitive passed = toys::receive(4, toys::output(40));
  passed.store.reset();
  const toys::Table table = receiver({reduced, strided, finished, passed});
  CHECK(straight(table, true) == std::vector<From>{std::nullopt, std::nullopt, std::nullopt, std::nullopt});
  CHECK(straight(table, false)[2] == From{0});
}

TEST_CASE("another lane that uses the cells must be ordered by a wait") {
  const Primitive use = toys::copy(4, toys::output(0), toys::output(50));
  const Primitive receive = toys::receive(4, toys::output(0));
  SUBCASE("it is not: the message takes a slot") {
    toys::Table table = receiver({receive});
    table.add(1, {use});
    CHECK(straight(table) == std::vector<From>{std::nullopt});
  }
  SUBCASE("the other lane waits for the receive") {
    toys::Table table = receiver({receive});
    table.add(1, {waiting(use, 0, 1)});
    CHECK(straight(table) == std::vector<From>{0});
  }
  SUBCASE("the other lane waits for too little") {
    toys::Table table = receiver({toys::receive(4, toys::output(90)), receive});
    table.add(1, {waiting(use, 0, 1)});
    CHECK(straight(table) == std::vector<From>{0, std::nullopt});
  }
  SUBCASE("the receiving lane has waited for the other one before") {
    toys::Table table = receiver({waiting(toys::receive(4, toys::output(90)), 1, 1), receive});
    table.add(1, {use});
    CHECK(straight(table) == std::vector<From>{0, 1});
  }
  SUBCASE("the receive itself waits for the other lane: until then the message takes a slot") {
    toys::Table table = receiver({waiting(receive, 1, 1)});
    table.add(1, {use});
    CHECK(straight(table) == std::vector<From>{std::nullopt});
  }
}

TEST_CASE("cells of input and output are the same where the schedule works in place") {
  toys::Table table = receiver({toys::copy(4, toys::input(0), toys::output(50)), toys::receive(4, toys::output(2))});
  CHECK(straight(table) == std::vector<From>{0});
  table.memories[1].in_place = 0;
  CHECK(straight(table) == std::vector<From>{1});
}
