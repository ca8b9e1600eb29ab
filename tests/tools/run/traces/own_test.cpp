#include <doctest/doctest.h>

#include "models/traces/own/trace_json.hpp"
#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

std::string written(const Workload& workload) {
  std::string text;
  write_trace_json(workload, [&](std::string_view part) { text += part; });
  return text;
}

ReadTrace read_text(const std::string& text) {
  const Folder folder;
  return read({folder.write("t.json", text)});
}

std::string with(const std::string& part, const std::string& by) {
  std::string text = read_text_file(example("stages.json"));
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

}  // namespace

TEST_CASE("the example of our own format takes as long as its closed form") {
  const ReadTrace trace = read({example("stages.json")});
  REQUIRE(trace.problems.empty());
  CHECK(trace.trace.format == TraceFormat::athanor);
  CHECK(trace.trace.ranks == 4);
  // Stage 1 begins after the first forward pass; stage 0's last backward pass follows stage 1's second.
  for (const Time message : {0_us, 50_us}) {
    for (const Time call : {0_us, 900_us}) {
      CHECK(run_with(trace.workload(), call, message) == 400_us + message + 1200_us * 2 + message + 800_us + call);
    }
  }
}

TEST_CASE("every trace that is read can be written, and read again as the same") {
  TraceOptions options;
  options.unit = 1_us;
  options.ranks = 8;
  options.model_ranks = 4;
  for (const char* name : {"stages.json", "pipeline.*.json", "ddp.*.json", "fsdp.json.gz", "layers.astra.txt",
                           "moe.simai.txt", "ring.goal"}) {
    CAPTURE(name);
    const ReadTrace first = read({example(name)}, options);
    REQUIRE(first.problems.empty());
    const ReadTrace second = read_text(written(first.workload()));
    CHECK(second.problems == "");
    CHECK(second.trace.ranks == first.trace.ranks);
    CHECK(written(second.workload()) == written(first.workload()));
    CHECK(run_with(second.workload(), 30_us, 7_us) == run_with(first.workload(), 30_us, 7_us));
  }
}

TEST_CASE("what is wrong with our own format is told with line and pointer") {
  CHECK(read_text(with("\"athanor_trace\": 1", "\"athanor_trace\": 2")).says("t.json:2:19"));
  CHECK(read_text(with("\"time\": \"400us\"", "\"time\": \"400\"")).says("(at /workers/0/operations/0/time)"));
  CHECK(read_text(with("\"time\": \"400us\"", "\"tiem\": \"400us\"")).says("did you mean 'time'?"));
  CHECK(read_text(with("\"channel\": \"activations\"", "\"channel\": \"activation\""))
            .says("there is no channel 'activation'"));
  CHECK(read_text(with("[[0, 2], [1, 3]]", "[[0, 2], [1, 1]]"))
            .says("endpoint 1 is named twice (at /channels/0/pairs/1)"));
  CHECK(read_text(with("[[0, 2], [1, 3]]", "[[0, 2], [2, 3]]")).problems == "");  // passed on from 0 to 2 to 3
  CHECK(read_text(with("\"after\": [\"f0\"]", "\"after\": [\"zz\"]")).says("no operation above has this id"));
  CHECK(read_text(with("\"after\": [\"f0\"]", "\"after\": [99]")).says("waits for node 99, which is not in the file"));
  CHECK(read_text(with("\"id\": \"f1\"", "\"id\": \"f0\"")).says("another operation of this worker has the id 'f0'"));
  CHECK(read_text(with("\"stream\": \"messages\"", "\"stream\": 7")).says("there is no stream 7"));
  CHECK(read_text(with("\"workers\": [0]", "\"workers\": [5]")).says("'gradients of stage 0' has worker 5"));
  CHECK(read_text(with("[[0, 2], [1, 3]]", "[[0, 2], [1]]")).says("(at /channels/0/pairs/1)"));
  CHECK(read_text(with("\"64MiB\"", "\"3B\"")).says("it is no whole number of bfloat16 elements"));
  CHECK(read_text(with("\"collective\": \"all_reduce\"", "\"collective\": \"all_red\"")).says("all_reduce"));
}

TEST_CASE("what a call says without effect, and ranks that its groups do not have, are told") {
  const std::string call = "\"collective\": \"all_reduce\"";
  CHECK(read_text(with(call, "\"collective\": \"barrier\"")).says("a barrier carries no payload"));
  CHECK(read_text(with(call, call + ", \"root\": 1")).says("all_reduce has no root"));
  CHECK(read_text(with(", \"size\": \"64MiB\"", "")).says("the key 'size' is missing"));
  CHECK(read_text(with(call, "\"collective\": \"all_to_all\", \"imbalance\": 3"))
            .says("the busiest of 2 ranks gets at most 2 times the average"));
  CHECK(read_text(with("[[0, 2], [1, 3]]", "[[0, 2]]")).says("has 1 pairs, and worker 0 stands for 2 ranks"));
  CHECK(read_text(with(call, call + ", \"imbalance\": 2")).says("only of all-to-all the busiest rank"));
  CHECK(read_text(with("\"name\": \"stage 0\", \"ranks\": 2", "\"name\": \"stage 0\", \"ranks\": 3"))
            .says("the groups of 'gradients of stage 0' have 2 endpoints, and its workers stand for 3 ranks"));
  CHECK(read_text(with("\"name\": \"stage 0\", \"ranks\": 2", "\"name\": \"stage 0\"")).problems == "");
}

TEST_CASE("a file that is of no known format is told") {
  const Folder folder;
  CHECK(read({folder.write("t.txt", "hello\n")}).says("this is no trace whose format is recognised"));
  CHECK(read({folder.write("t.json", "{}")}).says("this is no trace whose format is recognised"));
  CHECK_THROWS_AS(read({folder.path("nothing.txt")}), FileError);
  CHECK(read({example("ring.goal"), example("ring.goal")}).says("is one file, and there are 2"));
  TraceOptions options;
  options.communication = TraceOptions::Communication::measured;
  CHECK(read({example("ring.goal")}, options).says("a trace of format goal holds no measured communication"));
}

TEST_CASE("endpoints, workers and streams of our own format neither wrap nor stand twice") {
  CHECK(read_text(with("[[0, 2], [1, 3]]", "[[0, 4294967295], [1, 3]]")).says("4294967295 is out of range"));
  CHECK(read_text(with("\"workers\": [0]", "\"workers\": [0, 0]")).says("worker 0 is named twice"));
}
