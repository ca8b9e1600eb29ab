#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "small_jobs.hpp"

using namespace athanor;

TEST_CASE("a gang begins in the session after the one that lets it in") {
  const JobList list = list_of({{0, 100, 8}});
  const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano");
  CHECK(run.outcomes[JobId{0}].started == wall_seconds(1));
}
