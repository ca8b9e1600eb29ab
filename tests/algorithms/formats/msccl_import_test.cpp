#include "algorithms/formats/msccl_import.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "algorithms/proof/prove.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/test_files.hpp"

using namespace athanor;

namespace {

std::string example(const std::string& name) {
  return read_text_file(fmt::format("{}/algorithms/{}.xml", ATHANOR_TEST_SCENARIOS, name));
}

/// `text` with the n-th `from` (counted from 0) replaced.
std::string with(std::string text, const std::string& from, const std::string& to, int n = 0) {
  std::size_t at = text.find(from);
  for (; n > 0 && at != std::string::npos; --n) { at = text.find(from, at + 1); }
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Problem problem_of(const std::string& text) {
  try {
    import_msccl(text, "test.xml");
  } catch (const ScenarioError& error) { return error.problems()[0]; }
  return {};
}

int line_of(const std::string& text, const std::string& word, int n = 0) {
  std::size_t at = text.find(word);
  for (; n > 0; --n) { at = text.find(word, at + 1); }
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

TEST_CASE("the examples are what they say, and stay proven at every payload and in several loops") {
  struct Expected {
    const char* name;
    CollectiveKind kind;
    std::uint32_t chunks;
    std::uint32_t steps;
    std::uint32_t slots;
  };
  for (const Expected& expected : {Expected{"allreduce_ring_4", CollectiveKind::all_reduce, 4, 6, 2},
                                   Expected{"allreduce_allpairs_4", CollectiveKind::all_reduce, 4, 2, 1},
                                   Expected{"allreduce_hierarchical_2x2", CollectiveKind::all_reduce, 4, 4, 1},
                                   Expected{"reduce_scratch_4", CollectiveKind::reduce, 1, 1, 1}}) {
    CAPTURE(expected.name);
    const ImportedAlgorithm algorithm = import_msccl(example(expected.name), expected.name);
    CHECK(algorithm.document().kind == expected.kind);
    CHECK(algorithm.ranks() == 4);
    CHECK(algorithm.document().chunks == expected.chunks);
    CHECK(algorithm.steps() == expected.steps);
    CHECK(algorithm.least_slots() == expected.slots);
    for (const std::int64_t chunk : {0, 1, 2, 5, 16}) {
      for (const std::int64_t piece : {1, 2, 3, 1000}) {
        const Collective collective{expected.kind, 4, algorithm.granule() * chunk, 0, algorithm.document().in_place};
        CHECK_FALSE(algorithm.refuses(collective));
        const auto schedule = algorithm.make(collective, Elements{piece});
        const auto violation = prove(*schedule, collective, {.equal_counts = true});
        if (violation) { FAIL_CHECK(explain(schedule->agent_count(), *violation)); }
      }
    }
  }
}

TEST_CASE("the ranks of a ring have one program, so that one of them can stand for all") {
  const ImportedAlgorithm algorithm = import_msccl(example("allreduce_ring_4"), "ring");
  const auto schedule = algorithm.make({CollectiveKind::all_reduce, 4, Elements{4}, 0, true}, Elements::max());
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(schedule->lane(AgentId{rank}, LaneId{0}).program == ProgramId{0});
  }
}

TEST_CASE("an imported algorithm refuses other collectives, ranks, roots and payloads") {
  const ImportedAlgorithm reduce = import_msccl(example("reduce_scratch_4"), "r");
  const auto refusal = [&](const Collective& collective) { return reduce.refuses(collective).value_or(""); };
  CHECK(refusal({CollectiveKind::reduce, 4, Elements{7}, 0, false}).empty());
  CHECK(refusal({CollectiveKind::all_reduce, 4, Elements{7}, 0, false}) == "it does reduce, not all_reduce");
  CHECK(refusal({CollectiveKind::reduce, 8, Elements{7}, 0, false}) == "it is for 4 ranks, not 8");
  CHECK(refusal({CollectiveKind::reduce, 4, Elements{7}, 1, false}) == "its root is 0, not 1");
  const ImportedAlgorithm ring = import_msccl(example("allreduce_ring_4"), "r");
  CHECK(ring.refuses({CollectiveKind::all_reduce, 4, Elements{7}, 0, true}).value_or("").find("4 equal chunks") !=
        std::string::npos);
}

TEST_CASE("a wrong algorithm is refused with rank, lane and step, and the line of the step") {
  const std::string ring = example("allreduce_ring_4");
  const std::string pairs = example("allreduce_allpairs_4");
  const std::string reduce = example("reduce_scratch_4");
  struct Wrong {
    std::string text;
    std::string says;
    int line = 0;  ///< 0: any
  };
  const std::vector<Wrong> all = {
      {with(ring, R"(type="rrs" srcbuf="i" srcoff="3")", R"(type="rrs" srcbuf="i" srcoff="2")"), "result at rank"},
      {with(ring, R"(type="rrs")", R"(type="rcs" dstbuf="i" dstoff="0")"), "result at rank"},
      {with(pairs, R"(depid="0" deps="3")", R"(depid="-1" deps="-1")"), "race at rank 0, lane", 0},
      {with(reduce, R"(depid="2" deps="0")", R"(depid="-1" deps="-1")"), "race at rank 0, lane", 0},
      {with(pairs, R"(type="cpy" srcbuf="i")", R"(type="cpy" srcbuf="s")"), "race at rank 0"},
      {with(reduce, R"(depid="-1" deps="-1")", R"(depid="3" deps="4")"), "deadlock at rank 0",
       line_of(reduce, R"(depid="-1" deps="-1")")},
      {with(ring, R"(cnt="1")", R"(cnt="2")"), "matching at rank 1, lane 0, loop 0, step 1",
       line_of(ring, R"(type="rrs")", 2)},
      {with(reduce, R"(type="cpy" srcbuf="i" srcoff="0" dstbuf="o")", R"(type="cpy" srcbuf="s" srcoff="0" dstbuf="i")"),
       "stores into the input", line_of(reduce, R"(type="cpy")")}};
  for (const Wrong& wrong : all) {
    const Problem problem = problem_of(wrong.text);
    CAPTURE(problem.message);
    CHECK(problem.code == "wrong-algorithm");
    CHECK(problem.message.find(wrong.says) != std::string::npos);
    CHECK(problem.place.file == "test.xml");
    CHECK(problem.place.line > 0);
    if (wrong.line > 0) { CHECK(problem.place.line == wrong.line); }
  }
}

TEST_CASE("any step lost from an example is noticed") {
  for (const char* name : {"allreduce_ring_4", "allreduce_allpairs_4", "allreduce_hierarchical_2x2"}) {
    const std::string text = example(name);
    for (int n = 0; n < 28; ++n) {
      CAPTURE(name);
      CAPTURE(n);
      std::size_t at = text.find("type=\"");
      for (int k = 0; k < n; ++k) { at = text.find("type=\"", at + 1); }
      const std::size_t end = text.find('"', at + 6);
      std::string damaged = text;
      damaged.replace(at, end - at + 1, "type=\"nop\"");
      CHECK_FALSE(problem_of(damaged).code.empty());
    }
  }
}

TEST_CASE("a file that is no algorithm is refused with the line and the element") {
  const std::string ring = example("allreduce_ring_4");
  struct Bad {
    std::string text;
    std::string code;
    std::string says;
    int line;
  };
  const int first_step = line_of(ring, "<step");
  const std::vector<Bad> all = {
      {"", "not-xml", "no XML", 1},
      {"<algo>\n<gpu>\n</algo>", "not-xml", "no XML", 3},
      {"<graph/>", "not-msccl", "<algo>", 1},
      {with(ring, "coll=\"allreduce\"", "coll=\"custom\""), "unknown-collective", "custom", 2},
      {with(ring, "nchunksperloop=\"4\" ", ""), "missing-attribute", "nchunksperloop", 2},
      {with(ring, "ngpus=\"4\"", "ngpus=\"3\""), "no-such-peer", "recv=\"3\"", first_step - 1},
      {with(ring, "ngpus=\"4\"", "ngpus=\"5\""), "wrong-count", "ngpus is 5, but there are 4 gpus", 2},
      {with(ring, "ngpus=\"4\"", "ngpus=\"-4\""), "wrong-value", "ngpus=\"-4\"", 2},
      {with(ring, "inplace=\"1\"", "inplace=\"0\""), "wrong-value", "both 0", 2},
      {with(ring, "coll=\"allreduce\"", "coll=\"alltoall\""), "wrong-value", "cannot be done in place", 2},
      {with(ring, "<gpu id=\"1\"", "<gpu id=\"2\""), "wrong-order", "where 1 comes next",
       line_of(ring, "<gpu id=\"1\"")},
      {with(ring, "<step s=\"1\"", "<step s=\"7\""), "wrong-order", "where 1 comes next", first_step + 1},
      {with(ring, "<step ", "<op "), "unknown-element", "expected <step>", first_step},
      {with(ring, "type=\"s\"", "type=\"x\""), "unknown-step", "type=\"x\"", first_step},
      {with(ring, "type=\"s\"", "type=\"ra\""), "unknown-step", "type=\"ra\"", first_step},
      {with(ring, "srcbuf=\"i\"", "srcbuf=\"z\""), "wrong-value", "none of i, o and s", first_step},
      {with(ring, "srcoff=\"0\"", "srcoff=\"4\""), "outside-buffer", "reach beyond buffer i, which has 4", first_step},
      {with(ring, "srcoff=\"0\"", "srcoff=\"many\""), "wrong-value", "many", first_step},
      {with(ring, "cnt=\"1\"", "cnt=\"0\""), "wrong-value", "cnt=\"0\"", first_step},
      {with(ring, "depid=\"-1\" deps=\"-1\"", "depid=\"2\" deps=\"0\""), "no-such-step", "thread block 2", first_step},
      {with(ring, "send=\"1\"", "send=\"-1\""), "no-peer", "send=\"-1\"", first_step},
      {with(ring, "recv=\"3\"", "recv=\"-1\""), "no-peer", "recv=\"-1\"", first_step + 1},
      {with(ring, "send=\"1\"", "send=\"0\""), "no-such-peer", "not another one", first_step - 1},
      {with(ring, "chan=\"0\"", "chan=\"1\""), "no-other-end", "on channel 1", first_step - 1},
      {with(ring, "coll=\"allreduce\"", "coll=\"broadcast\" root=\"4\""), "no-such-root", "root 4", 2}};
  for (const Bad& bad : all) {
    const Problem problem = problem_of(bad.text);
    CAPTURE(bad.code);
    CAPTURE(problem.message);
    CHECK(problem.code == bad.code);
    CHECK(problem.message.find(bad.says) != std::string::npos);
    CHECK(problem.place.line == bad.line);
  }
}

TEST_CASE("two thread blocks of a gpu may not send to one peer on one channel") {
  const std::string pairs = example("allreduce_allpairs_4");
  const Problem problem = problem_of(with(pairs, "send=\"2\"", "send=\"1\""));
  CHECK(problem.code == "joined-twice");
  CHECK(problem.message.find("both send to gpu 1 on channel 0") != std::string::npos);
}

TEST_CASE("gpus have to divide the chunks of collectives in parts") {
  const std::string text =
      R"(<algo name="x" nchannels="1" nchunksperloop="3" ngpus="2" coll="allgather"><gpu id="0"/><gpu id="1"/></algo>)";
  CHECK(problem_of(text).message.find("2 gpus do not divide") != std::string::npos);
}

TEST_CASE("a step that completes only some of its chunks is refused, since an average would not know which") {
  const std::string text = R"(<algo name="x" nchannels="1" nchunksperloop="2" ngpus="2" coll="reduce">
<gpu id="0" s_chunks="4"><tb id="0" send="-1" recv="1">
<step s="0" type="r" dstbuf="s" dstoff="0" cnt="1"/>
<step s="1" type="r" dstbuf="s" dstoff="1" cnt="1"/>
<step s="2" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="2"/>
<step s="3" type="re" srcbuf="s" srcoff="1" dstbuf="o" dstoff="1" cnt="1"/>
<step s="4" type="cpy" srcbuf="o" srcoff="1" dstbuf="s" dstoff="2" cnt="1"/>
<step s="5" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="1" cnt="1"/>
<step s="6" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="2"/>
<step s="7" type="cpy" srcbuf="s" srcoff="2" dstbuf="o" dstoff="1" cnt="1"/>
</tb></gpu>
<gpu id="1"><tb id="0" send="0" recv="-1"><step s="0" type="s" srcbuf="i" srcoff="0" cnt="1"/>
<step s="1" type="s" srcbuf="i" srcoff="1" cnt="1"/></tb></gpu></algo>)";
  const Problem problem = problem_of(text);
  CHECK(problem.code == "half-complete");
  CHECK(problem.place.line == 9);
}

TEST_CASE("buffers that are too large to be proven are refused before they are made") {
  std::string text = R"(<algo name="a" nchannels="1" nchunksperloop="16" ngpus="16" coll="allreduce">)";
  for (int gpu = 0; gpu < 16; ++gpu) { text += fmt::format("\n<gpu id=\"{}\" s_chunks=\"1048576\"></gpu>", gpu); }
  const Problem problem = problem_of(text + "</algo>");
  CHECK(problem.code == "too-large");
  CHECK(problem.place.line == 17);
  CHECK(problem.message == "<gpu>: up to here buffers have more than 16777216 chunks together");
}
