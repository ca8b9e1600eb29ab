#include "tools/plot/workload_picture.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "models/experiments/scenario/scenario.hpp"
#include "models/library/library.hpp"
#include "sim/config/json_value.hpp"
#include "tests/test_files.hpp"

using namespace athanor;

namespace {

JsonValue picture_of(const std::string& path, const std::string& name) {
  const Scenario scenario = read_scenario(path, Library(ATHANOR_TEST_SCENARIOS), {});
  for (const Case& each : scenario.cases) {
    if (each.name == name) { return workload_picture(each, {}); }
  }
  throw std::out_of_range(name);
}

double number(const JsonValue& list, std::size_t place) { return list.elements().at(place).number(); }

const JsonValue& switch_called(const JsonValue& picture, const std::string& name) {
  for (const JsonValue& each : picture["links"]["switches"].elements()) {
    if (each.string_at("name") == name) { return each; }
  }
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("links above a leaf are used by the trainings that cross it, for as long as these run") {
  const JsonValue picture = picture_of(ATHANOR_TEST_SCENARIOS "/jobs/trainings_share_uplinks.json", "first fit");
  const double end = picture.number_at("ended");
  const JsonValue& jobs = picture["jobs"];
  for (const JsonValue& each : picture["links"]["switches"].elements()) {
    double sum = 0;
    for (const JsonValue& share : each["shared"].elements()) { sum += share.number(); }
    CHECK(sum == doctest::Approx(1));
    for (const JsonValue& busy : each["busy"].elements()) { CHECK((busy.number() >= 0 && busy.number() <= 1 + 1e-9)); }
    CHECK(each.number_at("busiest") <= 1);
  }
  // The large training lies on nodes 1 and 2, the small one on 3 and 4; a leaf has two nodes.
  const auto ran = [&](std::size_t job) { return number(jobs["ended"], job) - number(jobs["started"], job); };
  REQUIRE(jobs["name"].elements().at(1).string() == "large");
  CHECK(number(switch_called(picture, "leaf0")["shared"], 1) == doctest::Approx(ran(1) / end));
  CHECK(number(switch_called(picture, "leaf1")["shared"], 2) == doctest::Approx(ran(2) / end));
  CHECK(number(switch_called(picture, "leaf2")["shared"], 2) == 0);
  for (const JsonValue& training : picture["trainings"].elements()) {
    CHECK(training.number_at("placement") > 1);
    CHECK(training.number_at("others") > 1);
  }
}

TEST_CASE("trainings below one leaf use no links above it, and are slowed down by nothing") {
  const JsonValue picture = picture_of(ATHANOR_TEST_SCENARIOS "/jobs/trainings_share_uplinks.json", "below one leaf");
  for (const JsonValue& each : picture["links"]["switches"].elements()) {
    CHECK(number(each["shared"], 0) == doctest::Approx(1));
    CHECK(each.number_at("busiest") == 0);
  }
  for (const JsonValue& training : picture["trainings"].elements()) {
    CHECK(training.number_at("placement") == doctest::Approx(1));
    CHECK(training.number_at("others") == doctest::Approx(1));
  }
}

TEST_CASE("pictures are drawn from nodes in runs, jobs in columns, and hours that are those of all GPUs") {
  const JsonValue picture = picture_of(ATHANOR_TEST_SCENARIOS "/jobs/my_week.json", "My cluster's week");
  CHECK(picture["nodes"]["gpus"].size() == 16);
  CHECK(picture["jobs"]["name"].size() == 9);
  CHECK(picture["stints"].size() == 9);
  CHECK(picture["stints"].elements().front().elements().at(3).elements().size() == 1);  // on nodes beside each other
  double hours = 0;
  for (const auto& [part, value] : picture["gpu_hours"].members()) { hours += value.number(); }
  CHECK(hours == doctest::Approx(128 * picture.number_at("ended") / 3600));
  CHECK_FALSE(picture.contains("trainings"));
  CHECK_FALSE(picture.contains("data"));
}

TEST_CASE("pictures of jobs that read data have what each waited for") {
  const JsonValue picture = picture_of(ATHANOR_TEST_SCENARIOS "/jobs/coordl_caches.json", "8 jobs, page cache");
  CHECK(picture["data"].size() == 8);
  for (const JsonValue& job : picture["data"].elements()) {
    CHECK(job.number_at("fetching") + job.number_at("preparing") < 1);
    CHECK(job.number_at("hits") > 0);
  }
}

TEST_CASE("what is no workload has no such picture") {
  const Scenario scenario =
      read_scenario(ATHANOR_TEST_SCENARIOS "/quickstart.json", Library(ATHANOR_TEST_SCENARIOS), {});
  CHECK(workload_picture(scenario.cases.front(), {}).is_null());
}
