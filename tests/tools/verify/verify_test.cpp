#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// kSmall at 1 KiB takes 6 x (1 us + 25.6 ns) = 6.1536 us.
constexpr double kExact = 6.1536;

std::string verified(const Folder& folder, double measured, const std::string& verify) {
  folder.write("m.json", measurement("all_reduce", 4, {{1024, measured}, {2048, 6.3}}));
  return folder.write("s.json",
                      small_with("\"name\"", R"("verify": {"measurement": "m.json")" + verify + R"(}, "name")"));
}

}  // namespace

TEST_CASE("an error at the threshold passes, and one above it ends with 5") {
  const Folder folder;
  const std::string file = verified(folder, kExact / 1.04, R"(, "max_error": 0.05, "to": "1KiB")");
  const Ran passed = athanor_run({"verify", file});
  CHECK(passed.code == 0);
  CHECK(passed.says("# passed"));
  CHECK(passed.says("+4.0"));
  const Ran failed = athanor_run({"verify", file, "--max-error", "3.9%"});
  CHECK(failed.code == 5);
  CHECK(failed.says("# FAILED"));
  CHECK(athanor_run({"verify", file, "--max-error", "0.041"}).code == 0);
}

TEST_CASE("too fast is as wrong as too slow") {
  const Folder folder;
  CHECK(athanor_run({"verify", verified(folder, kExact * 1.1, R"(, "max_error": 0.05)")}).code == 5);
}

TEST_CASE("only sizes from \"from\" to \"to\" count") {
  const Folder folder;
  CHECK(athanor_run({"verify", verified(folder, 100, R"(, "max_error": 0.05, "from": "2KiB")")}).code == 0);
  CHECK(athanor_run({"verify", verified(folder, 100, R"(, "max_error": 0.05, "from": "1KiB")")}).code == 5);
}

TEST_CASE("a verification that compares nothing does not pass") {
  const Folder folder;
  const Ran none = athanor_run({"verify", folder.write("s.json", kSmall)});
  CHECK(none.code == 3);
  CHECK(none.says("no case names a measurement"));
  const Ran outside = athanor_run({"verify", verified(folder, 5, R"(, "max_error": 0.05, "from": "1GiB")")});
  CHECK(outside.code == 3);
  CHECK(outside.says("no simulated size that counts was measured"));
}

TEST_CASE("errors are summed up by band, and sizes without a measurement are shown without an error") {
  const Folder folder;
  const Ran ran = athanor_run({"verify", verified(folder, kExact, "")});
  CHECK(ran.code == 0);
  CHECK(ran.says("# below 1 MiB:          2 points"));
  CHECK_FALSE(ran.says("64 MiB on"));
  CHECK(ran.says("        4096         -"));
}

TEST_CASE("cases without a measurement are left out with a warning") {
  const Folder folder;
  const std::string file = folder.path("s.json");
  verified(folder, kExact, "");
  folder.write("s.json", small_with("\"name\"", R"("cases": [{"name": "a", "verify": {"measurement": "m.json"}},
                                                            {"name": "b"}], "name")"));
  const Ran ran = athanor_run({"verify", file, "--json"});
  CHECK(ran.code == 0);
  CHECK(ran.json()["results"].size() == 3);
  CHECK(ran.says("'b' names no measurement"));
}

TEST_CASE("the median over all sizes has a threshold of its own") {
  const Folder folder;  // off by 60 % at 1 KiB and by about 0 at 2 KiB; the greater of the two counts
  CHECK(athanor_run({"verify", verified(folder, kExact / 1.6, R"(, "max_median_error": 0.61)")}).code == 0);
  const Ran failed = athanor_run({"verify", verified(folder, kExact / 1.6, R"(, "max_median_error": 0.59)")});
  CHECK(failed.code == 5);
  CHECK(failed.says("# FAILED: median |error| from 0 B on: 60.00 %, 59 % allowed"));
  const Ran below = athanor_run(
      {"verify", verified(folder, kExact / 1.6, R"(, "max_median_error": 0.05, "max_error": 0.7, "from": "2KiB")")});
  CHECK(below.code == 0);
}

namespace {

/// Two threads priced by a profile of "machine A", held against two algorithms measured on `machine`.
std::string threads_measured_on(const Folder& folder, const std::string& machine) {
  const char* row = R"({"collective": "all_reduce", "algorithm": "%", "ranks": 2, "bytes": 1024, "time_us": 1})";
  const auto of = [&](const std::string& algorithm) {
    return std::string(row).replace(std::string(row).find('%'), 1, algorithm);
  };
  folder.write(
      "m.json",
      R"({"id": "m", "source": "a test", "collective": "all_reduce", "software": {"algo": "various"}, "hardware": {"machine": ")" +
          machine + R"(", "ranks": 2}, "rows": [)" + of("ring") + "," + of("recursive_doubling") + "]}");
  return folder.write("s.json", R"({"cluster": {"shared_memory": {"ranks": 2, "processors": 2}},
    "collective": {"kind": "all_reduce", "algorithm": "each", "sizes": ["1KiB"]},
    "profile": {"machine": "machine A", "threads": {"primitive": "100ns", "memory_rate": "10GB/s",
      "caches": [{"size": "32KiB", "rate": "100GB/s", "remote_rate": "10GB/s"}]}},
    "verify": {"measurement": "m.json"}})");
}

}  // namespace

TEST_CASE("a measurement of another machine than the profile's is labelled") {
  const Folder folder;
  const Ran other = athanor_run({"verify", threads_measured_on(folder, "machine B")});
  CAPTURE(other.err);
  CHECK(other.code == 0);
  CHECK(other.out.find("of ANOTHER MACHINE than was measured: machine A") != std::string::npos);
  CHECK(other.err.find("is of another machine (machine A) than was measured in m (machine B)") != std::string::npos);
  const Ran json = athanor_run({"verify", threads_measured_on(folder, "machine B"), "--json"});
  CHECK(text_of(json.json()["manifest"]["warnings"]).find("another machine") != std::string::npos);
  const Ran same = athanor_run({"verify", threads_measured_on(folder, "machine A")});
  CHECK_FALSE(same.says("another machine"));
  CHECK_FALSE(same.says("ANOTHER MACHINE"));
}

TEST_CASE("the order of the algorithms is in the results as well") {
  const Folder folder;
  const nlohmann::json results = athanor_run({"verify", threads_measured_on(folder, "machine A"), "--json"}).json();
  REQUIRE(results["rankings"].size() == 1);
  const nlohmann::json& order = results["rankings"][0];
  CHECK(order["bytes"] == 1024);
  CHECK(order["algorithms"] == 2);
  CHECK(order["regret"] == 0);  // both were measured to take as long
}

TEST_CASE("profiles of threads and clusters of anything else do not go together, either way round") {
  const Folder folder;
  const std::string threads =
      R"("profile": {"threads": {"caches": [{"size": "32KiB", "rate": "100GB/s", "remote_rate": "10GB/s"}]}}, "name")";
  const Ran network = athanor_run({"run", folder.write("n.json", small_with("\"name\"", threads))});
  CHECK(network.code == 3);
  CAPTURE(network.err);
  CHECK(network.says("/profile"));
  const Ran shared = athanor_run({"run", folder.write("t.json", R"({
    "cluster": {"shared_memory": {"ranks": 2, "processors": 2}},
    "collective": {"kind": "all_reduce", "sizes": ["1KiB"]}})")});
  CHECK(shared.code == 3);
  CAPTURE(shared.err);
  CHECK(shared.says("athanor calibrate"));
}

TEST_CASE("what is done in place is held against what was measured in place") {
  const Folder folder;
  const auto row = [](bool in_place, double time) {
    return fmt::format(R"({{"bytes": 1024, "time_us": {}, "in_place": {}}})", time, in_place);
  };
  folder.write("m.json", R"({"id": "m", "source": "a test", "collective": "all_reduce", "software": {"algo": "ring"},
    "hardware": {"machine": "here", "ranks": 4}, "rows": [)" +
                             row(false, kExact) + "," + row(true, 2 * kExact) + "]}");
  const auto error_where = [&](const std::string& in_place) {
    const std::string text = small_with("\"name\"", R"("verify": {"measurement": "m.json"}, "name")");
    std::string changed = text;
    const std::string key = R"("kind": "all_reduce")";
    changed.replace(changed.find(key), key.size(), key + R"(, "in_place": )" + in_place);
    const nlohmann::json results = athanor_run({"verify", folder.write("s.json", changed), "--json"}).json();
    return results["results"][0]["error"].get<double>();
  };
  CHECK(error_where("false") == doctest::Approx(0));
  CHECK(error_where("true") == doctest::Approx(-0.5));
  const Ran never = athanor_run({"run", folder.write("s.json", R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "collective": {"kind": "all_to_all", "in_place": true, "sizes": ["1KiB"]}})")});
  CHECK(never.code == 3);
  CHECK(never.says("all_to_all is not done in place (at /collective/in_place)"));
}

namespace {

/// What verify says of a table that has one more row, or another key in its head.
Ran verified_with(const std::string& in_head, const std::string& rows) {
  const Folder folder;
  folder.write("m.json", R"({"id": "m", "source": "s", "collective": "all_reduce", )" + in_head +
                             R"("software": {"algo": "Ring"}, "rows": [)" + rows + "]}");
  return athanor_run({"verify", folder.write("s.json", small_with("\"name\"", R"("verify": {"measurement": "m.json"},
                                                                                  "name")"))});
}

constexpr const char* kFourHosts = R"("hardware": {"machine": "hosts", "ranks": 4}, )";

}  // namespace

TEST_CASE("a table with two times for one thing, or with a bandwidth that is not its time's, is refused by its row") {
  const Ran twice = verified_with(kFourHosts, R"({"bytes": 1024, "time_us": 6}, {"bytes": 1024, "time_us": 7})");
  CHECK(twice.code == 3);
  CHECK(twice.says("1 KiB stands here a second time with 7 us, after 6 us (at /rows/1/bytes)"));
  CHECK(verified_with(kFourHosts, R"({"bytes": 1024, "time_us": 6}, {"bytes": 1024, "time_us": 6})").code == 0);
  CHECK(verified_with(kFourHosts, R"({"bytes": 1024, "time_us": 6}, {"bytes": 1024, "time_us": 7, "ranks": 8})").code ==
        0);
  // 1 MiB among 4 ranks in 100 us are 1.5 x 10.49 GB/s.
  const Ran other = verified_with(kFourHosts, R"({"bytes": 1048576, "time_us": 100, "busbw_gbps": 10.49})");
  CHECK(other.code == 3);
  CHECK(other.says("1 MiB in 100 us are 15.73 GB/s among 4 ranks, not 10.49 (at /rows/0/busbw_gbps)"));
  CHECK(verified_with(kFourHosts, R"({"bytes": 1024, "time_us": 6, "busbw_gbps": 0.26, "algbw_gbps": 0.17})").code ==
        0);
  CHECK(verified_with(kFourHosts, R"({"bytes": 1024, "time_us": 6, "algbw_gbps": 0.34})").says("/rows/0/algbw_gbps"));
}

TEST_CASE("of rows that differ in type or reduction those of the case count") {
  const auto error_of = [](const std::string& rows) { return verified_with(kFourHosts, rows).out; };
  const std::string wide = R"({"bytes": 1024, "time_us": 6, "type": "float32"})";
  const std::string half = R"({"bytes": 1024, "time_us": 9, "type": "float16"})";
  CHECK(error_of(wide + ", " + half) == error_of(half + ", " + wide));
  const std::string sum = R"({"bytes": 1024, "time_us": 6, "reduction": "sum"})";
  const std::string most = R"({"bytes": 1024, "time_us": 9, "reduction": "max"})";
  CHECK(error_of(sum + ", " + most) == error_of(most + ", " + sum));
  CHECK(verified_with(kFourHosts, most).says("measured with the reduction max, and is simulated with sum"));
}

TEST_CASE("a table of another type is told, and one of another number of nodes refused") {
  const std::string rows = R"({"bytes": 1024, "time_us": 6})";
  CHECK(verified_with(std::string(kFourHosts) + R"("dtype": "half", )", rows)
            .says("m was measured with float16, and is simulated with float32: write \"type\": \"float16\""));
  CHECK_FALSE(verified_with(std::string(kFourHosts) + R"("dtype": "float", )", rows).says("was measured with"));
  const Folder folder;
  folder.write("m.json", R"({"id": "m", "source": "s", "collective": "all_reduce", "software": {"algo": "Ring"},
    "hardware": {"gpu": "H100", "nodes": 2, "gpus_per_node": 8}, "rows": [{"bytes": 1024, "time_us": 6}]})");
  const auto on_nodes = [&](int nodes, int ranks) {
    return athanor_run({"verify", folder.write("s.json", fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": {},
      "fabric": {{"kind": "star", "switch": "QM9700"}}}}, "collective": {{"kind": "all_reduce", "algorithm": "ring",
      "sizes": "1KiB", "ranks": {}}}, "verify": {{"measurement": "m.json"}}}})",
                                                                     nodes, ranks))});
  };
  CHECK(on_nodes(2, 16).code == 0);
  CHECK(on_nodes(3, 16).code == 0);
  folder.write("m.json", R"({"id": "m", "source": "s", "collective": "all_reduce", "software": {"algo": "Ring"},
    "hardware": {"gpu": "H100", "nodes": 4, "gpus_per_node": 4}, "rows": [{"bytes": 1024, "time_us": 6}]})");
  const Ran other = on_nodes(2, 16);
  CHECK(other.code == 3);
  CHECK(other.says("'m' measured 16 ranks on 4 nodes, but on 2 they are simulated"));
}
