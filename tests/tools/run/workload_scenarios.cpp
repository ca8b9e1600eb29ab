#include "tests/tools/run/workload_scenarios.hpp"

#include <doctest/doctest.h>

namespace athanor {

std::string on_star(const std::string& workload, const std::string& more) {
  return R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             )" +
         more + R"("workload": )" + workload + "}";
}

std::string an_hour_and(const std::string& more) {
  return on_star(R"({"jobs": [{"gpus": 1, "duration": "1h"}], )" + more + "}");
}

bool says(const nlohmann::json& problem, const std::string& text) {
  return text_of(problem).find(text) != std::string::npos;
}

void check_refused(const Folder& folder, const std::vector<WrongWorkload>& wrong) {
  for (const WrongWorkload& each : wrong) {
    CAPTURE(each.scenario);
    const nlohmann::json problem = problem_of(folder, each.scenario);
    CAPTURE(problem);
    CHECK(problem["code"] == each.code);
    CHECK(says(problem, each.says));
  }
}

}  // namespace athanor
