#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

const std::string kMesh = R"("mesh": [{"axis": "tensor", "size": 8}])";
const std::string kInputs = R"("inputs": [{"name": "x", "shape": [4, 64, 512]}])";
const std::string kBlocks =
    R"("blocks": [{"parameters": [{"name": "w1", "shape": [512, 2048]}, {"name": "w2", "shape": [2048, 512]}],
  "operators": [
    {"kind": "einsum", "subscripts": "bsh,hf->bsf", "inputs": ["x", "w1"], "output": "u"},
    {"kind": "element_wise", "inputs": ["u"], "output": "v"},
    {"kind": "einsum", "subscripts": "bsf,fh->bsh", "inputs": ["v", "w2"], "output": "w"},
    {"kind": "softmax", "inputs": ["w"], "output": "y"}]}])";
const std::string kGiven =
    R"("given": [{"tensor": "w1", "layout": ["", "tensor"]}, {"tensor": "w2", "layout": ["tensor", ""]}])";

std::string layouts(const std::string& keys) {
  return fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}}, "layouts": {{{}}}}})", keys);
}

std::string with(const std::string& keys) { return layouts(kMesh + ", " + kInputs + ", " + kBlocks + ", " + keys); }

std::string of_operator(const std::string& text) {
  return layouts(kMesh + ", " + kInputs + R"(, "blocks": [{"operators": [)" + text + "]}]");
}

}  // namespace

TEST_CASE("a perceptron that is sharded by its inner side takes one all-reduce, which is explained") {
  const Folder folder;
  const nlohmann::json row = result_of(folder, with(kGiven));
  CHECK(row["mesh"] == "tensor 8");
  CHECK(row["gpus"] == 8);
  CHECK(row["strategy"] == "propagated");
  CHECK(row["collectives"] == 1);
  const nlohmann::json& inserted = row["inserted"][0];
  CHECK(inserted["tensor"] == "w");
  CHECK(inserted["from"] == "[-, -, -] partial over tensor");
  CHECK(inserted["steps"][0] == "all-reduce over tensor");
  CHECK(inserted["bytes"] == 4 * 64 * 512 * 2);
  CHECK(inserted["reason"] == "'w' sums over what tensor shards, and its terms are added");
  CHECK(row["time_ms"].get<double>() ==
        doctest::Approx(row["compute_ms"].get<double>() + row["communication_ms"].get<double>()));
  CHECK(row["parameters_gb"].get<double>() == doctest::Approx(2 * 512 * 2048 / 8 * 2 * 1e-9));
  CHECK(row["bound_ms"] == row["time_ms"]);
}

TEST_CASE("a mesh may span nodes, whichever of its axes is within them") {
  const Folder folder;
  for (const char* mesh : {R"([{"axis": "data", "size": 2}, {"axis": "tensor", "size": 8}])",
                           R"([{"axis": "tensor", "size": 8}, {"axis": "data", "size": 2}])"}) {
    const nlohmann::json row =
        result_of(folder, fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 2, "fabric": {{"kind": "fat_tree",
                                "switch": "QM9700"}}}}, "layouts": {{"mesh": {}, "training": true, {}, {}, {}}}}})",
                                      mesh, kInputs, kBlocks, kGiven));
    CHECK(row["gpus"] == 16);
    CHECK(row["collectives"] > 0);
  }
}

TEST_CASE("every key of layouts has an effect") {
  const Folder folder;
  const auto figure = [&](const std::string& keys, const char* key) {
    return result_of(folder, with(keys))[key].get<double>();
  };
  CHECK(figure(kGiven + R"(, "training": true)", "backward_ms") > 0);
  CHECK(figure(kGiven + R"(, "precision": "fp32")", "parameters_gb") == 2 * figure(kGiven, "parameters_gb"));
  const std::string sharded =
      R"("training": true, "given": [{"tensor": "x", "layout": ["", "tensor", ""]}, {"tensor": "w1", "layout": ["tensor", ""]},
         {"tensor": "w2", "layout": ["tensor", ""]}])";
  CHECK(figure(sharded + R"(, "keep_gathered": true)", "communication_ms") < figure(sharded, "communication_ms"));
  CHECK(figure(sharded + R"(, "optimizer_bytes": 4)", "parameters_gb") < figure(sharded, "parameters_gb"));
  CHECK(figure(R"("strategy": "searched")", "time_ms") <= figure(kGiven, "time_ms"));
  CHECK(figure(R"("strategy": "searched", "memory": "3MB")", "parameters_gb") <= 0.003);
}

TEST_CASE("layouts that cannot be are refused, with what to do instead") {
  const Folder folder;
  const auto problem = [&](const std::string& text) { return problem_of(folder, text); };
  const auto given = [&](const std::string& text) { return problem(with(R"("given": [)" + text + "]")); };
  CHECK(given(R"({"tensor": "w1", "layout": ["", "tensr"]})")["code"] == "unknown-axis");
  CHECK(given(R"({"tensor": "w1", "layout": ["", "tensr"]})")["hint"] == "did you mean 'tensor'?");
  CHECK(given(R"({"tensor": "w1", "layout": ["tensor", "tensor"]})")["code"] == "axis-twice");
  CHECK(given(R"({"tensor": "x", "layout": ["tensor", "", ""]})")["code"] == "does-not-divide");
  CHECK(given(R"({"tensor": "w1", "layout": ["tensor"]})")["code"] == "wrong-layout");
  CHECK(given(R"({"tensor": "w3", "layout": ["", ""]})")["hint"] == "did you mean 'w1'?");
  CHECK(given(R"({"tensor": "w1", "layout": ["", ""]}, {"tensor": "w1", "layout": ["", ""]})")["code"] == "name-twice");
  CHECK(problem(layouts(R"("mesh": [{"axis": "a", "size": 4}], )" + kInputs + ", " + kBlocks))["code"] == "wrong-mesh");
  CHECK(problem(layouts(R"("mesh": [{"axis": "a", "size": 4}, {"axis": "a", "size": 2}], )" + kInputs + ", " +
                        kBlocks))["code"] == "name-twice");
  CHECK(problem(with(R"("keep_gathered": true)"))["code"] == "no-effect");
  CHECK(problem(with(R"("optimizer_bytes": 8)"))["code"] == "no-effect");
  CHECK(problem(with(R"("measured": {})"))["code"] == "no-effect");
  CHECK(problem(with(R"("max_error": 0.1)"))["code"] == "no-effect");
  CHECK(problem(with(R"("compute": {"interference": 0.1})"))["code"] == "no-effect");
}

TEST_CASE("operators that do not fit are refused where they stand") {
  const Folder folder;
  const auto problem = [&](const std::string& text) { return problem_of(folder, of_operator(text)); };
  const nlohmann::json unknown = problem(R"({"kind": "softmax", "inputs": ["xx"], "output": "y"})");
  CHECK(unknown["code"] == "unknown-tensor");
  CHECK(unknown["hint"] == "did you mean 'x'?");
  CHECK(unknown["pointer"] == "/layouts/blocks/0/operators/0");
  CHECK(problem(R"({"kind": "softmax", "inputs": ["x"], "output": "x"})")["code"] == "name-twice");
  CHECK(problem(R"({"kind": "reshape", "inputs": ["x"], "output": "y", "shape": [7]})")["code"] == "wrong-shape");
  CHECK(problem(R"({"kind": "softmx", "inputs": ["x"], "output": "y"})")["hint"] == "did you mean 'softmax'?");
  const std::string carried = layouts(kMesh + ", " + kInputs + R"(, "blocks": [{"carries": [{"from": "y", "to": "x"}],
              "operators": [{"kind": "softmax", "inputs": ["x"], "output": "y"}]}])");
  CHECK(problem_of(folder, carried)["code"] == "no-effect");
}

TEST_CASE("axes of one device shard nothing where they are named, and tensors beyond 2^50 elements are refused") {
  const Folder folder;
  const auto text = [](const char* shape, const char* given) {
    return layouts(fmt::format(R"("mesh": [{{"axis": "a", "size": 8}}, {{"axis": "b", "size": 1}}],
      "inputs": [{{"name": "x", "shape": {}}}],
      "blocks": [{{"operators": [{{"kind": "element_wise", "inputs": ["x"], "output": "y"}}]}}]{})",
                               shape, given));
  };
  const char* const named = R"(, "given": [{"tensor": "x", "layout": ["b", ""]}])";
  CHECK(result_of(folder, text("[512, 1024]", named))["time_ms"] ==
        result_of(folder, text("[512, 1024]", ""))["time_ms"]);
  const Ran large = athanor_run({"run", folder.write("l.json", text("[65536, 65536, 65536, 65536]", ""))});
  CHECK(large.code != 0);
  CHECK(large.says("more than 2^50 elements"));
}
