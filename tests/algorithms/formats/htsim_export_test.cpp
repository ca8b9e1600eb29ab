#include "algorithms/formats/htsim_export.hpp"

#include <map>
#include <optional>
#include <sstream>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/algorithms/formats/catalog_sweep.hpp"
#include "tests/algorithms/toy_schedules.hpp"

using namespace athanor;

namespace {

struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t size = 0;
  std::optional<std::uint32_t> trigger;
  std::vector<std::uint32_t> fires;
};

struct Matrix {
  std::uint32_t nodes = 0;
  std::vector<Flow> flows;
  std::map<std::uint32_t, std::uint32_t> awaited;  ///< of each trigger
};

/// Reads strictly what htsim's connection_matrix.cpp reads. Throws std::logic_error.
Matrix read_matrix(const std::string& text) {
  Matrix matrix;
  std::istringstream lines(text);
  std::uint32_t flows = 0;
  std::uint32_t triggers = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "Nodes") {
      words >> matrix.nodes;
    } else if (word == "Connections") {
      words >> flows;
    } else if (word == "Triggers") {
      words >> triggers;
    } else if (word == "trigger") {
      std::string key, kind;
      std::uint32_t id = 0;
      std::uint32_t count = 1;
      words >> key >> id >> kind;
      if (kind == "barrier") { words >> key >> count; }
      if (!matrix.awaited.emplace(id, count).second) { throw std::logic_error("a trigger twice: " + line); }
    } else {
      Flow flow;
      flow.from = static_cast<std::uint32_t>(std::stoul(word));
      flow.to = static_cast<std::uint32_t>(std::stoul(word.substr(word.find("->") + 2)));
      for (std::string key; words >> key;) {
        std::int64_t value = 0;
        if (!(words >> value)) { throw std::logic_error("no value: " + line); }
        const auto id = static_cast<std::uint32_t>(value);
        if (key == "size") { flow.size = value; }
        if (key == "trigger") { flow.trigger = id; }
        if (key == "send_done_trigger" || key == "recv_done_trigger") { flow.fires.push_back(id); }
      }
      matrix.flows.push_back(flow);
    }
  }
  if (matrix.flows.size() != flows || matrix.awaited.size() != triggers) { throw std::logic_error("wrong counts"); }
  return matrix;
}

struct Run {
  std::size_t flows = 0;   ///< that have been carried out
  std::size_t rounds = 0;  ///< where a flow takes one
};

/// Carries flows out as their triggers fire, all that are ready in one round.
Run carried_out(const Matrix& matrix) {
  std::map<std::uint32_t, std::vector<std::size_t>> started_by;
  std::vector<std::size_t> ready;
  for (std::size_t f = 0; f < matrix.flows.size(); ++f) {
    if (matrix.flows[f].trigger) {
      started_by[*matrix.flows[f].trigger].push_back(f);
    } else {
      ready.push_back(f);
    }
  }
  Run run;
  std::map<std::uint32_t, std::uint32_t> left = matrix.awaited;
  while (!ready.empty()) {
    ++run.rounds;
    run.flows += ready.size();
    std::vector<std::size_t> next;
    for (const std::size_t f : ready) {
      for (const std::uint32_t trigger : matrix.flows[f].fires) {
        if (--left.at(trigger) > 0) { continue; }
        next.insert(next.end(), started_by[trigger].begin(), started_by[trigger].end());
      }
    }
    ready = std::move(next);
  }
  return run;
}

struct Exported {
  HtsimSummary summary;
  std::string text;
};

Exported exported(const Schedule& schedule) {
  Exported result;
  result.summary = export_htsim(schedule, 4, [&](std::string_view part) { result.text += part; });
  return result;
}

}  // namespace

TEST_CASE("as flows of htsim all messages of the catalog are carried out, each once, with their bytes") {
  const auto uneven = [](Elements granule) { return granule * 2 + Elements{1}; };
  std::size_t refused = 0;
  sweep_catalog(uneven, [&](const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
    if (algorithm.engine != Engine::none) { return; }
    CAPTURE(text(algorithm, collective, layout));
    const auto schedule = algorithm.make(collective, layout);
    std::uint64_t messages = 0;
    std::int64_t bytes = 0;
    bool waits = false;
    toys::tabulate(*schedule).each_primitive([&](auto, std::uint32_t lane, auto, const Primitive& primitive) {
      messages += primitive.sends.count;
      bytes += primitive.count.count() * 4 * primitive.sends.count;
      waits = waits || (primitive.wait && primitive.wait->ended > 0 && primitive.wait->lane.value != lane);
    });
    if (waits) {
      ++refused;
      CHECK_THROWS_AS(exported(*schedule), ScenarioError);
      return;
    }
    const Exported htsim = exported(*schedule);
    const Matrix matrix = read_matrix(htsim.text);
    CHECK(matrix.nodes == collective.ranks);
    CHECK(matrix.flows.size() == messages);
    CHECK(htsim.summary.bytes == static_cast<std::uint64_t>(bytes));
    CHECK(carried_out(matrix).flows == messages);
    for (const Flow& flow : matrix.flows) {
      CHECK(flow.from != flow.to);
      CHECK(flow.size > 0);
    }
  });
  CHECK(refused > 0);
}

TEST_CASE("a ring is as many rounds of flows as it has steps") {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 17U}) {
    CAPTURE(ranks);
    const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
    const auto schedule = ring.make({CollectiveKind::all_reduce, ranks, Elements{ranks * 4}}, {});
    const Matrix matrix = read_matrix(exported(*schedule).text);
    CHECK(carried_out(matrix).rounds == 2 * (ranks - 1));
    CHECK(matrix.flows.size() == std::size_t{2} * (ranks - 1) * ranks);
  }
}

TEST_CASE("what htsim cannot say is refused: engines, and messages of 2 GiB") {
  const Algorithm& nvls = find(CollectiveKind::all_reduce, "nvls");
  const auto engine = nvls.make({CollectiveKind::all_reduce, 4, Elements{64}}, {});
  CHECK_THROWS_AS(exported(*engine), ScenarioError);
  const Algorithm& ring = find(CollectiveKind::all_reduce, "ring");
  const auto large = ring.make({CollectiveKind::all_reduce, 2, Elements{std::int64_t{1} << 30}}, {});
  CHECK_THROWS_AS(exported(*large), ScenarioError);
}
