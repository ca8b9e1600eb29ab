// Copies that compress what they send, as scenarios say it, what results tell of it, and what is refused.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// GPT-2 on two nodes of eight.
std::string scenario(const std::string& parallel, const std::string& model = R"("GPT-2")") {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 2, "fabric": {{"kind": "rail_optimized", "switch": "QM9700"}}}},
 "training": {{"model": {}, "global_batch": 16, "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}},
               "parallel": {{{}}}}}}})",
      model, parallel);
}

std::string compressed(const std::string& compression, const std::string& more = "") {
  return scenario(R"("compression": {)" + compression + "}" + more);
}

nlohmann::json row_of(const std::string& text) {
  const Folder folder;
  return result_of(folder, text);
}

/// Code, message and hint of the first problem.
std::string problem_of(const std::string& text) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", text), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  return error["code"].get<std::string>() + ": " + error["message"].get<std::string>() + " " +
         error["hint"].get<std::string>();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kSharded = R"(, "sharding": "parameters")";

}  // namespace

TEST_CASE("results say how copies compress, and what a GPU sends in place of what") {
  const nlohmann::json plain = row_of(scenario(""));
  CHECK(!plain.contains("compression"));
  const nlohmann::json row = row_of(compressed(R"("kind": "int8", "block": 256)"));
  CHECK(row["compression"] == "int8");
  // An all-reduce of 4 bytes, and two exchanges of a byte and a scale for 256.
  CHECK(row["uncompressed_sent_bytes"].get<double>() / row["copies_sent_bytes"].get<double>() ==
        doctest::Approx(8 / (2 * (1 + 4.0 / 256))));
  CHECK(row["memory_gb"] > plain["memory_gb"]);
  CHECK(!row.contains("mean_step_time_s"));
}

TEST_CASE("the mean step counts the steps before compression as they are without it") {
  const nlohmann::json plain = row_of(scenario(""));
  for (const std::string kind : {R"("kind": "one_bit_adam")", R"("kind": "power_sgd", "rank": 2)"}) {
    const nlohmann::json row = row_of(compressed(kind + R"(, "warm_up": 0.25)"));
    CHECK(row["uncompressed_step_time_s"] == plain["step_time_s"]);
    CHECK(row["mean_step_time_s"].get<double>() ==
          doctest::Approx(0.25 * plain["step_time_s"].get<double>() + 0.75 * row["step_time_s"].get<double>()));
  }
}

TEST_CASE("nodes are as many copies as the cluster's have, less what tensor ranks take, unless the scenario says") {
  const auto said = [](const std::string& more) {
    const Folder folder;
    const std::string parts = R"("kind": "zero_plus_plus", "secondary_weights": true)";
    return athanor_run({"run", folder.write("s.json", compressed(parts + more, kSharded))}).out;
  };
  CHECK(has(said(""), "zero_plus_plus: hpZ, 8 copies in a node"));
  CHECK(has(said(R"(, "node_ranks": 4)"), "zero_plus_plus: hpZ, 4 copies in a node"));
  const Folder folder;
  const std::string parts = R"("kind": "zero_plus_plus", "quantized_gradients": true)";
  const std::string text = compressed(parts, R"(, "sharding": "parameters", "tensor": 2)");
  CHECK(has(athanor_run({"run", folder.write("s.json", text)}).out, "4 copies in a node"));
}

TEST_CASE("kinds and keys that there are not are refused with what is meant") {
  CHECK(has(problem_of(compressed(R"("kind": "powersgd")")), "power_sgd"));
  CHECK(has(problem_of(compressed(R"("block": 64)")), "kind"));
  CHECK(has(problem_of(compressed(R"("kind": "int8", "blok": 64)")), "block"));
  CHECK(has(problem_of(compressed(R"("kind": "int8", "block": 4)")), "4 is out of range"));
  CHECK(has(problem_of(compressed(R"("kind": "power_sgd", "rank": 0)")), "0 is out of range"));
  CHECK(has(problem_of(compressed(R"("kind": "top_k", "density": 0)")), "out of range"));
  CHECK(has(problem_of(compressed(R"("kind": "top_k", "density": 2)")), "out of range"));
  CHECK(has(problem_of(compressed(R"("kind": "one_bit_adam", "warm_up": 1.5)")), "out of range"));
}

TEST_CASE("keys that a kind does not have are refused by name") {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"block", "64"},
                                                                                   {"density", "0.1"},
                                                                                   {"rank", "2"},
                                                                                   {"least_ratio", "2"},
                                                                                   {"error_feedback", "true"},
                                                                                   {"warm_up", "0.1"},
                                                                                   {"quantized_weights", "true"},
                                                                                   {"secondary_weights", "true"},
                                                                                   {"quantized_gradients", "true"},
                                                                                   {"node_ranks", "8"}}) {
    CAPTURE(key);
    const std::string problem = problem_of(compressed(fmt::format(R"("kind": "fp16", "{}": {})", key, value)));
    CHECK(has(problem, fmt::format("no-effect: fp16 has no \"{}\" leave it out", key)));
  }
  const std::string none = R"("kind": "zero_plus_plus")";
  CHECK(has(problem_of(compressed(none, kSharded)), "no-effect: zero_plus_plus does nothing"));
  const std::string gathers = none + R"(, "quantized_weights": true, "node_ranks": 8)";
  CHECK(has(problem_of(compressed(gathers, kSharded)), "no-effect: int8 parameters are gathered from all"));
  const std::string copies = none + R"(, "secondary_weights": true, "block": 64)";
  CHECK(has(problem_of(compressed(copies, kSharded)), "no-effect: nothing is quantised"));
}

TEST_CASE("compression that contradicts the plan is refused") {
  for (const std::string kind : {"top_k", "power_sgd", "one_bit_adam"}) {
    CHECK(has(problem_of(compressed(fmt::format(R"("kind": "{}")", kind), kSharded)),
              fmt::format("plan-does-not-fit: compression by {} gives every copy the whole sum", kind)));
  }
  const std::string node = R"("kind": "zero_plus_plus", "secondary_weights": true)";
  CHECK(has(problem_of(compressed(node)), "zero_plus_plus (qwZ, hpZ, qgZ) is of sharded parameters"));
  CHECK(has(problem_of(compressed(node, R"(, "sharding": "gradients")")), "this is sharding of gradients"));
  CHECK(has(problem_of(compressed(node, R"(, "sharding": "parameters", "data": 8)")), "less than all"));
  CHECK(has(problem_of(compressed(node + R"(, "node_ranks": 1)", kSharded)), "less than all"));
  CHECK(has(problem_of(compressed(node + R"(, "node_ranks": 3)", kSharded)), "spread evenly over nodes"));
  CHECK(has(problem_of(compressed(node, R"(, "sharding": "parameters", "shard_group": 8)")), "\"shard_group\" out"));
  CHECK(has(problem_of(compressed(R"("kind": "one_bit_adam")", R"(, "optimizer": "sgd")")), "the optimizer is sgd"));
  CHECK(has(problem_of(compressed(R"("kind": "one_bit_adam")", R"(, "overlap_gradients": true)")),
            "\"overlap_gradients\": false"));
  CHECK(has(problem_of(compressed(R"("kind": "bf16")", R"(, "gradient_bytes": 2)")), "changes nothing"));
  CHECK(has(problem_of(compressed(R"("kind": "int8")", R"(, "data": 8, "single_process": true)")), "single_process"));
  CHECK(has(problem_of(compressed(R"("kind": "power_sgd", "rank": 1024)")), "shrinks no matrix of GPT-2"));
}

TEST_CASE("a list of layers says which are matrices, and PowerSGD needs one") {
  const auto layers = [](const std::string& rows) {
    const std::string layer = R"({"parameters": 80000, "forward_flops": 1000, "output": 1)" + rows + "}";
    return scenario(R"("compression": {"kind": "power_sgd"})", R"({"layers": [)" + layer + "]}");
  };
  CHECK(has(problem_of(layers("")), "say which layers are matrices: \"rows\""));
  CHECK(has(problem_of(layers(R"(, "rows": 7)")), "80000 parameters are no matrix of 7 rows"));
  const nlohmann::json row = row_of(layers(R"(, "rows": 200)"));
  CHECK(row["uncompressed_sent_bytes"].get<double>() / row["copies_sent_bytes"].get<double>() ==
        doctest::Approx(80000.0 / 600));
}

TEST_CASE("one copy is told that it compresses nothing") {
  const nlohmann::json row = row_of(compressed(R"("kind": "int8")", R"(, "data": 1)"));
  CHECK(has(row["notes"].dump(), R"(\"compression\" has no effect here: it needs several copies)"));
}
