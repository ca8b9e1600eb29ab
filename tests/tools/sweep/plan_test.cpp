#include "models/experiments/scenario/sweep/plan.hpp"

#include <set>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tools/sweep/plan_json.hpp"

namespace athanor {

namespace {

SweepPlan three_by_two_by_two() {
  SweepPlan plan;
  plan.cases = {"a", "b"};
  plan.axes.push_back(parse_axis("/collective/ranks=2,3,4"));
  plan.axes.push_back(parse_axis("/seed=7,8"));
  return plan;
}

TEST_CASE("points are all combinations, each once; the last axis varies fastest, cases slowest") {
  const SweepPlan plan = three_by_two_by_two();
  REQUIRE(plan.points() == 12);
  std::set<std::vector<std::size_t>> seen;
  for (std::uint64_t i = 0; i < plan.points(); ++i) {
    const SweepPlan::Point point = plan.point(i);
    seen.insert({point.scenario_case, point.steps[0], point.steps[1]});
  }
  CHECK(seen.size() == 12);
  CHECK(plan.point(1).steps == std::vector<std::size_t>{0, 1});
  CHECK(plan.point(6).scenario_case == 1);
  CHECK(plan.settings(plan.point(3)) == std::vector<std::string>{"/collective/ranks=3", "/seed=8"});
}

TEST_CASE("linked parameters change together") {
  const SweepAxis axis = parse_axis("/cluster/nodes=1,2;/collective/ranks=8,16");
  CHECK(axis.size() == 2);
  CHECK(axis.title() == "nodes, ranks");
  CHECK(axis.label(1) == "2, 16");
  CHECK_THROWS_AS(parse_axis("/a=1,2;/b=1,2,3"), UsageError);
  CHECK_THROWS_AS(parse_axis("a=1"), UsageError);
  CHECK_THROWS_AS(parse_axis("/a"), UsageError);
}

TEST_CASE("what the command line varies takes the place of the scenario's, and nothing is set twice") {
  const std::vector<SweepAxis> both = joined({parse_axis("/a=1,2"), parse_axis("/b=1")}, {parse_axis("/a=5")});
  REQUIRE(both.size() == 2);
  CHECK(both[0].label(0) == "5");
  CHECK_THROWS_AS(joined({parse_axis("/a=1,2")}, {parse_axis("/a=1;/b=2")}), UsageError);
}

TEST_CASE("parameters whose pointers end alike are called by more of them, and no two steps or names are the same") {
  const std::vector<SweepAxis> axes =
      joined({parse_axis("/link/rate=1,2"), parse_axis("/up/link/rate=1,2"), parse_axis("/other/rate=1")},
             {parse_axis("/seed=1")});
  CHECK(titled_twice(axes).empty());
  CHECK(axes[0].title() == "link/rate");
  CHECK(axes[1].title() == "up/link/rate");
  CHECK(axes[2].title() == "other/rate");
  CHECK(axes[3].title() == "seed");
  CHECK_THROWS_AS(joined({parse_axis("/seed=1,1")}, {}), UsageError);
  SweepAxis named = parse_axis("/a=1,2");
  named.name = "same";
  SweepAxis other = parse_axis("/b=1,2");
  other.name = "same";
  CHECK_THROWS_AS(joined({named, other}, {}), UsageError);
}

TEST_CASE("a plan that no sweep writes is refused by place") {
  const auto refused = [](const std::string& axes, const std::string& pointer) {
    try {
      plan_from_json(R"({"cases": ["a"], "axes": )" + axes + "}", "a sweep");
    } catch (const FileError& error) { return std::string(error.what()).find(pointer) != std::string::npos; }
    return false;
  };
  CHECK(refused("5", "(at /axes)"));
  CHECK(refused(R"([{"name": "", "pointers": [], "values": [["1"]], "labels": []}])", "(at /axes/0/pointers)"));
  CHECK(refused(R"([{"name": "", "pointers": ["/a"], "values": [], "labels": []}])", "(at /axes/0/values)"));
  CHECK(refused(R"([{"name": "", "pointers": ["/a"], "values": [["1", "2"]], "labels": []}])", "(at /axes/0/values)"));
  CHECK(refused(R"([{"name": "", "pointers": ["/a"], "values": [["{"]], "labels": []}])", "(at /axes/0/values)"));
  CHECK(
      refused(R"([{"name": "", "pointers": ["/a"], "values": [["1"]], "labels": ["x", "y"]}])", "(at /axes/0/labels)"));
  CHECK(refused(R"([{"name": 5, "pointers": ["/a"], "values": [["1"]], "labels": []}])", "(at /axes/0/name)"));
}

TEST_CASE("a plan of more points than can be counted says so and does not overflow") {
  SweepPlan plan{{"only"}, {}};
  for (int i = 0; i < 8; ++i) { plan.axes.push_back(parse_axis("/a" + std::to_string(i) + "=1..1000+1")); }
  CHECK(plan.points() == kMostPoints);
}

TEST_CASE("a plan comes back from a file as it was") {
  SweepPlan plan = three_by_two_by_two();
  plan.axes[0].labels = {"two", "three", "four"};
  CHECK(to_json_text(plan_from_json(to_json_text(plan), "a sweep")) == to_json_text(plan));
}

}  // namespace

}  // namespace athanor
