#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// The problems of a scenario, by `athanor validate --json`, which must refuse it.
nlohmann::json problems_of(const Folder& folder, const std::string& text) {
  const Ran ran = athanor_run({"validate", folder.write("scenario.json", text), "--json"});
  CAPTURE(text);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 3);
  const nlohmann::json problems = ran.json()["errors"];
  for (const nlohmann::json& problem : problems) { CHECK(problem["line"] > 0); }
  return problems;
}

struct BadInput {
  const char* text;   ///< in kSmall
  const char* other;  ///< what takes its place
  const char* code;
  const char* pointer;
  const char* says;  ///< in message or hint
};

}  // namespace

TEST_CASE("two cases of one name are refused") {
  const Folder folder;
  const std::string file =
      folder.write("twins.json", small_with("\"name\"", R"("cases": [{"name": "a"}, {"name": "a"}], "name")"));
  const Ran ran = athanor_run({"validate", file});
  CHECK(ran.code == 3);
  CHECK(ran.says("two cases are called \"a\""));
}

TEST_CASE("every bad input is named with its code, pointer and what to write instead") {
  const std::vector<BadInput> inputs = {
      {"10GB/s", "10", "missing-unit", "/cluster/fabric/link/rate", "GB/s"},
      {"10GB/s", "0GB/s", "out-of-range", "/cluster/fabric/link/rate", "at least"},
      {"\"500ns\"", "500", "missing-unit", "/cluster/fabric/link/latency", "ns"},
      {"1KiB..4KiB", "-1KiB", "out-of-range", "/collective/sizes", "negative"},
      {"1KiB..4KiB", "4KiB..1KiB", "empty-range", "/collective/sizes", "smaller size first"},
      {"1KiB..4KiB", "1024", "missing-unit", "/collective/sizes", "KiB"},
      {"1KiB..4KiB", "1023B", "not-whole-elements", "/collective/sizes", "float32"},
      {"\"ring\"", "\"rnig\"", "unknown-name", "/collective/algorithm", "did you mean 'ring'?"},
      {"\"ring\"", "[\"ring\", \"ting\"]", "unknown-name", "/collective/algorithm/1", "did you mean 'ring'?"},
      {"all_reduce", "allreduce", "unknown-name", "/collective/kind", "did you mean 'all_reduce'?"},
      {"\"sizes\"", "\"szies\"", "unknown-key", "/collective/szies", "did you mean 'sizes'?"},
      {"\"sizes\"", "\"ranks\": 5, \"sizes\"", "too-many-ranks", "/collective", "at most 4"},
      {"\"sizes\"", "\"root\": 4, \"sizes\"", "no-such-root", "/collective", "from 0 to 3"},
      {"\"sizes\"", "\"protocol\": \"LL\", \"sizes\"", "unknown-protocol", "/collective", "'LL'"},
      {"\"star\"", "\"sstar\"", "unknown-name", "/cluster/fabric/kind", "did you mean 'star'?"},
      {"\"name\"", "\"profile\": \"ideall\", \"name\"", "unknown-name", "/profile", "did you mean 'ideal'?"},
      {"\"name\"", "\"verify\": {\"measurement\": \"h100_1n_nvls_allreduce_dgx\"}, \"name\"", "unknown-measurement",
       "/verify/measurement", "did you mean 'h100_1n_nvls_allreduce_dgxc'?"},
      {"\"name\"", "\"verify\": {\"measurement\": \"absent.json\"}, \"name\"", "no-measurement", "/verify/measurement",
       "absent.json"},
      {"\"name\"", "\"cases\": 4, \"name\"", "wrong-type", "/cases", "at least one"},
      {"\"name\"", "\"cases\": [], \"name\"", "wrong-type", "/cases", "at least one"},
      {"\"name\"", "\"cases\": [4], \"name\"", "wrong-type", "/cases/0", "a case is an object"},
      {"\"name\"", "\"cases\": [{\"cases\": []}], \"name\"", "wrong-type", "/cases/0", "a case is an object"}};
  const Folder folder;
  for (const BadInput& input : inputs) {
    const nlohmann::json problems = problems_of(folder, small_with(input.text, input.other));
    CAPTURE(problems);
    bool found = false;
    for (const nlohmann::json& problem : problems) {
      const std::string words = problem["message"].get<std::string>() + problem["hint"].get<std::string>();
      found = found || (problem["code"] == input.code && problem["pointer"] == input.pointer &&
                        words.find(input.says) != std::string::npos);
    }
    CAPTURE(input.other);
    CHECK(found);
  }
}

TEST_CASE("the line that is wrong is shown with a mark under the place") {
  const Folder folder;
  const Ran ran = athanor_run({"validate", folder.write("s.json", small_with("\"ring\"", "\"rnig\""))});
  CHECK(ran.code == 3);
  CHECK(ran.out.empty());
  CHECK(ran.says("s.json:4:53: "));
  CHECK(ran.says("\n     4 |   \"collective\": {\"kind\": \"all_reduce\", \"algorithm\": \"rnig\""));
  CHECK(ran.says("\n       | " + std::string(52, ' ') + "^\n"));
}

TEST_CASE("a truncated file is refused with the line where it ends") {
  const Folder folder;
  const std::string whole = kSmall;
  const nlohmann::json problems = problems_of(folder, whole.substr(0, whole.size() / 2));
  CHECK(problems.size() == 1);
  CHECK(problems[0]["code"] == "syntax");
}

TEST_CASE("all problems of all files are found in one pass, each once though cases share it") {
  const Folder folder;
  std::string text = small_with("10GB/s", "10");
  text.replace(text.find("1KiB..4KiB"), 10, "-1KiB");
  text.replace(text.find("\"name\""), 0, R"("cases": [{"name": "a"}, {"name": "b", "sede": 1}], )");
  const std::string first = folder.write("first.json", text);
  const std::string second = folder.write("second.json", small_with("\"ring\"", "\"rnig\""));
  const Ran ran = athanor_run({"validate", first, second, "--json"});
  CHECK(ran.code == 3);
  CHECK(ran.json()["errors"].size() == 4);
  CHECK(ran.says("athanor: 4 problems"));
}

TEST_CASE("what a message lists stands on lines of its own") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", small_with("\"ring\"", "\"ring\", \"group\": 3"))});
  CHECK(ran.code == 3);
  CHECK(ran.says("with nodes of 3 ranks:\n  ring: groups of 3 do not divide 4 ranks"));
}

TEST_CASE("of a file with very many problems the first fifty are shown") {
  const Folder folder;
  std::string sizes = "[-1";
  for (int i = 0; i < 99; ++i) { sizes += ", -1"; }
  std::string text = small_with("\"1KiB..4KiB\"", sizes + "]");
  const Ran ran = athanor_run({"validate", folder.write("s.json", text)});
  CHECK(ran.code == 3);
  CHECK(ran.says("athanor: 100 problems, of which these are the first 50"));
}

TEST_CASE("a rank that cannot be reached is refused by name") {
  const Folder folder;
  const Ran ran = athanor_run({"validate", folder.write("s.json", R"({
    "cluster": {"graph": {
      "vertices": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}, {"name": "lonely", "kind": "gpu"}],
      "links": [{"between": ["a", "b"], "rate": "10GB/s", "latency": "1us"}]}},
    "collective": {"kind": "all_reduce", "sizes": "1KiB"}})")});
  CHECK(ran.code == 3);
  CHECK(ran.says("lonely"));
}

TEST_CASE("a node count that does not fit the fabric is refused") {
  const Folder folder;
  const Ran ran = athanor_run({"validate", folder.write("s.json", R"({
    "cluster": {"nodes": 100, "fabric": {"kind": "torus", "dimensions": [4, 4],
                "link": {"rate": "10GB/s", "latency": "1us"}}},
    "collective": {"kind": "all_reduce", "sizes": "1KiB"}})")});
  CHECK(ran.code == 3);
  CHECK(ran.says("100"));
  CHECK(ran.says("16"));
}

TEST_CASE("two billion GPUs are refused with the memory that they would need") {
  const Folder folder;
  const Ran ran = athanor_run({"validate", folder.write("s.json", R"({
    "cluster": {"node": "DGX-H100", "nodes": 250000000, "fabric": {"kind": "star",
                "link": {"rate": "50GB/s", "latency": "1us"}}},
    "collective": {"kind": "all_reduce", "sizes": "1KiB"}})")});
  CHECK(ran.code == 3);
  CHECK(ran.says("1855 GiB of memory"));
}

TEST_CASE("a measurement file that is none is refused with what is wrong with it") {
  const Folder folder;
  const std::string scenario = small_with("\"name\"", R"("verify": {"measurement": "m.json"}, "name")");
  const auto refusal = [&](const std::string& text) {
    folder.write("m.json", text);
    return problems_of(folder, scenario)[0];
  };
  CHECK(refusal(kSmall)["code"] == "not-a-measurement");
  CHECK(refusal("[1, 2]")["code"] == "not-a-measurement");
  CHECK(refusal("{\"rows\": [")["code"] == "syntax");
  const nlohmann::json missing = refusal(R"({"id": "m", "rows": [{"bytes": 8}]})");
  CHECK(missing["code"] == "missing-key");
  CHECK(missing["file"] == folder.path("m.json"));
  CHECK(refusal(measurement("all_gather", 4, {{1024, 10}}))["code"] == "measurement-mismatch");
  CHECK(refusal(measurement("all_reduce", 8, {{1024, 10}}))["code"] == "measurement-mismatch");
}
