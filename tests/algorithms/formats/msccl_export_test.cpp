#include "algorithms/formats/msccl_export.hpp"

#include <doctest/doctest.h>

#include "algorithms/formats/msccl_import.hpp"
#include "algorithms/proof/prove.hpp"
#include "sim/error.hpp"
#include "tests/algorithms/formats/catalog_sweep.hpp"
#include "tests/algorithms/rounds.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

std::string exported(const Schedule& schedule, const Collective& collective) {
  std::string text;
  export_msccl(schedule, collective, "test <&\">", [&](std::string_view part) { text += part; });
  return text;
}

std::string refusal(const Schedule& schedule, const Collective& collective) {
  try {
    exported(schedule, collective);
  } catch (const ScenarioError& error) {
    CHECK(error.problems()[0].code == "no-msccl-form");
    return error.problems()[0].message;
  }
  return "";
}

bool fits(const Algorithm& algorithm, const Collective& collective) {
  return algorithm.engine == Engine::none && msccl_name(collective.kind).has_value();
}

}  // namespace

TEST_CASE("what is exported of the catalog is imported, proven and sends as much") {
  std::uint32_t round_trips = 0;
  sweep_catalog([](Elements granule) { return granule * 2; },
                [&](const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
                  CAPTURE(text(algorithm, collective, layout));
                  const auto schedule = algorithm.make(collective, layout);
                  if (!fits(algorithm, collective)) { return; }
                  ImportedAlgorithm imported = import_msccl(exported(*schedule, collective), "test.xml");
                  CHECK_FALSE(imported.refuses(collective));
                  const auto again = imported.make(collective, Elements::max());
                  CHECK_FALSE(prove(*again, collective, {.equal_counts = true}));
                  CHECK(counted(*again).sent == counted(*schedule).sent);
                  ++round_trips;
                });
  CHECK(round_trips > 300);
}

TEST_CASE("a fused ring stays one thread block per channel, whose steps are the schedule's") {
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    for (const std::uint32_t channels : {1U, 4U}) {
      Collective collective{CollectiveKind::all_reduce, ranks, Elements{1}, 0, true};
      const Layout layout{.channels = channels};
      collective.count = ring.granule(collective, layout);
      const auto schedule = ring.make(collective, layout);
      const MscclSummary summary = export_msccl(*schedule, collective, "ring", [](std::string_view) {});
      CHECK(summary.channels == channels);
      CHECK(summary.most_blocks == channels);
      CHECK(summary.chunks == channels * ranks);
      CHECK(summary.most_steps == schedule->lane(AgentId{0}, LaneId{0}).steps);
      CHECK(summary.most_scratch == 0);
    }
  }
}

TEST_CASE("strided cells are sent chunk by chunk") {
  Collective collective{CollectiveKind::broadcast, 2, Elements{6}, 0, false};
  toys::Table table = toys::empty(2, {}, Elements{6}, {});
  table.memories[0].input = Elements{6};
  for (const std::int64_t first : {0, 1}) {
    const auto every_second = [&](Buffer buffer) { return Cells{buffer, Elements{first}, Elements{1}, Elements{2}}; };
    if (first == 0) {
      table.add(0, {});
      table.add(1, {});
      table.join(0, 0, 1, 0);
    }
    Primitive send = toys::send(3, every_second(Buffer::input));
    send.store = every_second(Buffer::output);
    table.lane(0, 0).primitives.push_back(send);
    table.lane(1, 0).primitives.push_back(toys::receive(3, every_second(Buffer::output)));
  }
  table.lane(0, 0).shape.steps = table.lane(1, 0).shape.steps = 2;
  REQUIRE_FALSE(prove(table, collective));
  const ImportedAlgorithm imported = import_msccl(exported(table, collective), "test.xml");
  CHECK(imported.document().chunks == 6);
  CHECK(imported.steps() == 6);
}

TEST_CASE("an export says why a schedule has no MSCCL form") {
  const Layout layout;
  Collective collective{CollectiveKind::all_reduce, 4, Elements{8}, 0, false};
  const auto made = [&](std::string_view name) { return find(collective.kind, name).make(collective, layout); };
  CHECK(refusal(*made("nvls"), collective).find("1 engines take part") != std::string::npos);
  CHECK(refusal(*made("ring"), collective).empty());
  collective.count = Elements::zero();
  CHECK(refusal(*made("ring"), collective).find("payload of 0") != std::string::npos);
  collective = {CollectiveKind::all_reduce, 1, Elements{8}, 0, false};
  CHECK(refusal(*made("ring"), collective).find("two gpus or more") != std::string::npos);
  collective = {CollectiveKind::all_gather, 4, Elements{7}, 0, false};
  CHECK(refusal(*made("ring"), collective).find("4 ranks do not divide 7 elements") != std::string::npos);
  collective = {CollectiveKind::send_receive, 2, Elements{7}, 0, false};
  CHECK(refusal(*made("direct"), collective).find("no name for send_receive") != std::string::npos);
  collective = {CollectiveKind::all_reduce, 2, Elements{1} * (1 << 22), 0, false};
  const auto long_ring = find(collective.kind, "ring").make(collective, Layout{.chunk = Elements{1}});
  CHECK(refusal(*long_ring, collective).find("primitives") != std::string::npos);
}
