#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::vector<std::string> exporting(const std::string& algorithm, const std::vector<std::string>& more) {
  std::vector<std::string> words{"export", "schedule", "all_reduce", algorithm, "--ranks", "4"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("what export writes as MSCCL, import proves") {
  const Folder folder;
  const std::string file = folder.path("ring.xml");
  const Ran exported = athanor_run(exporting("ring", {"--format", "msccl", "--channels", "2", "-o", file}));
  CHECK(exported.code == 0);
  CHECK(exported.out.empty());
  CHECK(exported.says("chunks 8 channels 2"));
  const Ran imported = athanor_run({"import", file});
  CHECK(imported.code == 0);
  CHECK(imported.says("all_reduce_ring_4: all_reduce over 4 ranks, out of place; payload in 8 chunks, 2 channels"));
  CHECK(imported.says("6 steps"));
  CHECK(imported.says("proven"));
  const nlohmann::json json = athanor_run({"import", file, "--json"}).json()["results"][0];
  CHECK(json["ranks"] == 4);
  CHECK(json["least_slots"] == 2);
}

TEST_CASE("without a file the export goes to stdout, and quiet says nothing else") {
  const std::vector<std::string> size{"--size", "1MiB", "--quiet"};
  std::vector<std::string> words = exporting("ring", {"--format", "goal", "--reduce-rate", "1GB/s"});
  words.insert(words.end(), size.begin(), size.end());
  const Ran ran = athanor_run(words);
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out.starts_with("num_ranks 4\n"));
  CHECK(ran.says("send 262144b to 1 tag 0"));
  CHECK(ran.says("calc 262144"));
}

TEST_CASE("a summary of the export is there as JSON") {
  const Folder folder;
  const nlohmann::json json =
      athanor_run(exporting("ring", {"--format", "goal", "--size", "1MiB", "--json", "-o", folder.path("r.goal")}))
          .json()["results"][0];
  CHECK(json["messages"] == 4 * 6);
  CHECK(json["bytes"] == 4 * 6 * 262144);
}

TEST_CASE("an algorithm that is wrong ends with 3 and names rank, lane, step and line") {
  const Folder folder;
  const std::string good = folder.path("good.xml");
  REQUIRE(athanor_run(exporting("ring", {"--format", "msccl", "-o", good})).code == 0);
  std::string text = read_text_file(good);
  text.replace(text.find("type=\"rrs\""), 10, "type=\"rcs\" ");
  const Ran ran = athanor_run({"import", folder.write("bad.xml", text)});
  CHECK(ran.code == 3);
  CHECK(ran.says("bad.xml:"));
  CHECK(ran.out.empty());
}

TEST_CASE("what was imported is exported like an algorithm of the catalog") {
  const Folder folder;
  const std::string file = folder.path("ring.xml");
  REQUIRE(athanor_run(exporting("ring", {"--format", "msccl", "-o", file})).code == 0);
  const auto messages = [&](const std::string& algorithm, const std::string& size) {
    return athanor_run(exporting(algorithm, {"--format", "goal", "--size", size, "--json", "-o", folder.path("g")}))
        .json()["results"][0];
  };
  CHECK(messages(file, "1MiB") == messages("ring", "1MiB"));
  const Ran ran = athanor_run(exporting(file, {"--format", "goal", "--size", "12B"}));
  CHECK(ran.code == 3);
  CHECK(ran.says("all_reduce_ring_4 does not fit: 3 elements cannot be cut into its 4 equal chunks"));
  CHECK(ran.says("these fit: ring, "));
}

TEST_CASE("dimensions, rings, groups and tables of sizes are exported") {
  const Folder folder;
  const auto sum = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "goal", "--json", "-o", folder.path("g")});
    const Ran ran = athanor_run(words);
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    return ran.json()["results"][0];
  };
  const std::vector<std::string> torus{"export", "schedule", "all_reduce", "torus", "--ranks", "6", "--size", "6KiB"};
  const auto with = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> words = torus;
    words.insert(words.end(), {option, value});
    return words;
  };
  CHECK(sum(with("--dimensions", "6"))["messages"] == 2 * 6 * 2 * 5);
  CHECK(sum(with("--dimensions", "3x2"))["messages"] == 4 * 6 * 2 * (2 + 1));
  const Ran wrong = athanor_run(with("--dimensions", "3*2"));
  CHECK(wrong.code == 2);
  const std::string table = folder.write("t.csv", "0,4\n8,0\n");
  CHECK(sum({"export", "schedule", "all_to_all_v", "pairwise", "--ranks", "2", "--exchange", table})["bytes"] == 12);
}

TEST_CASE("a request that cannot be exported leaves no file behind") {
  const Folder folder;
  const std::string file = folder.path("x");
  const std::vector<std::tuple<std::vector<std::string>, int, std::string>> refused = {
      {exporting("nvls", {"--format", "goal", "--size", "1MiB"}), 3, "engines"},
      {exporting("nvls", {"--format", "msccl"}), 3, "engines"},
      {exporting("rign", {"--format", "msccl"}), 3, "did you mean \"ring\"?"},
      {exporting("ring", {"--format", "msccl", "--root", "9"}), 3, "root 9"},
      {exporting("ring", {"--format", "xml"}), 2, "no format 'xml'"},
      {exporting("torus_2d", {"--format", "msccl", "--dimensions", "4"}), 3, "these fit: ring"},
      {exporting("ring", {"--format", "goal", "--exchange", "x.csv"}), 4, "x.csv"},
      {exporting("ring", {}), 2, "--format msccl, goal or htsim is missing"},
      {exporting("ring", {"--format", "goal"}), 2, "--size SIZE is missing"},
      {exporting("ring", {"--format", "goal", "--size", "5B"}), 2, "no whole number of float32"},
      {exporting("ring", {"--format", "goal", "--size", "5"}), 2, "--size '5'"},
      {exporting("ring", {"--format", "goal", "--size", "8B", "--type", "flaot"}), 2, "no type 'flaot'"},
      {exporting("ring", {"--format", "msccl", "--channels", "0"}), 2, "--channels '0'"},
      {{"export", "schedule", "all_redcue", "ring", "--ranks", "4", "--format", "msccl"}, 2, "no collective"},
      {{"export", "algorithm", "all_reduce", "ring", "--ranks", "4", "--format", "msccl"}, 2, "'algorithm'"},
      {{"export", "schedule", "all_reduce", "ring", "--format", "msccl"}, 2, "--ranks N is missing"}};
  for (auto [words, code, says] : refused) {
    words.insert(words.end(), {"-o", file});
    const Ran ran = athanor_run(words);
    CAPTURE(ran.err);
    CHECK(ran.code == code);
    CHECK(ran.says(says));
    CHECK_FALSE(std::filesystem::exists(file));
  }
  CHECK(athanor_run(exporting("ring", {"--format", "msccl", "-o", folder.path("no/x")})).code == 4);
  CHECK(athanor_run({"import", folder.path("absent.xml")}).code == 4);
}
