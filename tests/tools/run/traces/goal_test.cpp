#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

ReadTrace goal(const std::string& text, const TraceOptions& options = {}) {
  const Folder folder;
  return read({folder.write("p.goal", text)}, options);
}

/// Rank 0 with these statements, rank 1 with those.
std::string two(const std::string& first, const std::string& second) {
  return "num_ranks 2\nrank 0 {\n" + first + "\n}\nrank 1 {\n" + second + "\n}\n";
}

}  // namespace

TEST_CASE("text and binary hold the same program, and a ring takes as long as its steps") {
  for (const char* file : {"ring.goal", "ring.bin"}) {
    CAPTURE(file);
    const ReadTrace trace = read({example(file)});
    REQUIRE(trace.problems.empty());
    CHECK(trace.trace.ranks == 4);
    for (const Time message : {0_us, 1_us, 10_us}) {
      CHECK(run_with(trace.workload(), 0_us, message) == (message + 2_us) * 3);
    }
  }
}

TEST_CASE("a CPU does one calc at a time; messages run side by side") {
  CHECK(run_with(goal(two("calc 100\ncalc 200 cpu 0\ncalc 300 cpu 1", "")).workload(), 0_us) == 300_ns);
  CHECK(run_with(goal(two("calc 100\ncalc 200\ncalc 400", "")).workload(), 0_us) == 700_ns);
  const std::string sends = "send 8b to 1 tag 1\nsend 8b to 1 tag 2\nsend 8b to 1 tag 3";
  const std::string receives = "recv 8b from 0 tag 3\nrecv 8b from 0 tag 1\nrecv 8b from 0 tag 2";
  CHECK(run_with(goal(two(sends, receives)).workload(), 0_us, 5_us) == 5_us);
}

TEST_CASE("requires waits for an end, irequires for a beginning") {
  const std::string three = "a: calc 100\nb: calc 200 cpu 1\nc: calc 400 cpu 2\n";
  CHECK(run_with(goal(two(three + "b requires a\nc requires b", "")).workload(), 0_us) == 700_ns);
  CHECK(run_with(goal(two(three + "b requires a\nc irequires b", "")).workload(), 0_us) == 500_ns);
  CHECK(goal(two(three + "c irequires b", "")).notes("1 irequires of a calc"));
}

TEST_CASE("comments, blocks in any order, numbers with glued units and labels that come later are accepted") {
  const ReadTrace trace = goal(
      "/* a\n comment */\nnum_ranks 2\n// another\nrank 1 {\nb requires a // behind\n a:recv 16b from 0\n\tb: calc "
      "5\n}\n"
      "rank 0 {\nsend 16 b to 1 tag 0 cpu 0 nic 3\n}");
  REQUIRE(trace.problems.empty());
  CHECK(trace.workload().workers[1].operations.size() == 2);
}

TEST_CASE("a send up to the limit leaves before its receiver is there, a longer one waits for it") {
  const std::string late = "a: calc 1000000\nb: recv 100000b from 0\nb requires a";
  const std::string text = two("a: send 100000b to 1\nb: calc 10\nb requires a", late);
  TraceOptions options;
  for (const Bytes limit : {99'999_B, 100'000_B}) {
    options.eager = limit;
    const ReadTrace trace = goal(text, options);
    REQUIRE(trace.problems.empty());
    const Workload& workload = trace.workload();
    CHECK(workload.channels[workload.workers[0].operations[0].subject].eager == (limit == 100'000_B));
    CHECK(run_with(trace.workload(), 0_us, 50_us) == (limit == 100'000_B ? 1_ms : 1_ms + 50_us + 10_ns));
  }
}

TEST_CASE("receives from anyone are taken where one sender alone is possible") {
  const std::string sends = "send 8b to 1 tag 4";
  CHECK(goal(two(sends, "recv 8b from -1 tag 4")).problems.empty());
  CHECK(goal(two(sends, "recv 8b from 0 tag -1")).problems.empty());
  CHECK(goal(two(sends + "\nsend 8b to 1 tag 5", "recv 8b from 0 tag -1\nrecv 8b from 0 tag -1"))
            .says("rank 1: operation 0 receives from anyone, or any tag, and not just one sender and tag fits (and 1 "
                  "more"));
}

TEST_CASE("what is wrong with a program is told with its line") {
  CHECK(goal(two("send 8b to 5", "")).says("p.goal:3:1: a rank is a whole number from 0 to 1, and here is '5'"));
  CHECK(goal(two("send 8b to 1 tag 4294967297", "")).says("p.goal:3:1: a tag is a whole number"));
  CHECK(goal(two("calc 5 cpu 300", "")).says("a CPU is a whole number from 0 to 255"));
  CHECK(goal(two("send 8 to 1", "")).says("p.goal:3:1: 'b' is expected, and here is 'to'"));
  CHECK(goal(two("a: calc 5\na: calc 6", "")).says("p.goal:4:1: the label 'a' stands twice"));
  CHECK(goal(two("a: calc 5\na requires b", "")).says("this rank has no label 'b'"));
  CHECK(goal(two("wait 5", "")).says("behind 'wait' stands ':', requires or irequires"));
  CHECK(goal("num_ranks 0\nrank 0 {\n}\n").says("a program has at least one rank"));
  CHECK(goal("num_ranks 3\nrank 0 {\n}\nrank 2 {\n}\n").says("rank 1 of 3 is missing"));
  CHECK(goal("num_ranks 1\nrank 0 {\ncalc 5\n").says("the file ends within rank 0"));
  CHECK(goal("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n").says("rank 0 stands twice"));
  CHECK(goal(two("a: calc 5\nb: calc 5\na requires b\nb requires a", "")).says("rank 0: nodes wait for each other"));
  CHECK(goal(two("send 8b to 0", "")).says("is a message of a rank to itself"));
  CHECK(goal(two("send 8b to 1", "")).says("sends a message that nobody receives"));
  CHECK(goal(two("send 8b to 1", "recv 9b from 0")).says("receives 9 B"));
}

TEST_CASE("a binary program that is cut off anywhere is told, and never read beyond its end") {
  const std::string whole = read_text_file(example("ring.bin"));
  const Folder folder;
  for (std::size_t length = 8; length < whole.size(); length += 7) {
    CAPTURE(length);
    CHECK(read({folder.write("p.bin", whole.substr(0, length))}).says("p.bin: rank "));
  }
}

TEST_CASE("ranks have to fit into their file, and chains of irequires do not multiply") {
  CHECK(goal("num_ranks 1000000\nrank 0 {\n}\n").says("p.goal:1:1: 1000000 ranks do not fit into a file of 29 bytes"));
  std::string chain = "a0: calc 1\n";
  for (int i = 1; i < 6000; ++i) { chain += fmt::format("a{}: calc 1\na{} irequires a{}\n", i, i, i - 1); }
  CHECK(goal("num_ranks 1\nrank 0 {\n" + chain + "}\n")
            .says("chains of irequires have more than 10000000 steps together"));
}
