#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Six hosts on one switch, 10 GB/s and 1 us from host to host, and what is said of 20 MB of parameters (2 ms over a
/// NIC) and 5 ms of computing.
std::string training(const std::string& keys, const std::string& more = "") {
  return R"({"cluster": {"nodes": 6, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             )" +
         more + R"("parameter_server": {"parameters": "20MB", "steps": 5, "warm_up": 2, )" + keys + "}}";
}

const std::string kPlain = R"("servers": 2, "compute": "5ms")";

double step_us(const Folder& folder, const std::string& keys) {
  return result_of(folder, training(keys))["iteration_us_mean"];
}

}  // namespace

TEST_CASE("training with parameter servers runs at every level, and its steps are those of the closed form") {
  const Folder folder;
  for (const char* level : {"ideal", "flow", "packet"}) {
    const nlohmann::json row = result_of(folder, training(kPlain), {"--set", "/network=" + network_at(level)});
    const double workers = std::string(level) == "ideal" ? 1 : 4;  // whose messages share a server's NIC
    const double step = 5'000 + 2 * (workers * 1'000 + 1);
    CHECK(row["update"] == "synchronous");
    CHECK(row["workers"] == 4);
    CHECK(row["servers"] == 2);
    CHECK(row["bytes"] == 20'000'000);
    CHECK(row["network"] == level);
    CHECK(row["iteration_us_mean"].get<double>() == doctest::Approx(step).epsilon(0.01));
    CHECK(row["updates_per_s"].get<double>() == doctest::Approx(1e6 / step).epsilon(0.01));
    CHECK(row["gradients"] == 20);
    CHECK(row["staleness"] == nlohmann::json::array({40}));  // of two parts each
    CHECK(row.contains("packets") == (std::string(level) == "packet"));
  }
}

TEST_CASE("servers are the first endpoints, or a list, or beside workers") {
  const Folder folder;
  const double apart = 5'000 + 2 * (4 * 1'000 + 1);
  CHECK(step_us(folder, kPlain) == doctest::Approx(apart));
  CHECK(step_us(folder, R"("servers": [5, 2], "compute": "5ms")") == doctest::Approx(apart));
  CHECK(step_us(folder, R"("servers": [5, 2, 1, 0], "copies": 2, "workers": 1, "compute": "5ms")") ==
        doctest::Approx(5'000 + 2 * (2'000 + 1) + (1'000 + 1) + 1));
  const double beside = 5'000 + 2 * (2'000.0 * 5 / 6 + 1);
  CHECK(step_us(folder, R"("servers": 6, "placement": "with_workers", "compute": "5ms")") == doctest::Approx(beside));
}

TEST_CASE("what a scenario says of updates, copies, stragglers, gradients and servers' rate decides a step") {
  const Folder folder;
  CHECK(step_us(folder, kPlain + R"(, "gradient": 0.5)") == doctest::Approx(5'000 + 2'001 + 4'001));
  CHECK(step_us(folder, kPlain + R"(, "apply_rate": "5GB/s")") == doctest::Approx(5'000 + 2 * 4'001 + 4 * 2'000));
  CHECK(step_us(folder, kPlain + R"(, "stragglers": [{"worker": 1, "factor": 3}])") > 15'000 + 2 * 1'001);
  const std::string copies = R"("servers": 1, "copies": 3, "workers": 1, "compute": "5ms")";
  CHECK(step_us(folder, copies) == doctest::Approx(5'000 + 2 * 2'001 + 2 * 2'001 + 1));
  CHECK(step_us(folder, copies + R"(, "replication": "all_to_all")") == doctest::Approx(5'000 + 2 * 2'001 + 4'001 + 1));
  const nlohmann::json late =
      result_of(folder, training(kPlain + R"(, "backup_workers": 1, "stragglers": [{"worker": 0, "factor": 5}])"));
  CHECK(late["gradients"] == 15);
  CHECK(result_of(folder, training(kPlain + R"(, "update": "stale", "bound": 1)"))["update"] == "stale");
  const nlohmann::json alone = result_of(folder, training(kPlain + R"(, "update": "asynchronous")"));
  CHECK(alone["gradients"] == 20);
}

TEST_CASE("distributions of computing time are read, and seeds repeat the draws") {
  const Folder folder;
  for (const char* distribution :
       {R"("distribution": "normal", "deviation": "1ms")", R"("distribution": "exponential", "least": "2ms")",
        R"("distribution": "pareto", "shape": 2.5)", R"("distribution": "constant")"}) {
    const std::string keys = fmt::format(R"("servers": 1, "compute": {{"mean": "5ms", {}}})", distribution);
    const nlohmann::json row = result_of(folder, training(keys, R"("seeds": 5, )"));
    CHECK(row["seeds"] == 5);
    const bool drawn = std::string(distribution).find("constant") == std::string::npos;
    CHECK((row["updates_per_s_p5"] < row["updates_per_s_p95"]) == drawn);
    CHECK(row["updates_per_s"] >= row["updates_per_s_p5"]);
    CHECK(row["updates_per_s"] <= row["updates_per_s_p95"]);
  }
}

TEST_CASE("a table says who trains, and names what limits") {
  const Folder folder;
  const std::string path = folder.write("s.json", training(kPlain + R"(, "update": "stale", "bound": 3)"));
  const Ran ran = athanor_run({"run", path, "--sizes", "10MB,20MB"});
  CAPTURE(ran.out);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("# training     4 workers, 2 servers, stale with bound 3") != std::string::npos);
  const std::string backed = folder.write("backed.json", training(kPlain + R"(, "backup_workers": 1)"));
  CHECK(athanor_run({"run", backed}).out.find("2 servers, synchronous with 1 backup worker\n") != std::string::npos);
  CHECK(ran.out.find("staleness") != std::string::npos);
  CHECK(ran.out.find("busiest link ") != std::string::npos);
  CHECK(ran.out.find("\n    10000000 ") != std::string::npos);
  CHECK(athanor_run({"run", path, "--csv"}).out.find("updates_per_s") != std::string::npos);
  CHECK(athanor_run({"validate", path, "--json"}).json()["results"][0]["cases"][0]["parameter_server"] == "stale");
  CHECK(athanor_run({"explain", path}).err.find("use athanor run") != std::string::npos);
  CHECK(athanor_run({"run", path, "--trace", folder.path("t.json")}).err.find("parameter servers have none") !=
        std::string::npos);
  CHECK(athanor_run({"run", path, "--sizes", "0B"}).code == 2);
}

TEST_CASE("what does not fit is refused where it stands") {
  const Folder folder;
  const auto refused = [&](const std::string& keys, const std::string& code, const std::string& pointer) {
    const nlohmann::json problem = problem_of(folder, training(keys));
    CHECK(problem["code"] == code);
    CHECK(problem["pointer"] == "/parameter_server" + pointer);
  };
  refused(R"("servers": 6, "compute": "5ms")", "too-few-endpoints", "/servers");
  refused(R"("servers": 7, "placement": "with_workers", "compute": "5ms")", "too-few-endpoints", "/servers");
  refused(R"("servers": [6], "compute": "5ms")", "unknown-endpoint", "/servers");
  refused(R"("servers": [1, 2, 3], "copies": 2, "compute": "5ms")", "wrong-endpoints", "/servers");
  refused(R"("servers": 2, "workers": 5, "compute": "5ms")", "too-few-endpoints", "/workers");
  refused(kPlain + R"(, "backup_workers": 4)", "out-of-range", "/backup_workers");
  refused(kPlain + R"(, "stragglers": [{"worker": 4, "factor": 2}])", "out-of-range", "/stragglers");
  refused(kPlain + R"(, "stragglers": [{"worker": 1, "factor": 2}, {"worker": 1, "factor": 3}])", "duplicate",
          "/stragglers");
  refused(R"("servers": 2, "compute": {"mean": "1ms", "distribution": "exponential", "least": "2ms"})", "out-of-range",
          "/compute/least");
  refused(R"("servers": 2, "compute": {"mean": "1ms", "distribution": "pareto", "shape": 1})", "out-of-range",
          "/compute/shape");
  refused(R"("servers": 2)", "missing-key", "");
  refused(kPlain + R"(, "copies": 0)", "out-of-range", "/copies");
  CHECK(problem_of(folder, training(kPlain, R"("collective": {"kind": "all_reduce", "sizes": "1MiB"}, )"))["code"] ==
        "conflict");
  CHECK(problem_of(folder, training(kPlain, R"("traffic": {"pattern": "permutation", "sizes": "1MiB"}, )"))["code"] ==
        "conflict");
}
