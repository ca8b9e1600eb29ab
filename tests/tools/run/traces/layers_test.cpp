#include <doctest/doctest.h>

#include "models/traces/layers/layer_loop.hpp"
#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// Two layers; the first computes 1, 2 and 4 units, the second 10, 20 and 40, and both communicate in every phase.
std::string layers(const std::string& first_line) {
  const std::string columns = " ALLREDUCE 1024 ";
  return first_line + "\n2\na -1 1" + columns + "2" + columns + "4" + columns + "0\nb -1 10" + columns + "20" +
         columns + "40" + columns + "0\n";
}

ReadTrace astra(const std::string& text, std::uint32_t model_ranks = 0) {
  const Folder folder;
  TraceOptions options;
  options.unit = 1_us;
  options.ranks = 8;
  options.model_ranks = model_ranks;
  return read({folder.write("w.txt", text)}, options);
}

ReadTrace simai(const std::string& text) {
  const Folder folder;
  return read({folder.write("w.txt", text)});
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

const EndpointGroups& groups_of(const Workload& workload, const std::string& name) {
  for (const Workload::Communicator& each : workload.communicators) {
    if (each.name == name) { return *each.groups; }
  }
  FAIL("no communicator ", name);
  return *workload.communicators[0].groups;
}

const std::string kSimai =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 2 all_gpus: 16 checkpoints: 1 "
    "0 "
    "checkpoint_initiates: 1 1 pp_comm: 64\n2\na -1 1000 ALLGATHER 64 2000 NONE 0 4000 REDUCESCATTER_DP_EP 64 0\n"
    "b -1 10000 ALLTOALL_EP 64 20000 NONE 0 40000 ALLREDUCE 64 0\n";

}  // namespace

TEST_CASE("each policy of ASTRA-sim waits for what it does there") {
  constexpr Time kAll = 77_us;  // both layers' computations
  for (const Time call : {0_us, 3_us}) {
    CAPTURE(call.count());
    const auto time = [&](const char* policy, std::uint32_t model = 0) {
      const ReadTrace trace = astra(layers(policy), model);
      REQUIRE(trace.problems.empty());
      return run_with(trace.workload(), call);
    };
    // Only weight gradients communicate; the first layer has no input gradient, and its communication is exposed.
    CHECK(time("DATA") == kAll - 2_us + call);
    // Forward both; input gradients beside weight gradients, but for the first layer's, which nobody needs.
    CHECK(time("MODEL") == kAll + call * 2);
    CHECK(time("HYBRID_MODEL_DATA", 2) == kAll + call * 2 + call);
    // Forward and input gradients of both layers are waited for, and the last weight gradient ends the step.
    CHECK(time("HYBRID_TRANSFORMER", 2) == kAll + call * 4 + call);
    CHECK(time("DISTRIBUTED_INFERENCE") == 11_us + call * 2);
  }
}

TEST_CASE("model-parallel ranks stand side by side, but where the policy puts data first") {
  const ReadTrace model_first = astra(layers("HYBRID_DATA_MODEL"), 2);
  CHECK(groups_of(model_first.workload(), "model").front() == std::vector<std::uint32_t>{0, 1});
  CHECK(groups_of(model_first.workload(), "data").front() == std::vector<std::uint32_t>{0, 2, 4, 6});
  const ReadTrace data_first = astra(layers("HYBRID_MODEL_DATA"), 2);
  CHECK(groups_of(data_first.workload(), "data").front() == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(groups_of(data_first.workload(), "model").front() == std::vector<std::uint32_t>{0, 4});
  CHECK(strided_groups(6, 2, 3) == EndpointGroups{{0, 3}, {1, 4}, {2, 5}});
}

TEST_CASE("an all-gather of ASTRA-sim is given by one rank's part, that of SimAI by its result") {
  CHECK(astra(replaced(layers("MODEL"), "ALLREDUCE", "ALLGATHER")).workload().calls[0].size == 8_KiB);
  CHECK(simai(kSimai).workload().calls[0].size == 64_B);
}

TEST_CASE("SimAI's suffixes name groups, checkpoints are computed once more, and stages add messages and a bubble") {
  const ReadTrace trace = simai(kSimai);
  REQUIRE(trace.problems.empty());
  CHECK(trace.trace.ranks == 16);
  const Workload& workload = trace.workload();
  CHECK(groups_of(workload, "TP").front() == std::vector<std::uint32_t>{0, 1});
  CHECK(groups_of(workload, "DP").front() == std::vector<std::uint32_t>{0, 2, 4, 6});
  CHECK(groups_of(workload, "EP").front() == std::vector<std::uint32_t>{0, 2});
  CHECK(groups_of(workload, "DP of experts").front() == std::vector<std::uint32_t>{0, 4});
  CHECK(workload.channels.size() == 2);
  CHECK(workload.channels[0].pairs->front() == std::vector<std::uint32_t>{0, 8});
  CHECK(workload.channels[1].pairs->front() == std::vector<std::uint32_t>{8, 0});
  // 77 us and the first layer once more; a bubble of (2 - 1) / (1 x 2) of that; 2 messages each way.
  CHECK(run_with(workload, 0_us) == (77_us + 1_us) * 3 / 2);
  CHECK(run_with(workload, 0_us, 5_us) == (77_us + 1_us) * 3 / 2 + 5_us * 4);
  CHECK(trace.notes("the bubble is added"));
}

TEST_CASE("the examples of both texts are read") {
  TraceOptions options;
  options.unit = 1_us;
  options.ranks = 8;
  options.model_ranks = 4;
  CHECK(read({example("layers.astra.txt")}, options).problems.empty());
  CHECK(read({example("moe.simai.txt")}).problems.empty());
}

TEST_CASE("what is wrong with a list of layers is told with its line") {
  const std::string good = layers("DATA");
  const auto wrong = [&](const std::string& part, const std::string& by) {
    return astra(replaced(good, part, by)).problems;
  };
  const auto says = [](const std::string& problems, const char* text) {
    return problems.find(text) != std::string::npos;
  };
  CHECK(says(wrong("DATA", "HYBRID_DLRM 3"), "w.txt:1:1: 'HYBRID_DLRM' is no policy that is understood"));
  CHECK(says(wrong("\n2\n", "\n3\n"), "the file says it has 3 layers and ends after 2"));
  CHECK(says(wrong("\n2\n", "\n1\n"), "w.txt:4:1: the file says it has 1 layers, and here is one more"));
  CHECK(says(wrong("a -1 1 ", "a -1 "), "w.txt:3:1: a layer has 12 columns, and here are 11"));
  CHECK(says(wrong("a -1 1 ", "a -1 x "), "w.txt:3:1: 'x' is no time"));
  CHECK(says(wrong("ALLREDUCE", "SHUFFLE"), "w.txt:3:1: 'SHUFFLE' is no type of communication"));
  CHECK(says(wrong("1024", "-5"), "w.txt:3:1: '-5' is no number of bytes"));
  CHECK(astra(layers("HYBRID_TRANSFORMER")).says("needs the number of ranks that share a model"));
  CHECK(astra(layers("HYBRID_TRANSFORMER"), 3).says("8 ranks are no whole groups of 3"));
  const Folder folder;
  CHECK(read({folder.write("w.txt", good)}).says("says neither the unit of its times nor the number of ranks"));
  CHECK(simai(replaced(kSimai, "all_gpus: 16", "all_gpus: 18")).says("18 ranks are not divided by"));
  CHECK(simai(replaced(kSimai, " pp_comm: 64", "")).says("2 stages need pp_comm: BYTES"));
  CHECK(simai(replaced(kSimai, "pp_comm: 64", "pp_comm 64")).problems.empty());
  CHECK(simai(replaced(kSimai, "initiates: 1 1", "initiates: 1 7")).says("names layer 7"));
  CHECK(simai(replaced(kSimai, "_DP_EP", "_XP")).says("w.txt:3:1: '_XP' names no group"));
}

TEST_CASE("repetitions that a few words ask for have a limit") {
  CHECK(simai(replaced(kSimai, "vpp: 1 ga: 2", "vpp: 1000000 ga: 1000000"))
            .says("w.txt:1:1: vpp x ga asks for 1000000000000 messages each way; up to 262144 are written out"));
}
