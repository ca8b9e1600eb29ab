#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// kSmall takes 6 x (1 us + size / 4 / 10 GB/s).
double exact(int size) { return 6 * (1 + size / 4e4); }

using Rows = std::vector<std::pair<int, double>>;

/// Rows from 64 B to 16 KiB that are `off` times as slow as simulated; one of them, `spike`, ten times that.
Rows rows_of(double off, int spike = 0) {
  Rows rows;
  for (int size = 64; size <= 16384; size *= 2) {
    rows.emplace_back(size, exact(size) * off * (size == spike ? 10 : 1));
  }
  return rows;
}

/// A scenario in the folder, held against a table of its own.
void add(const Folder& folder, const std::string& name, const Rows& rows, const std::string& verify = "",
         const std::string& software = R"("nccl": "2.20", "algo": "Ring")") {
  nlohmann::json table = json_from(measurement("all_reduce", 4, rows));
  table["id"] = name;
  table["software"] = json_from("{" + software + "}");
  std::filesystem::create_directories(folder.path("tables"));
  folder.write("tables/" + name + ".json", text_of(table));
  std::string scenario = small_with("1KiB..4KiB", "64B..16KiB");
  const std::string key = "\"name\"";
  scenario.replace(scenario.find(key), key.size(),
                   fmt::format(R"("verify": {{"measurement": "tables/{}.json"{}}}, "name")", name, verify));
  folder.write(name + ".json", scenario);
}

Ran verify_all(const Folder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"verify", "--all", "--directory", folder.path("")};
  words.insert(words.end(), more.begin(), more.end());
  return athanor_run(words);
}

}  // namespace

TEST_CASE("every scenario of a directory is held against its table, and medians are taken over tables") {
  const Folder folder;
  add(folder, "a", rows_of(1 / 1.02));
  add(folder, "b", rows_of(1 / 1.1));
  add(folder, "c", rows_of(1 / 1.04), "", R"("nccl": "RCCL 2.22", "algo": "auto")");
  const Ran ran = verify_all(folder, {"--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json json = ran.json();
  CHECK(json["results"].size() == 3 * 9);
  REQUIRE(json["tables"].size() == 3);
  CHECK(json["tables"][0]["table"] == "a");
  CHECK(json["tables"][0]["agreed"] == true);
  CHECK(json["tables"][0]["stack"] == "a");
  CHECK(json["tables"][0]["cases"][0]["scenario"] == folder.path("a.json"));
  CHECK(json["tables"][2]["agreed"].is_null());
  CHECK(json["tables"][1]["bands"][0]["points"] == 9);
  CHECK(json["tables"][1]["bands"][0]["mean_error"].get<double>() == doctest::Approx(0.1).epsilon(0.01));
  CHECK(json["tables"][1]["bands"][1]["mean_error"].is_null());
  REQUIRE(json["medians"].size() == 3);
  CHECK(json["medians"][0]["library"] == "NCCL");
  CHECK(json["medians"][0]["mean_error"][0].get<double>() == doctest::Approx(0.06).epsilon(0.01));
  CHECK(json["medians"][1]["library"] == "RCCL");
  CHECK(json["medians"][2]["mean_error"][0].get<double>() == doctest::Approx(0.04).epsilon(0.01));
  const Ran text = verify_all(folder);
  CHECK(text.says("as measured"));
  CHECK(text.says("median over 2 NCCL tables"));
}

TEST_CASE("isolated spikes are counted and left out, and noisy tables are in no median") {
  const Folder folder;
  add(folder, "one_spike", rows_of(1, 1024));
  Rows noisy = rows_of(1);
  for (std::size_t i = 0; i < noisy.size(); i += 2) { noisy[i].second *= 1.15; }
  add(folder, "zigzag", noisy);
  const nlohmann::json json = verify_all(folder, {"--json"}).json();
  CHECK(json["tables"][0]["spikes"] == nlohmann::json::array({1024}));
  CHECK(json["tables"][0]["bands"][0]["points"] == 8);
  CHECK(json["tables"][0]["bands"][0]["mean_error"].get<double>() < 0.001);
  CHECK(json["tables"][0]["noisy"] == false);
  CHECK(json["tables"][1]["noisy"] == true);
  CHECK(json["medians"][0]["tables"] == 1);
  CHECK(verify_all(folder).says("# noisy (above 10 %), in no median:"));
}

TEST_CASE("without a directory the tables that no fit has seen stand apart, with medians of their own") {
  namespace files = std::filesystem;
  const Folder folder;
  add(folder, "fitted", rows_of(1 / 1.02));
  add(folder, "new", rows_of(1 / 1.1));
  files::create_directory_symlink(std::string(ATHANOR_TEST_SCENARIOS) + "/presets", folder.path("presets"));
  files::create_directories(folder.path("training"));
  for (const char* part : {"validation", "validation/unseen"}) {
    files::create_directories(folder.path(part));
    files::copy(folder.path("tables"), folder.path(part + std::string("/tables")));
  }
  files::rename(folder.path("fitted.json"), folder.path("validation/fitted.json"));
  files::rename(folder.path("new.json"), folder.path("validation/unseen/new.json"));
  folder.write("training/no_step.json", small_with("1KiB..4KiB", "64B..16KiB"));
  const std::vector<std::string> words{"verify", "--all", "--data", folder.path("")};
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const Ran ran = athanor_run(as_json);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json json = ran.json();
  REQUIRE(json["tables"].size() == 1);
  CHECK(json["tables"][0]["table"] == "fitted");
  REQUIRE(json["unseen_tables"].size() == 1);
  CHECK(json["unseen_tables"][0]["table"] == "new");
  CHECK(json["medians"][0]["mean_error"][0].get<double>() == doctest::Approx(0.02).epsilon(0.01));
  CHECK(json["unseen_medians"][0]["mean_error"][0].get<double>() == doctest::Approx(0.1).epsilon(0.01));
  CHECK(athanor_run(words).says("# tables that no fit has seen"));
  files::remove_all(folder.path("validation/unseen"));
  CHECK_FALSE(athanor_run(words).says("no fit has seen"));
}

TEST_CASE("thresholds hold for each case, and the command line's for all") {
  const Folder folder;
  add(folder, "a", rows_of(1 / 1.02));
  add(folder, "b", rows_of(1 / 1.1), R"(, "max_error": 0.05)");
  CHECK(verify_all(folder).code == 5);
  CHECK(verify_all(folder, {"--max-error", "11%"}).code == 0);
  CHECK(verify_all(folder, {"--max-error", "1%"}).code == 5);
}

TEST_CASE("--all takes a directory and no scenarios, and the other way round") {
  const Folder folder;
  CHECK(athanor_run({"verify"}).code == 2);
  CHECK(athanor_run({"verify"}).says("SCENARIO... is missing"));
  CHECK(athanor_run({"verify", "--all", "x.json"}).code == 2);
  CHECK(athanor_run({"verify", "x.json", "--directory", "y"}).code == 2);
  const Ran empty = verify_all(folder);
  CHECK(empty.code == 4);
  CHECK(empty.says("there is no scenario"));
}
