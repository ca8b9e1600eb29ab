#include <fstream>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/run_command_line.hpp"

using namespace athanor;

namespace {

const std::string kTables = R"([{"rows": 1000, "lookups": 3}])";

/// On the GPUs of a DGX H100.
std::string recommender(const std::string& tables, const std::string& keys = "", const std::string& model = "") {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}}, "recommender": {{"batch": 800, "model": {{"width": 32, "dense_features": 13,
          "bottom": [64, 32], "top": [64, 1], "tables": {}{}}}{}}}}})",
      tables, model, keys);
}

void check_refusal(const std::string& text, const std::string& code, const std::string& word) {
  CAPTURE(text);
  const Folder folder;
  const nlohmann::json problem = problem_of(folder, text);
  CHECK(problem["code"] == code);
  CHECK(problem["message"].get<std::string>().find(word) != std::string::npos);
}

}  // namespace

TEST_CASE("a step of a recommender says what it takes, and what moves") {
  const Folder folder;
  const nlohmann::json row = result_of(folder, recommender(R"([{"rows": 1000, "lookups": 3, "count": 16}])"));
  CHECK(row["model"] == "recommender");
  CHECK(row["gpus"] == 8);
  CHECK(row["tables"] == 16);
  CHECK(row["table_parameters"] == 16 * 1000 * 32);
  CHECK(row["dense_parameters"] == 14 * 64 + 65 * 32 + (32 + 17 * 16 / 2 + 1) * 64 + 65);
  CHECK(row["shardings"]["table_wise"] == 16);
  CHECK(row["lookup_imbalance"] == 1);
  CHECK(row["index_bytes"] == 7 * 100 * 2 * (3 * 8 + 4));
  CHECK(row["pooled_bytes"] == 7 * 100 * 2 * 32 * 4);
  CHECK(row["samples_per_s"].get<double>() == doctest::Approx(800 / row["step_time_s"].get<double>()));
}

TEST_CASE("a cache answers its share of look-ups, and keeps its share of the rows") {
  const Folder folder;
  const std::string tables =
      R"([{"rows": 1000, "lookups": 3, "access": {"law": "steps", "steps": [{"rows": 0.1, "lookups": 0.9}, {"rows": 0.9, "lookups": 0.1}]},
           "host": {"policy": "static", "share": 0.1}}])";
  CHECK(result_of(folder, recommender(tables))["cache_hit_rate"].get<double>() == doctest::Approx(0.9));
}

TEST_CASE("look-ups that were recorded are counted") {
  const Folder folder;
  std::ofstream(folder.path("rows.csv")) << "0,0,0\n5 7\n";
  const std::string tables = R"([{"rows": 10, "lookups": 3, "access": {"law": "indices", "file": "rows.csv"},
                                  "host": {"policy": "static", "share": 0.1}}])";
  CHECK(result_of(folder, recommender(tables))["cache_hit_rate"].get<double>() == doctest::Approx(0.6));
}

TEST_CASE("what tables cannot be is refused where it stands") {
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "row_wize"}])"), "unknown-name", "row_wize");
  check_refusal(recommender(R"([{"rows": 100000000000, "sharding": "table_wise"}])"), "tables-do-not-fit", "table 0");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "column_wise"}])"), "missing-key", "column_shards");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "column_wise", "column_shards": 3}])"),
                "columns-do-not-divide", "32 columns");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "column_wise", "column_shards": 16}])"), "too-many-parts",
                "8 GPUs");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "row_wise", "column_shards": 2}])"), "no-effect",
                "column_wise");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "row_wise", "ranks": [1]}])"), "no-effect", "every GPU");
  check_refusal(recommender(R"([{"rows": 1000, "ranks": [1]}])"), "no-effect", "still to be found");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "table_wise", "ranks": [1, 2]}])"), "wrong-number",
                "2 GPUs");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "table_wise", "ranks": [8]}])"), "unknown-rank", "GPU 8");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "column_wise", "column_shards": 2, "ranks": [3, 3]}])"),
                "duplicate", "GPU 3");
  check_refusal(recommender(R"([{"rows": 1000, "sharding": "data_parallel", "host": {"policy": "none"}}])"), "conflict",
                "copy");
  check_refusal(recommender(R"([{"rows": 1000, "width": 16}])"), "unequal-widths", "16 elements");
}

TEST_CASE("laws of look-ups that are none are refused") {
  const auto table = [](const std::string& access) {
    return recommender(fmt::format(R"([{{"rows": 10, "access": {}}}])", access));
  };
  check_refusal(table(R"({"law": "steps", "steps": [{"rows": 0.1, "lookups": 0.9}, {"rows": 0.9, "lookups": 0.2}]})"),
                "shares-do-not-sum", "1.1");
  check_refusal(table(R"({"law": "counts", "file": "none.csv"})"), "no-file", "none.csv");
  check_refusal(table(R"({"law": "zipf"})"), "missing-key", "exponent");
  const auto recorded = [&](const char* law, const char* text) {
    const Folder folder;
    std::ofstream(folder.path("rows.csv")) << text;
    return problem_of(folder, table(fmt::format(R"({{"law": "{}", "file": "rows.csv"}})", law)))["code"];
  };
  CHECK(recorded("counts", "3, x") == "no-number");
  CHECK(recorded("counts", "0 0 0") == "no-lookups");
  CHECK(recorded("counts", "1 1 1 1 1 1 1 1 1 1 1") == "too-many-rows");
  CHECK(recorded("indices", "3 10") == "unknown-row");
}

TEST_CASE("keys without effect, and batches that do not divide, are refused") {
  check_refusal(recommender(kTables, R"(, "batch": 801)"), "duplicate-key", "twice");
  check_refusal(recommender(kTables, R"(, "gpus": 3)"), "batch-does-not-divide", "800 samples");
  check_refusal(recommender(kTables, R"(, "gpus": 9)"), "too-many-ranks", "8 endpoints");
  check_refusal(recommender(kTables, R"(, "pipeline": "prefetch")"), "no-effect", "cache");
  check_refusal(recommender(kTables, R"(, "max_error": 0.1)"), "no-effect", "measured");
  check_refusal(recommender(kTables, R"(, "measured": {"samples_per_s": 1, "step_time": "1ms"})"), "conflict",
                "either");
  check_refusal(recommender(kTables, R"(, "index_bytes": 6)"), "out-of-range", "6 bytes");
  check_refusal(recommender(kTables, R"(, "compute": {"attention": 0.4})"), "no-effect", "attention");
}
