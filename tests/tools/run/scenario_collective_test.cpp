#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Twelve hosts on a torus of 4 x 3, with this collective.
std::string on_torus(const std::string& collective) {
  return R"({"cluster": {"fabric": {"kind": "torus", "dimensions": [4, 3],
             "link": {"rate": "10GB/s", "latency": "500ns"}}}, "collective": )" +
         collective + "}";
}

/// Four hosts on one switch, with this collective.
std::string on_star(const std::string& collective) {
  return R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             "collective": )" +
         collective + "}";
}

double time_of(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {}) {
  return results_of(folder, scenario, more)[0]["time_us"];
}

bool says(const nlohmann::json& problem, const std::string& text) {
  return text_of(problem).find(text) != std::string::npos;
}

std::string imported_ring(const Folder& folder) {
  const std::string file = folder.path("algorithms/ring.xml");
  std::filesystem::create_directories(folder.path("algorithms"));
  REQUIRE(
      athanor_run({"export", "schedule", "all_reduce", "ring", "--ranks", "4", "--format", "msccl", "-o", file}).code ==
      0);
  return file;
}

}  // namespace

TEST_CASE("an imported algorithm takes the time of the one that it was exported from") {
  const Folder folder;
  imported_ring(folder);
  const auto timed = [&](const std::string& algorithm) {
    return results_of(folder,
                      on_star(R"({"kind": "all_reduce", "sizes": "1KiB..4KiB", "algorithm": )" + algorithm + "}"));
  };
  const nlohmann::json ring = timed("\"ring\"");
  const nlohmann::json imported = timed(R"({"msccl": "algorithms/ring.xml"})");
  REQUIRE(imported.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(imported[i]["algorithm"] == "all_reduce_ring_4");
    CHECK(imported[i]["time_us"] == ring[i]["time_us"]);
  }
  CHECK(timed(R"([{"msccl": "algorithms/ring.xml"}, "ring"])")[0]["algorithm"] == "all_reduce_ring_4");
  CHECK(timed(R"(["ring", {"msccl": "algorithms/ring.xml"}])")[0]["algorithm"] == "ring");
}

TEST_CASE("a payload that an imported algorithm cannot cut is priced at the next one that it can") {
  const Folder folder;
  imported_ring(folder);
  const nlohmann::json row = results_of(
      folder, on_star(R"({"kind": "all_reduce", "sizes": "20B", "algorithm": {"msccl": "algorithms/ring.xml"}})"))[0];
  CHECK(row["padded"] == true);
  CHECK(row["bytes"] == 20);
}

TEST_CASE("a wrong imported algorithm is refused with the line of its file and the pointer of the scenario") {
  const Folder folder;
  std::string text = read_text_file(imported_ring(folder));
  text.replace(text.find("type=\"rrs\""), 10, "type=\"r\"  ");
  const std::string file = folder.write("bad.xml", text);
  const nlohmann::json problem = problem_of(
      folder, on_star(R"({"kind": "all_reduce", "sizes": "1KiB", "algorithm": ["ring", {"msccl": "bad.xml"}]})"));
  CHECK(problem["file"] == file);
  CHECK(problem["line"] > 0);
  CHECK(problem["pointer"] == "/collective/algorithm/1/msccl");
  CHECK(says(problem_of(folder, on_star(R"({"kind": "all_reduce", "sizes": "1KiB", "algorithm": {"msccl": "x.xml"}})")),
             "relative to the scenario's file"));
}

TEST_CASE("an algorithm that does not fit is refused at its place, with those that fit") {
  const Folder folder;
  imported_ring(folder);
  const auto refused = [&](const std::string& keys, const std::string& reason, const std::string& alternatives,
                           const char* pointer = "/collective/algorithm") {
    const nlohmann::json problem =
        problem_of(folder, on_star(R"({"kind": "all_reduce", "sizes": "1KiB", )" + keys + "}"));
    CAPTURE(problem);
    CHECK(problem["code"] == "algorithm-does-not-fit");
    CHECK(problem["pointer"] == pointer);
    CHECK(says(problem, reason));
    CHECK(problem["hint"].get<std::string>().starts_with(alternatives));
  };
  refused(R"("algorithm": "nvls")", "NVSwitch", "these fit: ring, ");
  refused(R"("algorithm": ["nvls", "torus_3d"], "dimensions": [2, 2])", "it takes 3 dimensions, not 2",
          "these fit: ring");
  refused(R"("algorithm": {"msccl": "algorithms/ring.xml"}, "ranks": 3)", "it is for 4 ranks, not 3",
          "these fit: ring");
  refused(R"("algorithm": "ring", "dimensions": [3, 2])", "dimensions 3 x 2 are not 4 ranks", "no algorithm");
  refused(R"("algorithm": "hierarchical", "group": 3)", "groups of 3 do not divide 4 ranks", "leave it out",
          "/collective/group");
}

TEST_CASE("the sides of a cluster's torus are the dimensions of algorithms that take as many") {
  const Folder folder;
  const auto with = [](const std::string& algorithm, const std::string& more) {
    return on_torus(R"({"kind": "all_reduce", "sizes": "12KiB", "algorithm": ")" + algorithm + "\"" + more + "}");
  };
  const double as_it_is = time_of(folder, with("torus", ""));
  CHECK(as_it_is == time_of(folder, with("torus", R"(, "dimensions": [4, 3])")));
  CHECK(as_it_is < time_of(folder, with("torus", R"(, "dimensions": [3, 4])")));
  CHECK(time_of(folder, with("torus_2d", "")) == as_it_is);
  CHECK(results_of(folder, with("torus_3d", ""))[0]["algorithm"] == "torus_3d");
}

TEST_CASE("more rings share more links of a torus") {
  const Folder folder;
  const auto with = [&](int rings) {
    return time_of(
        folder, on_torus(fmt::format(
                    R"({{"kind": "all_reduce", "sizes": "12MiB", "algorithm": "multi_ring", "rings": {}}})", rings)));
  };
  CHECK(with(2) < with(1));
}

TEST_CASE("a table of sizes is the same inline, as CSV and as JSON") {
  const Folder folder;
  const std::string rows = R"([["0B", "1KiB", "2KiB", "0B"], ["4B", "0B", "8B", "0B"], ["0B", "0B", "0B", "0B"],
                              ["1KiB", "1KiB", "1KiB", "1KiB"]])";
  folder.write("t.csv", "0, 1024, 2048, 0\n4,0,8,0\n\n0,0,0,0\r\n1024,1024,1024,1024\n");
  folder.write("t.json", R"({"exchange": )" + rows + "}");
  const auto row = [&](const std::string& exchange) {
    return results_of(folder, on_star(R"({"kind": "all_to_all_v", "exchange": )" + exchange + "}"))[0];
  };
  const nlohmann::json inline_row = row(rows);
  CHECK(inline_row["bytes"] == 4096);
  CHECK(row("\"t.csv\"") == inline_row);
  CHECK(row("\"t.json\"") == inline_row);
}

TEST_CASE("a drawn table depends on the seed and keeps within its range") {
  const Folder folder;
  const auto bytes = [&](const std::string& exchange, const std::string& seed) {
    return results_of(folder, on_star(R"({"kind": "all_to_all_v", "exchange": )" + exchange + "}"),
                      {"--seed", seed})[0]["bytes"];
  };
  const std::string random = R"({"random": {"least": "1KiB", "most": "64KiB"}})";
  CHECK(bytes(random, "1") == bytes(random, "1"));
  CHECK(bytes(random, "1") != bytes(random, "2"));
  CHECK(bytes(random, "1") >= 4 * 1024);
  CHECK(bytes(random, "1") <= 4 * 65536);
  CHECK(bytes(R"({"random": {"least": "1KiB", "most": "1KiB"}})", "1") == 4096);
  // 1, 1/2, 1/3 and 1/4 are 48 %, 24 %, 16 % and 12 % of their sum. Four senders give the first its share, and the
  // elements that rounding leaves, less than one for each of the others.
  const int most = bytes(R"({"zipf": {"payload": "100kB"}})", "1");
  CHECK(most >= 4 * 48'000);
  CHECK(most < 4 * (48'000 + 3 * 4));
  CHECK(bytes(R"({"zipf": {"payload": "100kB", "exponent": 0}})", "1") == 100'000);
}

TEST_CASE("a table of sizes that does not fit is refused with what is wrong") {
  const Folder folder;
  const auto refused = [&](const std::string& keys, const std::string& code, const std::string& text) {
    const nlohmann::json problem = problem_of(folder, on_star("{" + keys + "}"));
    CAPTURE(problem);
    CHECK(problem["code"] == code);
    CHECK(says(problem, text));
  };
  const std::string exchange = R"("kind": "all_to_all_v", "exchange": )";
  refused(exchange + R"([["4B", "4B"], ["4B", "4B"]])", "does-not-fit", "it has 2 rows");
  refused(exchange + R"([["4B"], ["4B"], ["4B"], ["4B"]])", "does-not-fit", "row 1 has 1 sizes");
  refused(exchange + R"({"random": {"least": "2B", "most": "4B"}})", "not-whole-elements", "2 B");
  refused(exchange + R"({"random": {"least": "8B", "most": "4B"}})", "empty-range", "swap");
  refused(exchange + "{}", "missing-key", "one distribution");
  refused(exchange + R"("absent.csv")", "no-exchange", "absent.csv");
  folder.write("t.csv", "0,4,4,4\n0,4,x,4\n");
  refused(exchange + R"("t.csv")", "wrong-type", "'x' is not a whole number of bytes");
  refused(R"("kind": "all_to_all_v")", "missing-key", "how much every rank sends");
  refused(R"("kind": "all_reduce", "sizes": "4B", "exchange": [["4B"]])", "unknown-key", "only all_to_all_v");
  refused(exchange + R"([["4B"]], "sizes": "4B")", "unknown-key", "stand in");
  refused(R"("kind": "all_reduce")", "missing-key", "sizes");
  const std::string fine = on_star("{" + exchange + R"({"zipf": {"payload": "1KiB"}}})");
  CHECK(athanor_run({"run", folder.write("s.json", fine), "--sizes", "8B"}).code == 2);
}

TEST_CASE("a table of 1024 ranks is read and drawn") {
  const Folder folder;
  std::string text;
  for (int row = 0; row < 1024; ++row) {
    for (int column = 0; column < 1024; ++column) { text += column == 0 ? "64" : ",64"; }
    text += '\n';
  }
  folder.write("t.csv", text);
  for (const std::string exchange : {R"("t.csv")", R"({"random": {"least": "0B", "most": "1MiB"}})"}) {
    const Ran ran = athanor_run({"validate", folder.write("s.json", R"({
      "cluster": {"nodes": 1024, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
      "collective": {"kind": "all_to_all_v", "exchange": )" + exchange + "}}")});
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
  }
}

TEST_CASE("a barrier needs no sizes") {
  const Folder folder;
  CHECK(results_of(folder, on_star(R"({"kind": "barrier"})"))[0]["bytes"] == 0);
}
