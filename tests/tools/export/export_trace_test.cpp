#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::test;

TEST_CASE("export writes any trace as our own JSON, says what was dropped, and takes the keys of a scenario's trace") {
  const Folder folder;
  const std::string file = folder.path("trace.json");
  const Ran ran = athanor_run({"export", "trace", example("fsdp.json.gz"), "-o", file});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("kineto of 8 ranks: 1 workers, 1 communicators, 0 channels"));
  CHECK(ran.says("note: one of 8 ranks was recorded (rank 0)"));
  CHECK(read({file}).problems.empty());
  const Ran astra = athanor_run({"export", "trace", example("layers.astra.txt"), "--set", "/unit=1us", "--set",
                                 "/ranks=8", "--set", "/model_ranks=4", "--quiet"});
  CHECK(astra.code == 0);
  CHECK(astra.err.empty());
  CHECK(astra.json()["workers"][0]["ranks"] == 8);
}

TEST_CASE("what is wrong with an export of a trace ends as other mistakes do") {
  CHECK(athanor_run({"export", "trace", "nothing.json"}).code == 3);
  CHECK(athanor_run({"export", "trace", "nothing.json"}).says("cannot read nothing.json"));
  CHECK(athanor_run({"export", "trace", example("layers.astra.txt")}).says("neither the unit of its times"));
  CHECK(athanor_run({"export", "trace", example("ring.goal"), "--set", "/eagr=1B"}).says("did you mean 'eager'?"));
  CHECK(athanor_run({"export", "trace", example("ring.goal"), "--ranks", "4"}).code == 2);
  CHECK(athanor_run({"export", "trace", example("ring.goal"), example("ring.bin")}).code == 2);
}
