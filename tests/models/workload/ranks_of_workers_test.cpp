#include "models/workload/ranks_of_workers.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/workload/small_workload.hpp"

using namespace athanor;
using namespace athanor::literals;
using athanor::testing::SmallWorkload;

namespace {

std::shared_ptr<const EndpointGroups> groups(EndpointGroups of) {
  return std::make_shared<const EndpointGroups>(std::move(of));
}

std::string fault(const Workload& workload) {
  try {
    ranks_of_workers(workload);
  } catch (const SimulationError& error) { return error.what(); }
  return "";
}

}  // namespace

TEST_CASE("workers stand for the ranks that their calls and messages name") {
  SmallWorkload small;
  small.worker();
  small.worker();
  Workload& workload = small.workload();
  workload.workers[0].ranks = workload.workers[1].ranks = 2;
  workload.communicators.push_back({"TP", Parallelism::tensor, {0}, groups({{2, 0}})});
  workload.calls.push_back({.communicator = 0, .size = 8_B});
  workload.channels.push_back({"activations", Parallelism::pipeline, 0, 1, groups({{0, 1}, {2, 3}})});
  CHECK(ranks_of_workers(workload) == std::vector<std::vector<std::uint32_t>>{{0, 2}, {1, 3}});
  // Of several callers each has its place of the groups.
  workload.channels.clear();
  workload.communicators.push_back({"ends", Parallelism::embedding, {0, 1}, groups({{0, 5}, {2, 4}})});
  workload.calls.push_back({.communicator = 1, .size = 8_B});
  CHECK(ranks_of_workers(workload) == std::vector<std::vector<std::uint32_t>>{{0, 2}, {4, 5}});
  // What nobody calls says nothing.
  workload.communicators.push_back({"experts", Parallelism::data, {0}, groups({{0, 4}})});
  CHECK(ranks_of_workers(workload) == std::vector<std::vector<std::uint32_t>>{{0, 2}, {4, 5}});
}

TEST_CASE("a worker alone without calls is rank 0, and who stands for whom has to be clear") {
  SmallWorkload small;
  small.worker();
  CHECK(ranks_of_workers(small.workload()) == std::vector<std::vector<std::uint32_t>>{{0}});
  small.workload().workers[0].ranks = 4;
  CHECK(fault(small.workload()).find("stands for 4 ranks, and its calls and messages name 1") != std::string::npos);
  small.workload().workers[0].ranks = 1;
  small.worker();
  small.workload().communicators.push_back({"a", Parallelism::data, {0}, groups({{0}})});
  small.workload().communicators.push_back({"b", Parallelism::data, {1}, groups({{0}})});
  for (const std::uint32_t each : {0U, 1U}) { small.workload().calls.push_back({.communicator = each, .size = 8_B}); }
  CHECK(fault(small.workload()).find("another worker both stand for rank 0") != std::string::npos);
}
