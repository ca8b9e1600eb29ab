#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/traces/chakra/node.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::test;
using namespace athanor::literals;

TEST_CASE("export writes any trace as our own JSON, says what was dropped, and takes the keys of a scenario's trace") {
  const Folder folder;
  const std::string file = folder.path("trace.json");
  const Ran ran = athanor_run({"export", "trace", example("fsdp.json.gz"), "-o", file});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("kineto of 8 ranks: 1 workers, 1 communicators, 0 channels"));
  CHECK(ran.says("note: one of 8 ranks was recorded (rank 0)"));
  CHECK(read({file}).problems.empty());
  const Ran astra = athanor_run({"export", "trace", example("layers.astra.txt"), "--set", "/unit=1us", "--set",
                                 "/ranks=8", "--set", "/model_ranks=4", "--quiet"});
  CHECK(astra.code == 0);
  CHECK(astra.err.empty());
  CHECK(astra.json()["workers"][0]["ranks"] == 8);
}

TEST_CASE("what is wrong with an export of a trace ends as other mistakes do") {
  CHECK(athanor_run({"export", "trace", "nothing.json"}).code == 3);
  CHECK(athanor_run({"export", "trace", "nothing.json"}).says("cannot read nothing.json"));
  CHECK(athanor_run({"export", "trace", example("layers.astra.txt")}).says("neither the unit of its times"));
  CHECK(athanor_run({"export", "trace", example("ring.goal"), "--set", "/eagr=1B"}).says("did you mean 'eager'?"));
  CHECK(athanor_run({"export", "trace", example("ring.goal"), "--ranks", "4"}).code == 2);
  CHECK(athanor_run({"export", "trace", example("ring.goal"), example("ring.bin")}).code == 2);
}

namespace {

/// On eight ranks, in two stages. Nothing but calls and computations: neither stragglers nor computations that
/// communication slows down.
std::string step(const std::string& parallel = R"("data": 2)") {
  return R"({"cluster": {"node": "DGX-A100", "nodes": 1}, "training": {"model": "MPT-1B", "global_batch": 8,
             "sequence": 2048, "compute": {"overhead": "4us"}, "parallel": {"tensor": 2, "pipeline": 2, )" +
         parallel + "}}}";
}

double breakdown(const nlohmann::json& row, const char* part) { return row["breakdown"][part].get<double>(); }

}  // namespace

TEST_CASE("a step that was exported takes as long as before when it is replayed") {
  const Folder folder;
  const std::string file = folder.path("step.json");
  const Ran ran = athanor_run({"export", "trace", folder.write("s.json", step()), "-o", file});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("MPT-1B on 8 ranks: 2 workers"));
  const nlohmann::json row = result_of(folder, step());
  const nlohmann::json replayed =
      result_of(folder, R"({"cluster": {"node": "DGX-A100", "nodes": 1}, "trace": {"files": ")" + file + R"("}})");
  CHECK(replayed["step_time_s"] == row["step_time_s"]);
  CHECK(breakdown(replayed, "waiting") == doctest::Approx(breakdown(row, "bubble")));
}

TEST_CASE("traces of Chakra do what the step does, rank by rank") {
  if (!reads_chakra_protobuf()) { return; }
  const Folder folder;
  for (const char* parallel : {R"("data": 2)", R"("data": 2, "sharding": "parameters")", R"("context": 2)",
                               R"("data": 2, "schedule": "interleaved", "virtual_stages": 2)"}) {
    CAPTURE(parallel);
    const std::string scenario = folder.write("s.json", step(parallel));
    const std::string own = folder.path("step.json");
    REQUIRE(athanor_run({"export", "trace", scenario, "-o", own}).code == 0);
    const Ran ran = athanor_run({"export", "trace", scenario, "--format", "chakra", "-o", folder.path("step")});
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    const ReadTrace traces = read({folder.path("step.*.et")});
    CHECK(traces.problems.empty());
    CHECK(traces.trace.ranks == 8);
    // All calls and messages take as long: what is left are dependencies, and times in whole microseconds.
    const ReadTrace whole = read({own});
    const double expected = seconds(run_with(whole.workload(), 100_us, 10_us));
    CHECK(seconds(run_with(traces.workload(), 100_us, 10_us)) == doctest::Approx(expected).epsilon(1e-4));
    TraceOptions options;
    options.groups = folder.path("step.comm_group.json");
    CHECK(read({folder.path("step.*.et")}, options).problems.empty());
  }
}

TEST_CASE("what traces of Chakra cannot say is refused, and older files of more ranks, too") {
  const Folder folder;
  const auto refusal = [&](const std::string& parallel) {
    const std::string scenario = folder.write("s.json", step(parallel));
    const Ran ran = athanor_run({"export", "trace", scenario, "--format", "chakra", "-o", folder.path("a")});
    return ran.code == 0 ? "" : ran.err;
  };
  CHECK(refusal(R"("data": 2, "schedule": "zb_v")").find("in another order than these are received") !=
        std::string::npos);
  // Experts, of which there are none, would have other ranks in this order.
  CHECK(refusal(R"("data": 2, "order": "tp-cp-pp-ep-dp")") == "");
  folder.write("a.8.et", "");
  CHECK(refusal(R"("data": 2)").find("of a trace of more ranks") != std::string::npos);
  const std::string one = folder.write("s.json", step());
  CHECK(athanor_run({"export", "trace", one, "--format", "chakra", "-o", "out/"}).says("begins no names of files"));
  CHECK(athanor_run({"export", "trace", one, "--case", "a"}).says("has no \"cases\"; leave it out"));
}

namespace {

/// Of a node whose collectives cost no software, so that rings take what their messages take.
constexpr const char* kIdealNode = R"({"cluster": {"node": "DGX-A100", "nodes": 1}, "profile": "ideal", )";

std::string ideal_step(const std::string& parallel, const std::string& model = R"("MPT-1B")") {
  return kIdealNode + fmt::format(R"("training": {{"model": {}, "global_batch": 8, "sequence": 2048,
      "compute": {{"overhead": "4us"}}, "parallel": {{{}}}}}}})",
                                  model, parallel);
}

/// The step's time, and that of the trace which is written of it in this format, in seconds. `keys`: more of "trace".
struct ThereAndBack {
  double step = 0;
  double trace = 0;
};

ThereAndBack there_and_back(const std::string& scenario, const char* format, const std::string& keys = "") {
  const Folder folder;
  const std::string file = folder.path(std::string("step.") + format);
  const Ran ran = athanor_run({"export", "trace", folder.write("s.json", scenario), "--format", format, "-o", file});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const std::string trace = kIdealNode + fmt::format(R"("trace": {{"files": "{}"{}}}}})", file, keys);
  return {result_of(folder, scenario)["step_time_s"].get<double>(),
          result_of(folder, trace)["step_time_s"].get<double>()};
}

std::string export_refusal(const std::string& scenario, const char* format) {
  const Folder folder;
  const Ran ran = athanor_run({"export", "trace", folder.write("s.json", scenario), "--format", format});
  return ran.code == 0 ? "" : ran.err;
}

}  // namespace

// Rings of messages over an ideal node are what the calls of the step are; what is left are whole nanoseconds.
TEST_CASE("GOAL has every message of the step, and takes as long when it is read back") {
  for (const char* parallel :
       {R"("tensor": 4, "data": 2)", R"("data": 8, "sharding": "parameters")", R"("context": 4, "data": 2)",
        R"("data": 4, "pipeline": 2, "schedule": "zb_v")", R"("tensor": 2, "pipeline": 2, "data": 2)",
        R"("data": 4, "pipeline": 2, "schedule": "interleaved", "virtual_stages": 2)"}) {
    CAPTURE(parallel);
    const ThereAndBack times = there_and_back(ideal_step(parallel), "goal");
    CHECK(times.trace == doctest::Approx(times.step).epsilon(1e-7));
  }
  const Folder folder;
  const std::string one = folder.write("s.json", ideal_step(R"("data": 8)"));
  CHECK(athanor_run({"export", "trace", one, "--format", "goal", "-o", folder.path("a.goal")})
            .says("calls are written as messages: all_reduce by ring"));
}

TEST_CASE("texts of layers say what all ranks do alike, and take as long when they are read back") {
  const auto astra = [](const std::string& parallel, int tensor) {
    return there_and_back(ideal_step(parallel), "astra",
                          fmt::format(R"(, "unit": "1ns", "ranks": 8, "model_ranks": {})", tensor));
  };
  for (const auto& [parallel, tensor] : {std::pair{R"("data": 8)", 1},
                                         {R"("tensor": 8)", 8},
                                         {R"("tensor": 2, "data": 4, "overlap_gradients": true)", 2}}) {
    CAPTURE(parallel);
    const ThereAndBack times = astra(parallel, tensor);
    CHECK(times.trace == doctest::Approx(times.step).epsilon(1e-7));
  }
  const ThereAndBack data = there_and_back(ideal_step(R"("data": 8)"), "simai");
  CHECK(data.trace == doctest::Approx(data.step).epsilon(1e-7));
  // SimAI waits for calls of input gradients beside which Megatron computes those of weights.
  const ThereAndBack tensor = there_and_back(ideal_step(R"("tensor": 2, "data": 4)"), "simai");
  CHECK(tensor.trace > tensor.step);
  CHECK(tensor.trace < 1.05 * tensor.step);
  const ThereAndBack experts =
      there_and_back(ideal_step(R"("data": 8, "expert": 4)", R"({"preset": "Mixtral-8x7B", "layers": 2})"), "simai");
  CHECK(experts.trace == doctest::Approx(experts.step).epsilon(0.005));
}

TEST_CASE("what a text of layers cannot say is refused") {
  const auto holds = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(holds(export_refusal(ideal_step(R"("data": 4, "pipeline": 2)"), "simai"), "here are 2 that differ"));
  CHECK(holds(export_refusal(ideal_step(R"("data": 8, "sharding": "parameters")"), "astra"),
              "waits for a call of data-parallel ranks"));
  CHECK(holds(export_refusal(ideal_step(R"("context": 8)"), "astra"), "have no all_gather of"));
  CHECK(holds(
      export_refusal(ideal_step(R"("data": 8, "expert": 4)", R"({"preset": "Mixtral-8x7B", "layers": 2})"), "astra"),
      "has no groups of experts"));
}

TEST_CASE("numbers of 4 bits are written so that they are read again") {
  const Folder folder;
  const std::string scenario = folder.write("s.json", R"({"cluster": {"node": "DGX-A100", "nodes": 1}, "training": {
      "model": {"layers": 2, "hidden": 100, "attention": {"heads": 4}, "ffn": 200, "vocabulary": 1000},
      "global_batch": 8, "sequence": 128, "parallel": {"sharding": "parameters",
      "lora": {"rank": 8, "base_precision": "nf4"}}}})");
  const std::string file = folder.path("step.json");
  REQUIRE(athanor_run({"export", "trace", scenario, "-o", file}).code == 0);
  CHECK(read({file}).problems.empty());
}

TEST_CASE("what cannot be written of a scenario is refused") {
  const Folder folder;
  const std::string one = folder.write("s.json", step());
  const std::string two = folder.write(
      "two.json", R"({"cluster": {"node": "DGX-A100", "nodes": 1}, "training": {"model": "MPT-1B", "global_batch": 8,
      "sequence": 2048}, "cases": [{"name": "a"}, {"name": "b", "training": {"parallel": {"tensor": 2}}}]})");
  const std::string other = folder.write(
      "c.json",
      R"({"cluster": {"node": "DGX-A100", "nodes": 1}, "collective": {"kind": "all_reduce", "sizes": "1MiB"}})");
  CHECK(athanor_run({"export", "trace", one, "--format", "chakra"}).says("say -o PREFIX"));
  CHECK(athanor_run({"export", "trace", one, "--format", "goul"}).says("choose athanor, chakra, goal, astra or simai"));
  CHECK(athanor_run({"export", "trace", two}).says("choose by --case: 'a', 'b'"));
  CHECK(athanor_run({"export", "trace", two, "--case", "b", "-q"}).code == 0);
  CHECK(athanor_run({"export", "trace", other}).says("this is neither"));
  CHECK(athanor_run({"export", "trace", example("ring.goal"), "--case", "b"}).says("--case goes with a scenario"));
}
