#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "models/traces/kineto/recorded_calls.hpp"
#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// Events of a profile of one rank, in microseconds.
class KinetoText {
 public:
  explicit KinetoText(std::string head = R"("distributedInfo": {"rank": 0, "world_size": 2})")
      : head_(std::move(head)) {}

  KinetoText& add(const char* category, const std::string& name, double begin, double duration,
                  const std::string& args) {
    events_ +=
        fmt::format("{}{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"ts\": {}, \"dur\": {}, \"args\": {{{}}}}}",
                    events_.empty() ? "" : ",\n", category, name, begin, duration, args);
    return *this;
  }
  KinetoText& call(const std::string& name, double begin, double duration, int correlation) {
    return add("cuda_runtime", name, begin, duration, fmt::format("\"correlation\": {}", correlation));
  }
  KinetoText& kernel(const std::string& name, double begin, double duration, int stream, int correlation,
                     const std::string& more = "") {
    return add("kernel", name, begin, duration,
               fmt::format("\"device\": 0, \"stream\": {}, \"correlation\": {}{}{}", stream, correlation,
                           more.empty() ? "" : ", ", more));
  }
  std::string text() const { return fmt::format("{{{}, \"traceEvents\": [{}]}}", head_, events_); }

 private:
  std::string head_;
  std::string events_;
};

constexpr const char* kAllReduce =
    R"("Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2, "dtype": "Float",
       "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]")";

ReadTrace read_text(const std::string& text, const TraceOptions& options = {}) {
  const Folder folder;
  return read({folder.write("p.json", text)}, options);
}

}  // namespace

TEST_CASE("a GPU that waits for its launches still does, and the CPU waits for the GPU where it did") {
  KinetoText profile;
  profile.call("cudaLaunchKernel", 0, 10, 1).kernel("void gemm<128>(int)", 12, 50, 7, 1);
  profile.call("cudaLaunchKernel", 30, 10, 2).kernel("gemm", 62, 20, 7, 2);
  profile.call("cudaDeviceSynchronize", 45, 40, 3);
  profile.call("cudaLaunchKernel", 100, 10, 4).kernel("gemm", 112, 5, 7, 4);
  const ReadTrace trace = read_text(profile.text());
  REQUIRE(trace.problems.empty());
  CHECK(trace.workload().workers[0].ranks == 2);
  // The first launch ends at 0; the GPU works 50 + 20 us; the CPU sees that 3 us later and launches after 15 + 10 us.
  CHECK(run_with(trace.workload(), 0_us) == 70_us + 3_us + 25_us + 5_us);
  TraceOptions options;
  options.compute_scale = {1, 10};
  // Now the CPU is late: it comes to its wait 35 us after the first launch, when the GPU has nothing left to do.
  CHECK(run_with(read_text(profile.text(), options).workload(), 0_us) == 35_us + 3_us + 25_us + 500_ns);
  options.cpu = TraceOptions::Cpu::free;
  CHECK(run_with(read_text(profile.text(), options).workload(), 0_us) == 7_us + 500_ns);
}

TEST_CASE("communication is simulated: its duration, which holds the waiting for others, is not kept") {
  KinetoText profile;
  profile.call("cudaLaunchKernel", 0, 1, 1).kernel("gemm", 2, 100, 7, 1);
  profile.call("cudaStreamWaitEvent", 2, 1, 2);
  profile.call("cudaLaunchKernel", 4, 1, 3)
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 103, 900, 20, 3, kAllReduce);
  profile.call("cudaStreamWaitEvent", 6, 1, 4);
  profile.call("cudaLaunchKernel", 8, 1, 5).kernel("adam", 1004, 40, 7, 5);
  const ReadTrace trace = read_text(profile.text());
  REQUIRE(trace.problems.empty());
  REQUIRE(trace.workload().calls.size() == 1);
  CHECK(trace.workload().calls[0].kind == CollectiveKind::all_reduce);
  CHECK(trace.workload().calls[0].size == 4000_B);
  CHECK(run_with(trace.workload(), 33_us) == 100_us + 33_us + 40_us);
  TraceOptions options;
  options.communication = TraceOptions::Communication::measured;
  CHECK(run_with(read_text(profile.text(), options).workload(), 33_us) == 100_us + 900_us + 40_us);
  CHECK(trace.notes("one of 2 ranks was recorded (rank 0)"));
}

TEST_CASE("without recorded waits, a computation waits for what ended while its own stream had nothing to do") {
  KinetoText profile;
  profile.call("cudaLaunchKernel", 0, 1, 1).kernel("gemm", 2, 100, 7, 1);
  profile.call("cudaLaunchKernel", 4, 1, 3).kernel("ncclKernel_AllReduce(x)", 103, 200, 20, 3, kAllReduce);
  profile.call("cudaLaunchKernel", 6, 1, 4).kernel("beside", 103, 50, 7, 4);
  profile.call("cudaLaunchKernel", 8, 1, 5).kernel("adam", 304, 40, 7, 5);
  const ReadTrace trace = read_text(profile.text());
  REQUIRE(trace.problems.empty());
  CHECK(run_with(trace.workload(), 500_us) == 100_us + 500_us + 40_us);
  CHECK(run_with(trace.workload(), 10_us) == 100_us + 50_us + 40_us);
}

TEST_CASE("events of CUDA that were recorded say what streams wait for") {
  KinetoText profile;
  profile.call("cudaLaunchKernel", 0, 1, 1).kernel("first", 2, 10, 7, 1);
  profile.call("cudaEventRecord", 2, 1, 2);
  profile.call("cudaLaunchKernel", 3, 1, 3).kernel("second", 12, 1000, 7, 3);
  profile.call("cudaStreamWaitEvent", 5, 1, 4);
  profile.add(
      "cuda_sync", "Stream Wait Event", 5, 1,
      R"("device": 0, "stream": 9, "correlation": 4, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2)");
  profile.call("cudaLaunchKernel", 7, 1, 5).kernel("other", 12, 300, 9, 5);
  profile.call("cudaLaunchKernel", 9, 1, 6).kernel("free", 12, 2000, 11, 6);
  const ReadTrace trace = read_text(profile.text());
  REQUIRE(trace.problems.empty());
  const auto& worker = trace.workload().workers[0];
  for (const auto& operation : worker.operations) {
    const std::string& label = trace.workload().labels[operation.label];
    std::vector<std::string> before;
    for (std::uint32_t d = 0; d < operation.dependencies; ++d) {
      before.push_back(
          trace.workload().labels[worker.operations[worker.dependencies[operation.first_dependency + d]].label]);
    }
    const bool waits = std::find(before.begin(), before.end(), "first") != before.end();
    CHECK(waits == (label == "other"));
    CHECK(std::find(before.begin(), before.end(), "second") == before.end());
  }
}

TEST_CASE("the example of data parallelism takes as long as by hand: buckets beside the backward pass") {
  const ReadTrace trace = read({example("ddp.*.json")});
  REQUIRE(trace.problems.empty());
  CHECK(trace.workload().workers.size() == 2);
  TraceOptions options;
  options.cpu = TraceOptions::Cpu::free;
  options.step = "1";
  const ReadTrace step = read({example("ddp.*.json")}, options);
  REQUIRE(step.problems.empty());
  // Rank 1 computes 10 us longer per layer of the forward pass; its buckets come later.
  for (const Time call : {0_us, 300_us, 420_us, 800_us}) {
    const Time buckets = call > 420_us ? 420_us + call * 3 : 420_us * 3 + call;
    CHECK(run_with(step.workload(), call) == 220_us * 3 + buckets + 90_us);
  }
}

TEST_CASE("one rank stands for all, in groups of the same shape") {
  const ReadTrace trace = read({example("fsdp.json.gz")});
  REQUIRE(trace.problems.empty());
  CHECK(trace.trace.ranks == 8);
  CHECK(trace.workload().workers[0].ranks == 8);
  REQUIRE(trace.workload().calls.size() == 2);
  CHECK(trace.workload().calls[0].size == Bytes{8 * 4'000'000 * 2});
  CHECK(trace.workload().calls[1].size == Bytes{8 * 4'000'000 * 2});
  CHECK(same_groups({0, 1}, 4) == EndpointGroups{{0, 1}, {2, 3}});
  CHECK(same_groups({1, 3}, 4) == EndpointGroups{{0, 2}, {1, 3}});
  CHECK(same_groups({0, 2}, 8) == EndpointGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(same_groups({0, 1, 3}, 6) == EndpointGroups{{0, 1, 3}});
  CHECK(same_groups({1, 2}, 4) == EndpointGroups{{1, 2}});
}

TEST_CASE("kernels of NCCL of which little was recorded last as measured, and a note says so") {
  KinetoText profile;
  profile.call("cudaLaunchKernel", 0, 1, 1).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 2, 77, 20, 1);
  CHECK(run_with(read_text(profile.text()).workload(), 1_us) == 77_us);
  CHECK(read_text(profile.text()).notes("1 NCCL kernels of which nothing was recorded but the name last as measured"));
  KinetoText joined;
  joined.add("cpu_op", "record_param_comms", 0, 1, std::string("\"External id\": 5, ") + kAllReduce);
  joined.call("cudaLaunchKernel", 0, 1, 1).kernel("ncclKernel_AllReduce(x)", 2, 77, 20, 1, "\"External id\": 5");
  CHECK(run_with(read_text(joined.text()).workload(), 1_us) == 1_us);
}

TEST_CASE("an event that ends before it begins is left out, and a note says so") {
  KinetoText profile;
  profile.call("cudaLaunchKernel", 0, 1, 1).kernel("gemm", 2, 5, 7, 1).call("cudaLaunchKernel", 1, 1, 2);
  const Time without = run_with(read_text(profile.text()).workload(), 1_us);
  const ReadTrace trace = read_text(profile.kernel("gemm", 9, -4, 7, 2).text());
  CHECK(trace.notes("1 events that end before they begin are left out"));
  CHECK(run_with(trace.workload(), 1_us) == without);
}

TEST_CASE("names of groups, collectives and types are understood") {
  CHECK(parallelism_of("TENSOR_MODEL_PARALLEL_GROUP") == Parallelism::tensor);
  CHECK(parallelism_of("mesh_dp") == Parallelism::data);
  CHECK(parallelism_of("EXPERT_DATA_PARALLEL_GROUP") == Parallelism::expert);
  CHECK(parallelism_of("default_pg") == Parallelism::other);
  CHECK(kind_of_recorded("_allgather_base") == CollectiveKind::all_gather);
  CHECK(kind_of_recorded("_reduce_scatter_base") == CollectiveKind::reduce_scatter);
  CHECK(kind_of_recorded("all_to_allv") == CollectiveKind::all_to_all);
  CHECK(kind_of_recorded("reduce") == CollectiveKind::reduce);
  CHECK_FALSE(kind_of_recorded("send"));
  CHECK(recorded_type("BFloat16") == DataType::bfloat16);
  CHECK(recorded_type("Float8_e4m3fn") == DataType::int8);
  CHECK_FALSE(rank_list("[0, 1, ...]"));
}

TEST_CASE("what is wrong with a profile is told") {
  const std::string whole = KinetoText().call("cudaLaunchKernel", 0, 1, 1).kernel("gemm", 2, 5, 7, 1).text();
  CHECK(read_text(whole.substr(0, whole.size() - 30)).says("p.json: this profile cannot be read: at byte"));
  CHECK(read_text(R"({"schemaVersion": 1})").says("is an object with a list 'traceEvents'"));
  CHECK(read_text(R"({"traceEvents": [{"ph": "X", "ts": "soon"}]})").says("a time is 'soon'"));
  const std::string world = R"({"distributedInfo": {"rank": 7, "world_size": 2}, "traceEvents": []})";
  CHECK(read_text(world).says("it is of rank 7 of 2"));
  CHECK(read_text(R"({"traceEvents": []})").says("nothing that could be replayed is in this trace"));
  TraceOptions options;
  options.step = "3";
  CHECK(read_text(whole, options).says("the profile has no step '3'; it has no steps at all"));
  CHECK(read({example("ddp.*.json")}, options).says("it has ProfilerStep#0, ProfilerStep#1"));
  CHECK(read({example("ddp.0.json"), example("ddp.0.json")}).says("this profile is of rank 0, as is"));
  const Folder folder;
  const std::string far =
      folder.write("far.json", KinetoText(R"("distributedInfo": {"rank": 5, "world_size": 8})").text());
  CHECK(read({far, far}).says("this profile is of one of 8 ranks, and there are profiles of 2"));
}

TEST_CASE("ranks, groups, roots and times beyond what there can be are refused with their event") {
  const auto with = [](const std::string& part, const std::string& by) {
    std::string more = kAllReduce;
    return KinetoText()
        .call("cudaLaunchKernel", 0, 1, 1)
        .kernel("nccl(x)", 2, 7, 2, 1, more.replace(more.find(part), part.size(), by))
        .text();
  };
  CHECK(read_text(with("\"[0, 1]\"", "\"[0, 1]\"")).problems.empty());
  CHECK(read_text(with("\"[0, 1]\"", "\"[0, 0]\""))
            .says("event 2 of traceEvents ('nccl(x)'): 'Process Group Ranks': rank 0 stands twice"));
  CHECK(read_text(with("\"[0, 1]\"", "\"[0, -1]\"")).says("'-1' is no rank from 0 to 999999"));
  CHECK(read_text(with("\"[0, 1]\"", "\"[0, 4294967296]\"")).says("'4294967296' is no rank"));
  CHECK(read_text(with("\"Group size\": 2", "\"Group size\": 1000001")).says("'Group size' is 1000001; up to 1000000"));
  CHECK(read_text(with("\"In msg nelems\": 1000", "\"In msg nelems\": 18446744073709551615"))
            .says("'In msg nelems' is 18446744073709551615"));
  CHECK(read_text(with("\"allreduce\"", "\"broadcast\", \"Root Rank\": 4294967296")).says("has root 4294967296"));
  const auto cut = with("\"Group size\": 2", "\"Group size\": 64");
  CHECK(read_text(std::string(cut).replace(cut.find("[0, 1]"), 6, "[0, 1, ...]"))
            .says("has a group of 64 ranks, of 2 that there are"));
  const auto head = [](const char* text) { return KinetoText(text).call("cudaLaunchKernel", 0, 1, 1).text(); };
  CHECK(read_text(head(R"("distributedInfo": {"rank": 4294967295})")).says("has rank 4294967295; up to 1000000"));
  CHECK(read_text(head(R"("distributedInfo": {"world_size": -1})")).says("has world_size -1"));
}
