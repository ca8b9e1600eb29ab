#include "models/experiments/run.hpp"

#include <stop_token>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/library/library.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Several cases of one, of several sizes or seeds where the kind has them.
std::vector<std::string> one_of_each_kind() {
  const std::string files = ATHANOR_TEST_SCENARIOS;
  const std::string network = R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s",
    "latency": "500ns"}}}, )";
  const std::string dgx = R"({"cluster": {"node": "DGX-H100"}, )";
  return {kSmall,
          network + R"("network": {"level": "packet"}, "collective": {"kind": "all_reduce", "sizes": "1KiB..4KiB"}})",
          R"({"cluster": {"shared_memory": {"ranks": 2, "processors": 2}}, "profile": "xeon-2-processors-threads",
              "collective": {"kind": "all_reduce", "sizes": "1KiB..4KiB"}})",
          network + R"("collective": {"kind": "all_reduce", "sizes": "1KiB..4KiB", "jobs": 2}})",
          network + R"("seeds": 3, "traffic": {"pattern": "permutation", "sizes": "1KiB..4KiB"}})",
          network + R"("parameter_server": {"parameters": "1MB", "steps": 2, "servers": 1, "compute": "5ms"}})",
          dgx + R"("training": {"model": "GPT-3-175B", "micro_batch": 1, "global_batch": 8, "sequence": 2048,
                   "parallel": {"tensor": 8}}})",
          dgx + R"("trace": {"files": ")" + files + R"(/traces/ring.goal"}})"};
}

struct Ended {
  bool whole = false;
  std::size_t begun = 0;
  std::size_t rows = 0;
};

/// A stop is asked for while the simulation of this number is under way.
Ended stopped_in(std::size_t number, const Scenario& scenario) {
  std::stop_source source;
  Ended ended;
  const RunObserver observer{.begins =
                                 [&](const std::string&) {
                                   if (ended.begun++ == number) { source.request_stop(); }
                                 },
                             .ends = [&](const Record&) { ++ended.rows; },
                             .interrupted = {}};
  ended.whole = run(scenario, scenario.cases.front(), {.stop = source.get_token()}, observer);
  return ended;
}

}  // namespace

TEST_CASE("a stop ends every kind of experiment within the simulation under way, and rows before it are whole") {
  const Folder folder;
  const Library library(ATHANOR_TEST_SCENARIOS);
  for (const std::string& text : one_of_each_kind()) {
    CAPTURE(text);
    const Scenario scenario = read_scenario(folder.write("s.json", text), library);
    const Ended all = stopped_in(SIZE_MAX, scenario);
    CHECK(all.whole);
    for (std::size_t number = 0; number < all.begun; ++number) {
      const Ended ended = stopped_in(number, scenario);
      CHECK_FALSE(ended.whole);
      CHECK(ended.begun == number + 1);
      CHECK(ended.rows == number * all.rows / all.begun);
    }
  }
}

TEST_CASE("of a run without an observer a stop leaves the records before it, and of a single experiment nothing") {
  const Folder folder;
  const Scenario scenario = read_scenario(folder.write("s.json", kSmall), Library(ATHANOR_TEST_SCENARIOS));
  const Case& only = scenario.cases.front();
  std::stop_source source;
  const RunOptions options{.stop = source.get_token()};
  CHECK(run(scenario, only, options).size() == only.experiment->sizes().size());
  source.request_stop();
  CHECK(run(scenario, only, options).empty());
  CHECK_THROWS_AS(only.experiment->run({only.platform, only.experiment->sizes().front(), options, {}}), Interrupted);
}
