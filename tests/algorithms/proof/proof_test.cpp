#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/proof/prove.hpp"
#include "sim/check.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;
using namespace athanor::toys;

namespace {

StepPlace at(std::uint32_t agent, std::uint32_t lane, std::uint64_t loop, std::uint32_t step) {
  return {AgentId{agent}, LaneId{lane}, loop, step};
}

std::string proof(const Schedule& schedule, const Collective& collective, const ProofOptions& options = {}) {
  const auto violation = prove(schedule, collective, options);
  return violation ? explain(schedule.agent_count(), *violation) : "proven";
}

Violation defect(const Schedule& schedule, const Collective& collective, const ProofOptions& options = {}) {
  const auto violation = prove(schedule, collective, options);
  require(violation.has_value(), "the defect is not found");
  return *violation;
}

/// Which kind of defect, where, and what its text must say.
void check_found(const Violation& found, ViolationKind kind, const StepPlace& place, std::string_view says) {
  const std::string text = explain({3, 3}, found);
  CAPTURE(text);
  CHECK(found.kind == kind);
  CHECK(found.place == place);
  CHECK(found.text.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("undamaged toys are proven") {
  for (std::uint32_t ranks = 3; ranks < 12; ++ranks) {
    for (std::uint64_t loops = 1; loops < 4; ++loops) {
      const Ring ring = ring_all_reduce(ranks, loops);
      CHECK(proof(ring.table, ring.collective, {8, true}) == "proven");
    }
  }
  const Chain chain = chain_broadcast();
  CHECK(proof(chain.table, chain.collective) == "proven");
}

TEST_CASE("buffers of another size than the collective's are found") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.memories[1].output += Elements{1};
  check_found(defect(ring.table, ring.collective), ViolationKind::memory, {AgentId{1}, {}, {}, {}}, "6 and 7");
  ring.collective.ranks = 4;
  check_found(defect(ring.table, ring.collective), ViolationKind::memory, {AgentId{0}, {}, {}, {}}, "3 ranks");
}

TEST_CASE("a shared input at another place than the collective's is found") {
  Ring ring = ring_all_reduce(3, 1);
  for (Memory& memory : ring.table.memories) { memory.in_place = 0; }
  CHECK(defect(ring.table, ring.collective).kind == ViolationKind::memory);
  ring.collective.in_place = true;
  CHECK(proof(ring.table, ring.collective) == "proven");
  ring.table.memories[2].in_place = 1;
  check_found(defect(ring.table, ring.collective), ViolationKind::memory, {AgentId{2}, {}, {}, {}}, "element 1 on");
  ring.table.memories[2].in_place.reset();
  check_found(defect(ring.table, ring.collective), ViolationKind::memory, {AgentId{2}, {}, {}, {}}, "does not share");
}

TEST_CASE("an out-port that leads to the wrong peer is found") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.lane(1, 0).targets[0].agent = AgentId{0};
  check_found(defect(ring.table, ring.collective), ViolationKind::wiring, {AgentId{1}, LaneId{0}, {}, {}},
              "leads to rank 0, lane 0, port 0, whose source is rank 2");
}

TEST_CASE("an in-port that nothing is joined to is found") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.lane(1, 0).shape.in_ports = 2;
  ring.table.lane(1, 0).sources.push_back({AgentId{0}, LaneId{0}, PortId{0}});
  check_found(defect(ring.table, ring.collective), ViolationKind::wiring, {AgentId{1}, LaneId{0}, {}, {}},
              "in-port 1 is fed by rank 0");
  ring.table.lane(1, 0).sources[1].port = PortId{3};
  check_found(defect(ring.table, ring.collective), ViolationKind::wiring, {AgentId{1}, LaneId{0}, {}, {}},
              "does not exist");
}

TEST_CASE("ranks joined in the wrong order give a wrong result that is traced") {
  Ring ring = ring_all_reduce(3, 1);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ring.table.lane(rank, 0).targets[0].agent = AgentId{(rank + 2) % 3};
    ring.table.lane(rank, 0).sources[0].agent = AgentId{(rank + 1) % 3};
  }
  CHECK(defect(ring.table, ring.collective).kind == ViolationKind::result);
}

TEST_CASE("ports that the lane has not are found") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.primitive(2, 0, 3).receives = {1, 1};
  check_found(defect(ring.table, ring.collective), ViolationKind::ports, at(2, 0, 0, 3), "in-ports 1 to 1");
  ring.table.primitive(2, 0, 3).receives = {0, UINT32_MAX};
  CHECK(defect(ring.table, ring.collective).kind == ViolationKind::ports);
}

TEST_CASE("cells outside a buffer are found, and the last ones inside are not") {
  for (const std::int64_t beyond : {0, 1}) {
    Ring ring = ring_all_reduce(3, 1);
    ring.table.separate_programs();
    ring.table.primitive(1, 0, 4).store = Cells{Buffer::output, Elements{0}, Elements{1}, Elements{5 + beyond}};
    const Violation found = defect(ring.table, ring.collective);
    CHECK(found.kind == (beyond > 0 ? ViolationKind::cells : ViolationKind::result));
  }
  Ring ring = ring_all_reduce(3, 1);
  ring.table.primitive(0, 0, 1).operands[0] = input(-1);
  check_found(defect(ring.table, ring.collective), ViolationKind::cells, at(0, 0, 0, 1), "operand [-1, 1)");
}

TEST_CASE("stores into the input, twice into a cell or over a later operand are found") {
  Ring ring = ring_all_reduce(3, 1);
  Primitive& last = ring.table.primitive(1, 0, 4);
  const Cells right = *last.store;
  last.store = input(0);
  check_found(defect(ring.table, ring.collective), ViolationKind::cells, at(1, 0, 0, 4), "into the input");
  last.store = Cells{Buffer::output, Elements{0}, Elements{1}, Elements{0}};
  check_found(defect(ring.table, ring.collective), ViolationKind::cells, at(1, 0, 0, 4), "twice");
  last.store = right;
  last.operands[0] = Cells{Buffer::output, right.first + Elements{1}, {}, {}};
  check_found(defect(ring.table, ring.collective), ViolationKind::cells, at(1, 0, 0, 4), "operand of another element");
}

TEST_CASE("a message longer than the limit is found") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.limit = Elements{2};
  CHECK(proof(ring.table, ring.collective) == "proven");
  ring.table.limit = Elements{1};
  check_found(defect(ring.table, ring.collective), ViolationKind::message_limit, at(0, 0, 0, 0), "limit of 1");
}

TEST_CASE("a missing reduction is found with the contribution that is lost") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.separate_programs();
  ring.table.primitive(1, 0, 1).operands[0].reset();
  const Violation found = defect(ring.table, ring.collective);
  check_found(found, ViolationKind::result, at(0, 0, 0, 3), "lacks element 0 of rank 1, which no primitive reads");
}

TEST_CASE("a message that is received but not added is found where it was seen last") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.separate_programs();
  Primitive& drops = ring.table.primitive(1, 0, 1);
  Primitive only_own = drops;
  only_own.receives = {};
  drops.operands[0].reset();
  drops.sends = {};
  ring.table.lane(1, 0).primitives.insert(ring.table.lane(1, 0).primitives.begin() + 2, only_own);
  ring.table.lane(1, 0).shape.steps += 1;
  const Violation found = defect(ring.table, ring.collective);
  check_found(found, ViolationKind::result, at(0, 0, 0, 3),
              "lacks element 0 of rank 0, last seen at rank 1, lane 0, loop 0, step 1");
}

TEST_CASE("a contribution that counts twice is found where it is doubled") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.separate_programs();
  ring.table.primitive(2, 0, 1).operands[1] = ring.table.primitive(2, 0, 1).operands[0];
  check_found(defect(ring.table, ring.collective), ViolationKind::result, at(2, 0, 0, 1), "of rank 2 2 times");
}

TEST_CASE("a foreign contribution, a never filled cell and a never stored element are found") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.separate_programs();
  Primitive& adds = ring.table.primitive(0, 0, 2);
  adds.operands[1] = input(4);
  CHECK(defect(ring.table, ring.collective).text.find("holds element 4 of rank 0, which does not") !=
        std::string::npos);
  adds.operands[1] = output(4);
  CHECK(defect(ring.table, ring.collective).text.find("a cell of rank 0 that was never filled") != std::string::npos);
  adds.operands[1].reset();
  ring.table.primitive(1, 0, 4).store.reset();
  CHECK(defect(ring.table, ring.collective).text.find("of rank 1 is never stored") != std::string::npos);
}

TEST_CASE("a missing and a double finish are found where they happen") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.separate_programs();
  ring.table.primitive(2, 0, 2).finish = false;
  check_found(defect(ring.table, ring.collective), ViolationKind::result, at(2, 0, 0, 2), "finished 0 times");
  ring.table.primitive(2, 0, 2).finish = true;
  ring.table.primitive(1, 0, 4).finish = true;
  check_found(defect(ring.table, ring.collective), ViolationKind::result, at(1, 0, 0, 4), "finished 2 times");
}

TEST_CASE("a broadcast must not finish") {
  Chain chain = chain_broadcast();
  chain.table.primitive(2, 0, 0).finish = true;
  check_found(defect(chain.table, chain.collective), ViolationKind::result, at(2, 0, 0, 0), "1 times instead of 0");
}

TEST_CASE("two ends that disagree on the count of a message are found with both primitives") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.primitive(1, 0, 4).count = Elements{1};
  check_found(defect(ring.table, ring.collective), ViolationKind::matching, at(1, 0, 0, 4),
              "receives 1 elements where rank 0, lane 0, loop 0, step 3 sends 2");
}

TEST_CASE("a message too few and a message too many are found") {
  Chain few = chain_broadcast();
  few.table.primitive(1, 1, 0).sends = {};
  check_found(defect(few.table, few.collective), ViolationKind::matching, at(2, 0, 0, 0),
              "message 1 of rank 1, lane 1, which has ended");
  Chain many = chain_broadcast();
  many.table.primitive(2, 0, 0).receives = {};
  many.table.primitive(2, 0, 0).count = Elements{0};
  check_found(defect(many.table, many.collective), ViolationKind::matching, at(1, 1, 0, 0), "receives only 0");
}

TEST_CASE("crossing receives deadlock, and the report names the circle") {
  Table table = empty(2, Elements{4}, Elements{4}, {});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    table.add(rank, {receive(2, output(2 - 2 * rank)), send(2, input(2 - 2 * rank)),
                     copy(2, input(2 * rank), output(2 * rank))});
  }
  table.join(0, 0, 1, 0);
  table.join(1, 0, 0, 0);
  const Collective collective{CollectiveKind::all_to_all, 2, Elements{4}, 0};
  check_found(
      defect(table, collective), ViolationKind::deadlock, at(0, 0, 0, 0),
      "with 1 slot waits for message 1 of rank 1, lane 0; rank 1, lane 0, loop 0, step 0 waits for message 1 of "
      "rank 0, lane 0");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    std::swap(table.primitive(rank, 0, 0), table.primitive(rank, 0, 1));
  }
  CHECK(proof(table, collective) == "proven");
}

TEST_CASE("waits in a circle deadlock") {
  Chain chain = chain_broadcast();
  chain.table.primitive(1, 0, 0).wait = Wait{LaneId{1}, 1};
  check_found(defect(chain.table, chain.collective), ViolationKind::deadlock, at(1, 0, 0, 0),
              "waits until rank 1, lane 1 has ended 1 primitives");
}

TEST_CASE("a slot too few and a slot too many are found") {
  Ring ring = ring_all_reduce(5, 1);
  ring.table.slots = 1;
  check_found(defect(ring.table, ring.collective), ViolationKind::deadlock, at(0, 0, 0, 1),
              "with 1 slot waits for a slot to send message 2 to rank 1, lane 0; rank 1, lane 0, loop 0, step 1 waits");
  ring.table.slots = 3;
  CHECK(defect(ring.table, ring.collective).kind == ViolationKind::slots);
  ring.table.slots = 0;
  CHECK(defect(ring.table, ring.collective).kind == ViolationKind::slots);
}

TEST_CASE("waits for what does not exist are found") {
  Chain chain = chain_broadcast();
  chain.table.primitive(1, 1, 0).wait = Wait{LaneId{2}, 1};
  check_found(defect(chain.table, chain.collective), ViolationKind::wait, at(1, 1, 0, 0),
              "lane 2 of an agent that has 2");
  chain.table.primitive(1, 1, 0).wait = Wait{LaneId{0}, 2};
  check_found(defect(chain.table, chain.collective), ViolationKind::wait, at(1, 1, 0, 0), "2 primitives of lane 0");
}

TEST_CASE("a missing wait is a race, even where one order gives the right result") {
  Chain chain = chain_broadcast();
  chain.table.primitive(1, 1, 0).wait.reset();
  const Violation found = defect(chain.table, chain.collective);
  CHECK(found.kind == ViolationKind::race);
  CHECK(found.place.agent == AgentId{1});
  CHECK(found.text.find("output[0]") != std::string::npos);
}

TEST_CASE("two lanes that store one cell race") {
  Chain chain = chain_broadcast();
  chain.table.add(2, {copy(0, output(0), output(0))});
  CHECK(proof(chain.table, chain.collective) == "proven");
  chain.table.primitive(2, 1, 0) = copy(1, scratch(0), output(3));
  chain.table.memories[2].scratch = Elements{1};
  const Violation found = defect(chain.table, chain.collective);
  CHECK(found.kind == ViolationKind::race);
  CHECK(found.text.find("output[3]") != std::string::npos);
}

TEST_CASE("an order made by messages through another agent is no race, and without them it is one") {
  for (const bool ordered : {true, false}) {
    CAPTURE(ordered);
    Table table = empty(2, {}, Elements{4}, {});
    table.memories[0].input = Elements{4};
    Primitive stores = send(4, input(0));
    stores.store = output(0);
    Primitive reads = copy(4, output(0), scratch(0));
    reads.receives = ordered ? Ports{0, 1} : Ports{};
    table.memories[0].scratch = Elements{4};
    Primitive answers = receive(4, output(0));
    answers.sends = ordered ? Ports{0, 1} : Ports{};
    table.add(0, {stores});
    table.add(0, {reads});
    table.add(1, {answers});
    table.join(0, 0, 1, 0);
    table.join(1, 0, 0, 1);
    const Collective collective{CollectiveKind::broadcast, 2, Elements{4}, 0};
    const auto found = prove(table, collective);
    CHECK(found.has_value() != ordered);
    CHECK((ordered || found->kind == ViolationKind::race));
  }
}

TEST_CASE("an order made by a slot that becomes free holds with as many slots and no more") {
  Table table = empty(2, {}, Elements{2}, {});
  table.memories[0].input = Elements{2};
  table.memories[1].scratch = Elements{1};
  table.add(0, {copy(2, input(0), output(0))});
  Primitive go;
  go.sends = {0, 1};
  Primitive told;
  told.receives = {0, 1};
  // Lane 0 of rank 1 stores scratch[0] and then frees the slot; only after that can lane 1 send its second message,
  // after which it reads scratch[0].
  Primitive fill;
  fill.count = Elements{1};
  fill.operands[0] = scratch(0);
  fill.store = scratch(0);
  table.add(1, {fill, told, told});
  table.add(1, {go, go, copy(1, scratch(0), output(0))});
  table.join(1, 1, 1, 0);
  table.add(0, {send(2, input(0))});
  table.add(1, {receive(2, output(0))});
  table.join(0, 1, 1, 2);
  table.primitive(1, 1, 2).store.reset();
  const Collective collective{CollectiveKind::broadcast, 2, Elements{2}, 0};
  CHECK(proof(table, collective, {1, false}) == "proven");
  const Violation found = defect(table, collective, {2, false});
  CHECK(found.kind == ViolationKind::race);
  CHECK(found.place.agent == AgentId{1});
}

TEST_CASE("a loop that is not loop 0 moved by the shift is found, and the last loop is free") {
  for (const std::uint64_t loop : {0U, 1U, 2U}) {
    Ring ring = ring_all_reduce(3, 3);
    ring.table.separate_programs();
    std::swap(ring.table.primitive(1, 0, 5 * loop + 3).operands[0],
              ring.table.primitive(1, 0, 5 * loop + 4).operands[1]);
    ring.table.primitive(1, 0, 5 * loop + 3).operands[1] = input(0);
    const Violation found = defect(ring.table, ring.collective);
    CHECK(found.kind == (loop < 2 ? ViolationKind::loops : ViolationKind::result));
    if (loop < 2) { CHECK(found.place == at(1, 0, 1, 3)); }
  }
}

TEST_CASE("a wrong shift is found") {
  Ring ring = ring_all_reduce(3, 3);
  ring.table.shifts[1] += Elements{1};
  check_found(defect(ring.table, ring.collective), ViolationKind::loops, at(0, 0, 1, 2), "moved by the shift");
}

TEST_CASE("a wait moves with its loop by the steps of the lane that it names") {
  const auto make = [](std::uint64_t second, std::uint64_t last) {
    Ring ring = ring_all_reduce(2, 4);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::vector<std::uint64_t> ended{0, second, second + 3, last};
      for (std::uint64_t loop = 0; loop < 4; ++loop) {
        ring.table.primitive(rank, 0, 3 * loop).wait = Wait{LaneId{0}, ended[loop]};
      }
    }
    return ring;
  };
  CHECK(proof(make(2, 9).table, make(2, 9).collective) == "proven");
  check_found(defect(make(4, 9).table, make(4, 9).collective), ViolationKind::loops, at(0, 0, 1, 0), "3 more");
}

TEST_CASE("lanes of one program that differ are found, and addresses are no difference") {
  Ring ring = ring_all_reduce(3, 1);
  ring.table.primitive(2, 0, 4).finish = true;
  check_found(defect(ring.table, ring.collective), ViolationKind::program, at(2, 0, 0, 4),
              "differs in finish from rank 0, lane 0");
  Ring longer = ring_all_reduce(3, 1);
  longer.table.lane(1, 0).primitives.emplace_back();
  longer.table.lane(1, 0).shape.steps = 6;
  check_found(defect(longer.table, longer.collective), ViolationKind::program, {AgentId{1}, LaneId{0}, {}, {}},
              "differs in loops, steps");
}

TEST_CASE("counts within a program may differ unless the payload divides evenly") {
  Table table = empty(2, {}, {}, {});
  Collective collective{CollectiveKind::all_gather, 2, Elements{3}, 0};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::int64_t mine = 2 - rank;
    const std::int64_t theirs = 1 + rank;
    table.memories[rank] = {Elements{mine}, Elements{3}, {}, {}};
    Primitive first = send(mine, input(0));
    first.store = output(2 * rank);
    table.add(rank, {first, receive(theirs, output(2 - 2 * rank))}).shape.program = ProgramId{0};
  }
  table.join(0, 0, 1, 0);
  table.join(1, 0, 0, 0);
  CHECK(proof(table, collective) == "proven");
  check_found(defect(table, collective, {8, true}), ViolationKind::program, at(1, 0, 0, 0), "count");
}
