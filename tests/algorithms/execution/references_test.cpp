#include "algorithms/execution/references.hpp"

#include <doctest/doctest.h>

#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;
using Origin = References::Origin;

namespace {

References references_of(const Schedule& schedule, bool finishes = false, bool may_refer = true) {
  Wiring wiring;
  REQUIRE_FALSE(wire(schedule, wiring));
  return {schedule, wiring, finishes, may_refer};
}

/// Rank 0 stores and sends what `primitives` say, rank 1 receives all of it.
toys::Table sender(std::vector<Primitive> primitives) {
  toys::Table table = toys::empty(2, Elements{8}, Elements{8}, Elements{8});
  std::vector<Primitive> receives;
  for (const Primitive& primitive : primitives) {
    if (primitive.sends.count > 0) { receives.push_back(toys::receive(primitive.count.count(), toys::output(0))); }
  }
  table.add(0, std::move(primitives));
  table.add(1, std::move(receives));
  table.join(0, 0, 1, 0);
  return table;
}

Primitive stored_and_sent(std::int64_t count, Cells from, Cells into) {
  Primitive primitive = toys::send(count, from);
  primitive.store = into;
  return primitive;
}

}  // namespace

TEST_CASE("a ring copies only partial sums; in place also the inputs, which results overwrite") {
  toys::Table ring = toys::ring_all_reduce(3, 2).table;
  for (const bool in_place : {false, true}) {
    for (Memory& memory : ring.memories) { memory.in_place = in_place ? std::optional<std::int64_t>{0} : std::nullopt; }
    const References references = references_of(ring);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      for (const std::uint64_t loop : {0U, 5U}) {
        CHECK(references.origin(rank, loop) == (in_place ? Origin::copy : Origin::operand));
        CHECK(references.origin(rank, loop + 1) == Origin::copy);
        CHECK(references.origin(rank, loop + 2) == Origin::store);
        CHECK(references.origin(rank, loop + 3) == Origin::store);
      }
      CHECK(references.copied(rank) == Elements{2});
    }
  }
}

TEST_CASE("cells that are stored to again are copied, up to the last time") {
  const toys::Table table =
      sender({stored_and_sent(4, toys::input(0), toys::output(0)), stored_and_sent(4, toys::input(4), toys::output(3)),
              stored_and_sent(1, toys::input(0), toys::output(0))});
  const References references = references_of(table);
  CHECK(references.origin(0, 0) == Origin::operand);  // the input lasts, though its copy does not
  CHECK(references.origin(0, 1) == Origin::store);
  CHECK(references.origin(0, 2) == Origin::store);
}

TEST_CASE("cells that another lane stores to are copied, and those next to them are not") {
  toys::Table table = sender({toys::send(4, toys::scratch(0)), toys::send(4, toys::scratch(4))});
  table.add(0, {toys::copy(1, toys::input(0), toys::scratch(3))});
  const References references = references_of(table);
  CHECK(references.origin(0, 0) == Origin::copy);
  CHECK(references.origin(0, 1) == Origin::operand);
  CHECK(references.copied(0) == Elements{4});
}

TEST_CASE("a value that is reduced or averaged on its way is no operand") {
  Primitive averaged = toys::send(4, toys::input(0));
  averaged.finish = true;
  Primitive summed = toys::send(4, toys::input(0));
  summed.operands[1] = toys::input(4);
  const toys::Table table = sender({averaged, summed});
  CHECK(references_of(table, true).origin(0, 0) == Origin::copy);
  CHECK(references_of(table, false).origin(0, 0) == Origin::operand);
  CHECK(references_of(table, false).origin(0, 1) == Origin::copy);
}

TEST_CASE("cells with gaps are copied") {
  const toys::Table table = sender({toys::send(4, {Buffer::input, Elements{0}, Elements{2}, Elements{4}})});
  CHECK(references_of(table).origin(0, 0) == Origin::copy);
}

TEST_CASE("nothing refers where nothing may") {
  const toys::Table ring = toys::ring_all_reduce(3, 2).table;
  const References references = references_of(ring, false, false);
  for (std::uint64_t index = 0; index < 10; ++index) { CHECK(references.origin(1, index) == Origin::copy); }
}
