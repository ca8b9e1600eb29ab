#include <doctest/doctest.h>

#include "models/traces/chakra/node.hpp"
#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

using Node = ChakraFile::Node;

const doctest::skip kProtobuf(!reads_chakra_protobuf());

/// Two ranks that do the same.
ReadTrace two(const ChakraFile& first, const ChakraFile& second, const TraceOptions& options = {}) {
  const Folder folder;
  folder.write("t.0.et", first.text());
  folder.write("t.1.et", second.text());
  return read({folder.path("t.*.et")}, options);
}

ReadTrace both(const ChakraFile& file, const TraceOptions& options = {}) { return two(file, file, options); }

Node message(std::uint64_t type, std::uint64_t id, std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  return {.id = id, .type = type, .numbers = {{"comm_src", from}, {"comm_dst", to}, {"comm_size", size}}};
}

}  // namespace

TEST_CASE("the example of two layers takes as long as its dependencies say, whatever communication takes" * kProtobuf) {
  const ReadTrace trace = read({example("transformer.*.et")});
  REQUIRE(trace.problems.empty());
  CHECK(trace.trace.ranks == 4);
  CHECK(trace.workload().communicators.size() == 4);
  for (const Time call : {0_us, 100_us, 400_us}) {
    CAPTURE(call.count());
    CHECK(run_with(trace.workload(), call) == 20_us + 420_us * 2 + 840_us * 2 + 100_us + call * 7);
  }
}

TEST_CASE("groups come from metadata nodes or a file of groups, and are all ranks without a name" * kProtobuf) {
  const ReadTrace own = read({example("transformer.*.et")});
  REQUIRE(own.problems.empty());
  CHECK(own.workload().communicators[0].workers == std::vector<std::uint32_t>{0, 1});
  const ReadTrace all = both(ChakraFile().all_reduce(1));
  REQUIRE(all.problems.empty());
  CHECK(all.workload().communicators[0].workers == std::vector<std::uint32_t>{0, 1});
  ChakraFile file;
  file.add({.id = 1, .type = 7, .numbers = {{"comm_type", 0}, {"comm_size", 64}}, .group = "7"});
  CHECK(both(file).says("belongs to group '7', which nothing defines (and 1 more like it)"));
  const Folder folder;
  TraceOptions options;
  options.groups = folder.write("comm_group.json", R"({"7": [1, 0]})");
  folder.write("t.0.et", file.text());
  folder.write("t.1.et", file.text());
  const ReadTrace named = read({folder.path("t.*.et")}, options);
  REQUIRE(named.problems.empty());
  CHECK(named.workload().communicators[0].workers == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("sizes count as our collectives do: what a rank puts in, times the ranks where it is gathered" * kProtobuf) {
  const auto size = [](std::uint64_t type) {
    ChakraFile file;
    file.add({.id = 1, .type = 7, .numbers = {{"comm_type", type}, {"comm_size", 1024}}});
    const ReadTrace trace = both(file);
    REQUIRE(trace.problems.empty());
    return trace.workload().calls.at(0).size;
  };
  CHECK(size(0) == 1_KiB);
  CHECK(size(2) == 2_KiB);
  CHECK(size(6) == 1_KiB);
  CHECK(size(7) == 1_KiB);
  CHECK(size(9) == 0_B);
}

TEST_CASE("nodes stand in any order and with any ids; lists of ids are packed or not" * kProtobuf) {
  for (const bool packed : {true, false}) {
    ChakraFile file;
    file.add({.id = 900, .after = {17, 5}, .micros = 10, .packed = packed});
    file.add({.id = 17, .after = {5}, .micros = 20, .packed = packed});
    file.add({.id = 5, .micros = 40});
    const ReadTrace trace = both(file);
    REQUIRE(trace.problems.empty());
    CHECK(run_with(trace.workload(), 0_us) == 70_us);
    CHECK(trace.workload().workers[0].operations[0].time == 40_us);
  }
}

TEST_CASE("operations of the CPU run beside the GPU, one by one, or take no time" * kProtobuf) {
  ChakraFile file;
  for (std::uint64_t id = 1; id <= 3; ++id) { file.add({.id = id, .micros = 30, .numbers = {{"is_cpu_op", 1}}}); }
  file.add({.id = 9, .micros = 50});
  TraceOptions options;
  CHECK(run_with(both(file, options).workload(), 0_us) == 90_us);
  options.compute_scale = {2, 1};
  CHECK(run_with(both(file, options).workload(), 0_us) == 100_us);
  options.cpu = TraceOptions::Cpu::free;
  CHECK(run_with(both(file, options).workload(), 0_us) == 100_us);
  CHECK(both(file, options).notes("6 CPU operations take no time"));
}

TEST_CASE("computations without a duration last as a roofline says, or are refused" * kProtobuf) {
  ChakraFile file;
  file.add({.id = 1, .numbers = {{"num_ops", 4'000'000}, {"tensor_size", 1000}}});
  file.add({.id = 2, .after = {1}, .numbers = {{"num_ops", 1}, {"tensor_size", 3'000'000}}});
  CHECK(both(file).says("has operations and bytes, but no duration"));
  TraceOptions options;
  options.roofline = TraceOptions::Roofline{1e12, 1_GBps};
  const ReadTrace trace = both(file, options);
  REQUIRE(trace.problems.empty());
  CHECK(run_with(trace.workload(), 0_us) == 4_us + 3_ms);
}

TEST_CASE("measured communication is kept where it is asked for" * kProtobuf) {
  ChakraFile file;
  file.add({.id = 1, .type = 7, .micros = 70, .numbers = {{"comm_type", 0}, {"comm_size", 64}}});
  TraceOptions options;
  options.communication = TraceOptions::Communication::measured;
  const ReadTrace trace = both(file, options);
  REQUIRE(trace.problems.empty());
  CHECK(trace.workload().calls.empty());
  CHECK(run_with(trace.workload(), 1_s) == 70_us);
  CHECK(both(ChakraFile().all_reduce(1), options).says("has no duration to be kept"));
}

TEST_CASE("compressed files are read as others, and damaged ones are told from those that are cut off" * kProtobuf) {
  const Folder folder;
  const std::string packed = compressed(ChakraFile().all_reduce(1).text());
  folder.write("t.0.et", packed);
  folder.write("t.1.et", packed);
  CHECK(read({folder.path("t.*.et")}).problems.empty());
  folder.write("t.1.et", packed.substr(0, packed.size() - 12));
  CHECK(read({folder.path("t.*.et")}).says("t.1.et: what is compressed in this file cannot be read"));
  std::string damaged = packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  folder.write("t.1.et", damaged);
  CHECK(read({folder.path("t.*.et")}).says("t.1.et: what is compressed"));
}

TEST_CASE("a file that ends within a node, or is none, is told" * kProtobuf) {
  const Folder folder;
  const std::string whole = ChakraFile().all_reduce(41).all_reduce(42).text();
  for (std::size_t cut = 1; cut < 20; ++cut) {
    folder.write("t.0.et", whole.substr(0, whole.size() - cut));
    CAPTURE(cut);
    CHECK(read({folder.path("t.0.et")}).says("the file ends within a node, behind that with id 41"));
  }
  folder.write("t.0.et", "");
  CHECK(read({folder.path("t.0.et")}).says("the file is empty"));
  folder.write("t.0.et", "no trace at all");
  CHECK(read({folder.path("t.0.et")}).says("t.0.et: the file"));
}

TEST_CASE("ranks that are missing are named" * kProtobuf) {
  const Folder folder;
  for (const char* rank : {"0", "1", "4"}) {
    folder.write(std::string("t.") + rank + ".et", ChakraFile().all_reduce(1).text());
  }
  CHECK(read({folder.path("t.*.et")}).says("files of 2 of the ranks 0 to 4 are missing: 2, 3"));
  CHECK(read({folder.path("u.*.et")}).says("no file has a name like this"));
  CHECK(read({folder.path("*.*.et")}).says("a pattern has one '*'"));
}

TEST_CASE("circles, absent nodes, ids that stand twice and unknown types are told with rank, node and how many more") {
  ChakraFile circle;
  circle.add({.id = 1, .name = "a", .after = {3}}).add({.id = 2, .name = "b", .after = {1}});
  circle.add({.id = 3, .name = "c", .after = {2}}).add({.id = 4, .after = {3}});
  CHECK(
      both(circle).says("rank 0: nodes wait for each other: 1 'a' waits for 3 'c' waits for 2 'b' waits for 1 'a' "
                        "(and 1 more like it)"));
  ChakraFile absent;
  absent.add({.id = 1, .name = "a", .after = {77}, .micros = 3});
  CHECK(both(absent).says("rank 0: node 1 'a' waits for node 77, which is not in the file (and 1 more like it)"));
  TraceOptions options;
  options.drop_absent = true;
  CHECK(both(absent, options).problems.empty());
  CHECK(both(absent, options).notes("2 dependencies on nodes that are not in the file were left out"));
  CHECK(both(ChakraFile().add({.id = 1}).add({.id = 1})).says("rank 0: two nodes have the id 1"));
  CHECK(both(ChakraFile().add({.id = 1, .type = 12})).says("has the type 12, which Chakra does not know"));
}

TEST_CASE("collectives that do not belong together are told" * kProtobuf) {
  const ChakraFile one = ChakraFile().all_reduce(1).all_reduce(2);
  CHECK(two(one, ChakraFile().all_reduce(1).all_reduce(2, 512))
            .says("call 2 of the communicator is all_reduce of 512 B"));
  CHECK(two(one, ChakraFile().all_reduce(1))
            .says("rank 1 calls collectives of communicator 'all' 1 times, and rank 0 "
                  "does so 2 times"));
  CHECK(two(one, ChakraFile()).says("1 of the 2 members of communicator 'all' never call it"));
  ChakraFile unknown;
  unknown.add({.id = 1, .type = 7, .numbers = {{"comm_type", 10}, {"comm_size", 4}}});
  CHECK(both(unknown).says("has comm_type 10, which Chakra does not know"));
  CHECK(both(ChakraFile().add({.id = 1, .type = 7, .numbers = {{"comm_type", 0}}})).says("says no comm_size"));
  ChakraFile stranger;
  stranger.add({.id = 1, .type = 1, .inputs = R"(['[{"pg_name": "0", "ranks": [0, 5]}]'])"});
  stranger.add({.id = 2, .type = 7, .numbers = {{"comm_type", 0}, {"comm_size", 4}}, .group = "0"});
  CHECK(both(stranger).says("belongs to group '0' with rank 5, and the trace has ranks 0 to 1"));
  ChakraFile alone;
  alone.add({.id = 1, .type = 1, .inputs = R"(['[{"pg_name": "0", "ranks": [1]}]'])"});
  alone.add({.id = 2, .type = 7, .numbers = {{"comm_type", 0}, {"comm_size", 4}}, .group = "0"});
  CHECK(both(alone).notes("2 collectives of one rank alone take no time"));
}

TEST_CASE("messages meet by ranks, tag and order, or are told" * kProtobuf) {
  const ChakraFile sends = ChakraFile().add(message(5, 1, 0, 1, 100));
  const ReadTrace good = two(sends, ChakraFile().add(message(6, 1, 0, 1, 100)));
  REQUIRE(good.problems.empty());
  CHECK(run_with(good.workload(), 0_us, 7_us) == 7_us);
  CHECK(two(sends, ChakraFile()).says("sends a message that nobody receives"));
  CHECK(two(ChakraFile(), ChakraFile().add(message(6, 1, 0, 1, 100))).says("waits for a message that nobody sends"));
  CHECK(two(sends, ChakraFile().add(message(6, 1, 0, 1, 99))).says("receives 99 B"));
  CHECK(two(sends, ChakraFile().add(message(6, 1, 4, 1, 100))).says("has rank 4 as its peer"));
  CHECK(two(ChakraFile().add(message(5, 1, 1, 0, 100)), sends).says("a rank sends from itself"));
}

TEST_CASE("the JSON form of Chakra is read, and a pipeline takes as long as its closed form") {
  const ReadTrace trace = read({example("pipeline.*.json")});
  REQUIRE(trace.problems.empty());
  CHECK(trace.trace.format == TraceFormat::chakra_json);
  for (const Time message : {0_us, 100_us, 500_us}) {
    CHECK(run_with(trace.workload(), 0_us, message) == 500_us * 4 + message + 500_us);
  }
}

TEST_CASE("what is wrong with the JSON form is told with its pointer") {
  const Folder folder;
  const auto problems = [&](const std::string& nodes) {
    return read({folder.write("t.json", "{\"workload_graph\": [" + nodes + "]}")}).problems;
  };
  const auto says = [&](const std::string& nodes, const char* text) {
    return problems(nodes).find(text) != std::string::npos;
  };
  CHECK(says(R"({"Name": "x"})", "a node needs the key 'Id'"));
  CHECK(says(R"({"Id": 1, "NodeType": 4, "data_deps": 3})", "(at /workload_graph/0/data_deps)"));
  CHECK(says(R"({"Id": 1, "NodeType": 4, "runtime": 3)", "t.json:1:"));
  CHECK(says(R"({"Id": 1, "NodeType": 4, "runtime": -3})", "a node cannot last -3 us"));
  CHECK(says(R"(4)", "a node is an object"));
}

TEST_CASE("numbers that wrap, ranks that stand twice and roots beyond a group are refused" * kProtobuf) {
  ChakraFile rooted;
  rooted.add({.id = 1, .type = 7, .numbers = {{"comm_type", 5}, {"comm_size", 8}, {"root_rank", UINT64_C(1) << 32}}});
  CHECK(both(rooted).says("has root 4294967296 (and 1 more like it); the ranks of its group go from 0 to 1"));
  ChakraFile grouped;
  grouped.add({.id = 1, .type = 1, .inputs = R"([{"pg_name": "3", "ranks": [0, 1, 1]}])"});
  CHECK(both(grouped).says("process group \"3\" has no list of ranks, each of which stands once"));
  const Folder folder;
  const auto says = [&](const std::string& node, const char* text) {
    return read({folder.write("t.json", "{\"workload_graph\": [" + node + "]}")}).says(text);
  };
  CHECK(says(R"({"Id": 1, "NodeType": 4294967300})", "there is no type 4294967300"));
  CHECK(says(R"({"Id": 1e300, "NodeType": 4})", "a whole number is expected (at /workload_graph/0/Id)"));
  CHECK(says(R"({"Id": 1, "NodeType": 4, "runtime": "99999999999999999999"})", "a whole number is expected"));
}

TEST_CASE("what may come out of a compressed file has a limit, up to which it is read") {
  const Folder folder;
  const std::string text =
      "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"runtime\": 3}]" + std::string(5000, ' ') + "}";
  const std::string path = folder.write("t.json", compressed(text));
  TraceOptions options;
  options.limit = Bytes{static_cast<std::int64_t>(text.size())};
  CHECK(read({path}, options).problems.empty());
  options.limit = Bytes{static_cast<std::int64_t>(text.size()) - 1};
  CHECK(read({path}, options).says("of this file when it is decompressed"));
  const std::string plain = folder.write("p.json", text);
  CHECK(read({plain}, options).says("this file is larger than"));
}
