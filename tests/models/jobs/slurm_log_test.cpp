#include <doctest/doctest.h>

#include "models/jobs/logs/slurm_words.hpp"
#include "read_log.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

const std::string kHeader =
    "JobIDRaw|JobName|User|Account|Partition|QOS|Priority|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|"
    "AllocTRES|ReqTRES\n";

/// A row of a job of 3600 s on two nodes; what is named takes the place of what it has.
struct Row {
  std::string id = "100";
  std::string state = "COMPLETED";
  std::string submit = "2024-05-01T10:00:00";
  std::string start = "2024-05-01T10:10:00";
  std::string end = "2024-05-01T11:10:00";
  std::string elapsed = "3600";
  std::string limit = "120";
  std::string nodes = "2";
  std::string allocated = "billing=16,cpu=64,gres/gpu=16,gres/gpu:h100=16,mem=1T,node=2";
  std::string requested = "cpu=64,gres/gpu=16,node=2";
  std::string priority = "4007";

  std::string text() const {
    return id + "|train \"x\"|ada|lab|gpu|normal|" + priority + "|" + state + "|" + submit + "|" + start + "|" + end +
           "|" + elapsed + "|" + limit + "|" + nodes + "|" + allocated + "|" + requested + "\n";
  }
};

ReadLog read(const Row& row, std::string_view keys = "{}") { return read_log("slurm", kHeader + row.text(), keys); }

}  // namespace

TEST_CASE("slurm: a row of sacct is a job with its nodes, its limit, its wait and its names") {
  const ReadLog log = read({});
  REQUIRE(log.jobs.size() == 1);
  const Job& job = log.job(0);
  CHECK(log.name(0) == "100");
  CHECK(log.queue(0) == "gpu");
  CHECK(log.jobs.name(job.user) == "ada");
  CHECK(log.shape(0) == Shape{{2, {.gpus = 8}}});
  CHECK(job.submitted == WallTime{});
  CHECK(log.zero == *date_of("2024-05-01 10:00:00"));
  CHECK(job.duration == wall_seconds(3600));
  CHECK(job.limit == wall_seconds(120 * 60));
  CHECK(job.expected == job.limit);
  CHECK(job.priority == 4007);
  CHECK(log.waits.at(0) == wall_seconds(600));
  CHECK(log.left_out.empty());
}

TEST_CASE("slurm: keys say what is the queue, how GPUs are divided and whether their type counts") {
  CHECK(read({}, R"({"queue_is": "account"})").queue(0) == "lab");
  CHECK(read({}, R"({"queue_is": "qos"})").queue(0) == "normal");
  CHECK(read({}, R"({"tasks": "gpus"})").shape(0) == Shape{{16, {.gpus = 1}}});
  const ReadLog typed = read({}, R"({"typed_gpus": true})");
  CHECK(typed.jobs.gpu_types(typed.shape(0)[0].each.gpu_types) == std::vector<std::string>{"h100"});
  CHECK(read({.nodes = "3"}).shape(0) == Shape{{16, {.gpus = 1}}});
}

TEST_CASE("slurm: with delimiters at the ends of lines, another delimiter, or without a header, it is the same") {
  std::string parsable;
  for (const char c : kHeader + Row{}.text()) { parsable += c == '\n' ? "|\n" : std::string(1, c); }
  CHECK(read_log("slurm", parsable).shape(0) == read({}).shape(0));
  const std::string columns = R"({"columns": ["JobID", "Submit", "Start", "End", "AllocTRES"], "delimiter": ";"})";
  const std::string row = "7;2024-05-01T10:00:00;2024-05-01T10:10:00;2024-05-01T10:10:30;gres/gpu=4\n";
  const ReadLog bare = read_log("slurm", row, columns);
  REQUIRE(bare.jobs.size() == 1);
  CHECK(bare.job(0).duration == wall_seconds(30));
  CHECK(bare.job(0).limit == WallTime::max());
  CHECK(bare.shape(0) == Shape{{4, {.gpus = 1}}});
  CHECK(problems_of_log("slurm", kHeader, R"({"delimiter": "||"})").ends_with("out-of-range"));
}

TEST_CASE("slurm: what ran and was ended by somebody is a job, whoever it was") {
  for (const std::string state : {"CANCELLED by 1001", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}) {
    CHECK(read({.state = state}).jobs.size() == 1);
  }
}

TEST_CASE("slurm: each row that is no job is counted with its reason") {
  const auto reason_of = [](const Row& row) {
    const ReadLog log = read(row);
    CHECK(log.jobs.size() == 0);
    CHECK(log.rows == 1);
    return log.left_out.size() == 1 ? log.left_out.begin()->first : "";
  };
  CHECK(reason_of({.id = "100.batch"}) == "it is a step of a job");
  CHECK(reason_of({.state = "RUNNING", .end = "Unknown"}) == "it has not ended");
  CHECK(reason_of({.state = "CANCELLED by 0", .start = "Unknown", .elapsed = "0"}) == "it never started");
  CHECK(reason_of({.submit = "2024-05-01T10:20:00"}) == "it starts before it is submitted");
  CHECK(reason_of({.end = "2024-05-01T10:05:00"}) == "it ends before it starts");
  CHECK(reason_of({.elapsed = "-5"}) == "ElapsedRaw is no number of seconds");
  CHECK(reason_of({.submit = "Unknown"}) == "it has no time of submission");
  CHECK(reason_of({.allocated = "cpu=4,node=1", .requested = "cpu=4"}) == "it asks for no GPU");
  CHECK(reason_of({.allocated = "gres/gpu=-2"}) == "its GPUs are no number from 0 on");
  CHECK(reason_of({.nodes = "1", .allocated = "gres/gpu=1000"}) == "it asks for more than 128 GPUs on a node");
  CHECK(reason_of({.requested = "gres/gpu=1|2"}) == "it has more fields than there are columns");
  const ReadLog cut = read_log("slurm", kHeader + "100|x\n");
  CHECK(cut.left("it has fewer fields than there are columns") == 1);
}

TEST_CASE("slurm: of a job that was requeued the last row counts, or each as a job of its own") {
  const Row first{.state = "PREEMPTED"};
  const Row second{.state = "NODE_FAIL",
                   .submit = "2024-05-02T10:00:00",
                   .start = "2024-05-02T10:00:00",
                   .end = "2024-05-02T11:00:00"};
  const Row third{
      .submit = "2024-05-03T10:00:00", .start = "2024-05-03T10:00:00", .end = "2024-05-03T10:00:10", .elapsed = "10"};
  const Row step{.id = "100.0"};
  const std::string text = kHeader + first.text() + step.text() + second.text() + third.text() + step.text();
  const ReadLog log = read_log("slurm", text);
  REQUIRE(log.jobs.size() == 1);
  CHECK(log.job(0).duration == wall_seconds(10));
  CHECK(log.left("a later row is of the same job") == 2);
  CHECK(log.left("it is a step of a job") == 2);
  CHECK(log.rows == 5);
  CHECK(read_log("slurm", text, R"({"requeued": "each"})").jobs.size() == 3);
}

TEST_CASE("slurm: rows of a job that wait once more take nothing of the runs before them") {
  const Row first{.state = "NODE_FAIL"};
  const Row second{
      .submit = "2024-05-02T10:00:00", .start = "2024-05-02T10:00:00", .end = "2024-05-02T10:00:10", .elapsed = "10"};
  const Row waits{.state = "PENDING", .start = "Unknown", .end = "Unknown", .elapsed = "0"};
  const Row cancelled{.state = "CANCELLED by 0", .start = "Unknown", .elapsed = "0"};
  const ReadLog one = read_log("slurm", kHeader + first.text() + waits.text());
  REQUIRE(one.jobs.size() == 1);
  CHECK(one.job(0).duration == wall_seconds(3600));
  CHECK(one.left("it has not ended") == 1);
  const ReadLog two =
      read_log("slurm", kHeader + waits.text() + first.text() + second.text() + cancelled.text() + waits.text());
  REQUIRE(two.jobs.size() == 1);
  CHECK(two.job(0).duration == wall_seconds(10));
  CHECK(two.left("a later row is of the same job") == 1);
  CHECK(two.left("it has not ended") == 2);
  CHECK(two.left("it never started") == 1);
}

TEST_CASE("slurm: a priority that is none leaves its row out, and one beyond what is held is named") {
  CHECK(read({.priority = "x"}).left("its Priority is no number from 0 on") == 1);
  CHECK(read({.priority = "-1"}).left("its Priority is no number from 0 on") == 1);
  CHECK(read({.priority = ""}).job(0).priority == 0);
  CHECK(read({.priority = "2147483647"}).without_effect.empty());
  const ReadLog above = read({.priority = "99999999999"});
  CHECK(above.job(0).priority == 2'147'483'647);
  CHECK(above.without_effect.at("what Priority has above 2147483647").rows == 1);
}

TEST_CASE("slurm: a column that is needed and missing is named") {
  CHECK(problems_of_log("slurm", "JobID|Submit|Start|End\n") == "1 missing-column");
  CHECK(problems_of_log("slurm", "JobID|Submit|Start|AllocTRES\n") == "1 missing-column");
  CHECK(problems_of_log("slurm", "Submit|Start|End|AllocTRES\n") == "1 missing-column");
  CHECK(problems_of_log("slurm", "JobID|Submit|Start|End|ReqTRES\n").empty());
  CHECK(problems_of_log("slurm", "JobID|Submit|Start|End|ReqTRES\n", R"({"queue_is": "qos"})") == "1 missing-column");
  CHECK(problems_of_log("slurm", "") == "1 no-header");
}

TEST_CASE("slurm: GPUs of trackable resources") {
  CHECK(tres_gpus_of("")->count == 0);
  CHECK(tres_gpus_of("cpu=1,gres/gpumem=4,gres/shard=2")->count == 0);
  CHECK(tres_gpus_of("gres/gpu:a100=2,gres/gpu:h100=3")->count == 5);
  CHECK(tres_gpus_of("gres/gpu:a100=2,gres/gpu:h100=3")->type.empty());
  CHECK(tres_gpus_of("gres/gpu=2,gres/gpu:a100=2")->type == "a100");
  CHECK_FALSE(tres_gpus_of("gres/gpu=many"));
}

TEST_CASE("slurm: spans of time") {
  CHECK(slurm_span_of("1-02:03:04") == wall_seconds(93'784));
  CHECK(slurm_span_of("02:03:04") == wall_seconds(7384));
  CHECK(slurm_span_of("03:04.500") == WallTime{184'500'000});
  for (const char* none : {"", "UNLIMITED", "Partition_Limit", "-1:00", "5", "1-5", "a:b"}) {
    CHECK_FALSE(slurm_span_of(none));
  }
}
