#include <doctest/doctest.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Two jobs of four hosts one after the other, of which the second fails by itself once an hour or so.
std::string two_jobs() {
  return R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             "workload": {"jobs": [{"name": "a", "gpus": 4, "duration": "1h"},
                                   {"name": "b", "gpus": 2, "duration": "20h", "submitted": "10min"},
                                   {"name": "b", "gpus": 2, "duration": "1h", "after": ["a"]}],
                          "checkpoints": {"interval": "10min", "write": "10s"},
                          "failures": {"sources": [{"name": "software", "what": "job", "between": "1h"}]}}})";
}

Ran explained(const Folder& folder, const std::string& job) {
  return athanor_run({"explain", folder.write("s.json", two_jobs()), "--job", job, "--json"});
}

}  // namespace

TEST_CASE("explain of a job tells why it waited, where it ran and what it lost, in the order of time") {
  const Folder folder;
  const nlohmann::json job = explained(folder, "2").json();
  CHECK(job["name"] == "b");
  CHECK(job["state"] == "completed");
  const nlohmann::json& events = job["events"];
  CHECK(events[0]["what"] == "is submitted");
  CHECK(events[0]["time_s"] == 600);
  CHECK(events[1]["what"].get<std::string>().starts_with("is first and"));
  CHECK(text_of(events).find("begins on nodes (GPUs)") != std::string::npos);
  CHECK(text_of(events).find("fails (software), and loses") != std::string::npos);
  CHECK(events.back()["what"] == "is completed");
  CHECK(events.back()["time_s"] == job["ended_s"]);
  for (std::size_t i = 1; i < events.size(); ++i) { CHECK(events[i - 1]["time_s"] <= events[i]["time_s"]); }
  double sum = 0;
  for (const nlohmann::json& part : job["time_s"]) { sum += part.get<double>(); }
  CHECK(sum == doctest::Approx(job["ended_s"].get<double>() - 600 - job["wait_s"].get<double>()));
}

TEST_CASE("explain of a job that waits for another one says so, and names that are not there are refused") {
  const Folder folder;
  CHECK(text_of(explained(folder, "1").json()["events"]).find("waits for 'a', which is not completed") !=
        std::string::npos);
  CHECK(explained(folder, "c").err.find("there is no job 'c'") != std::string::npos);
  CHECK(explained(folder, "b").err.find("several jobs are called 'b'") != std::string::npos);
  const Ran none = athanor_run({"explain", folder.write("s.json", two_jobs())});
  CHECK(none.err.find("--job") != std::string::npos);
}
