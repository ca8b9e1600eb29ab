#include <doctest/doctest.h>
#include <fmt/core.h>

#include "read_log.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

const std::string kData = "tests/models/jobs/data/";

ReadLog philly(std::string_view attempts, std::string_view submitted = "2017-10-07 01:00:00") {
  return read_log("philly",
                  fmt::format(R"([{{"status": "Pass", "vc": "a", "jobid": "j", "user": "u", "attempts": [{}],)"
                              R"( "submitted_time": "{}"}}])",
                              attempts, submitted));
}

std::string attempt(std::string_view start, std::string_view end, std::string_view gpus = R"("gpu0", "gpu1")") {
  return fmt::format(R"({{"start_time": {}, "end_time": {}, "detail": [{{"ip": "m1", "gpus": [{}]}}]}})", start, end,
                     gpus);
}

const std::string kHelios =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";

std::string only_reason(const ReadLog& log) {
  CHECK(log.jobs.size() == 0);
  return log.left_out.size() == 1 ? log.left_out.begin()->first : "";
}

std::string openb_reason(const std::string& row) {
  const std::string header =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
      "scheduled_time\n";
  return only_reason(read_log("openb", header + row + "\n"));
}

std::uint32_t index_of(const ReadLog& log, std::string_view name) {
  for (std::uint32_t at = 0; at < log.jobs.size(); ++at) {
    if (log.name(at) == name) { return at; }
  }
  return 0;
}

}  // namespace

TEST_CASE("philly: the published entry runs as long as its two attempts, on the GPUs of one of them") {
  const ReadLog log = read_log_file("philly", kData + "philly_one_job.json");
  REQUIRE(log.jobs.size() == 1);
  CHECK(log.name(0) == "application_1506638472019_14199");
  CHECK(log.queue(0) == "ee9e8c");
  CHECK(log.shape(0) == Shape{{8, {.gpus = 1}}});
  CHECK(log.job(0).duration == wall_seconds(193'256));  // as Sia's selection of the log has it
  CHECK(log.waits.at(0) == wall_seconds(30));
  const ReadLog last = read_log_file("philly", kData + "philly_one_job.json", R"({"attempts": "last"})");
  CHECK(last.job(0).duration == wall_seconds(193'256 - 74));
}

TEST_CASE("philly: jobs that cannot be run are counted with their reason, and the line of the first") {
  CHECK(only_reason(philly("")) == "it has no attempt");
  const std::string good = attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:20:00")");
  CHECK(philly(good).shape(0) == Shape{{2, {.gpus = 1}}});
  CHECK(only_reason(philly(good, "None")) == "it has no time of submission");
  CHECK(only_reason(philly(good, "2017-10-07 02:00:00")) == "it starts before it is submitted");
  CHECK(only_reason(philly(attempt(R"("None")", R"("None")"))) == "an attempt has no start or no end");
  CHECK(only_reason(philly(good + ", " + attempt("null", "null"))) == "an attempt has no start or no end");
  CHECK(only_reason(philly(attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:09:00")"))) ==
        "it ends before it starts");
  CHECK(only_reason(philly(attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:20:00")", ""))) ==
        "it asks for no GPU");
  CHECK(read_log("philly", "[\n{},\n\n{}\n]").left_out.at("it has no attempt").first_line == 2);
}

TEST_CASE("philly: what is no list of jobs is refused") {
  CHECK(problems_of_log("philly", R"({"jobid": "x"})") == "1 not-philly");
  CHECK(problems_of_log("philly", "[\n{\"jobid\": \"x\"]") == "2 syntax");
  CHECK(problems_of_log("philly", "") == "1 not-philly");
  CHECK(read_log("philly", "[]").rows == 0);
}

TEST_CASE("helios: a row is a job of its virtual cluster, divided over its nodes") {
  const ReadLog log = read_log("helios", kHelios +
                                             "1,u1,vc1,16,96,2,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:01:00,"
                                             "2020-04-01 01:01:00,3600,60\n"
                                             "2,u1,vc2,0,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,"
                                             "2020-04-01 00:00:05,5,0\n"
                                             "3,u1,vc2,1,4,1,CANCELLED,2020-04-01 00:00:00,None,None,0,0\n"
                                             "4,u1,vc2,1,4,1,FAILED,2020-04-01 00:00:00,2020-04-01 00:01:00,"
                                             "2020-04-01 00:00:30,-30,0\n"
                                             "5,u1,vc2,1,4,1,FAILED,2020-04-01 00:00:00,2020-04-01 00:01:00,"
                                             "2020-04-01 00:00:30,,0\n"
                                             "6,u1,vc2,-1,4,1,FAILED,2020-04-01 00:00:00,2020-04-01 00:01:00,"
                                             "2020-04-01 00:02:00,60,0\n");
  REQUIRE(log.jobs.size() == 1);
  CHECK(log.shape(0) == Shape{{2, {.gpus = 8}}});
  CHECK(log.queue(0) == "vc1");
  CHECK(log.job(0).duration == wall_seconds(3600));
  CHECK(log.waits.at(0) == wall_seconds(60));
  CHECK(log.left("it asks for no GPU") == 1);
  CHECK(log.left("it never started") == 1);
  CHECK(log.left("duration is no number of seconds from 0 on") == 1);
  CHECK(log.left("it ends before it starts") == 1);
  CHECK(log.left("its GPUs are no number from 0 on") == 1);
  CHECK(problems_of_log("helios", "job_id,user,vc\n") == "1 missing-column");
}

TEST_CASE("acme: the published row of Seren, whose times have a zone, and Kalos's other columns of the end") {
  const ReadLog seren =
      read_log("acme",
               "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,"
               "gpu_time\n5778432,u5907,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,"
               "2023-03-01 00:20:51+08:00,117,32,936.0\n");
  REQUIRE(seren.jobs.size() == 1);
  CHECK(seren.zero == *date_of("2023-02-28 16:18:22"));
  CHECK(seren.job(0).duration == wall_seconds(117));
  CHECK(seren.waits.at(0) == wall_seconds(32));
  CHECK(seren.queue(0) == "Other");
  CHECK(seren.shape(0) == Shape{{1, {.gpus = 8}}});
  const std::string header =
      "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,"
      "end_time,fail_time,stop_time,duration,queue,gpu_time\n";
  const ReadLog kalos = read_log("acme", header +
                                             "a,u,4,32,128,1000,100,Pretrain,FAILED,2023-05-17 11:00:00+00:00,"
                                             "2023-05-17 11:00:18+00:00,,2023-05-17 11:01:18+00:00,,,18.0,\n"
                                             "b,u,4,32,128,1000,100,Pretrain,FAILED,2023-05-17 11:00:00+00:00,"
                                             "2023-05-17 11:00:18+00:00,,,,,18.0,\n");
  REQUIRE(kalos.jobs.size() == 1);
  CHECK(kalos.job(0).duration == wall_seconds(60));
  CHECK(kalos.shape(0) == Shape{{4, {.gpus = 8}}});
  CHECK(kalos.left("it has not ended") == 1);
  CHECK(problems_of_log("acme", "job_id,user,type\n") == "1 missing-column");
}

TEST_CASE("openb: pods ask for shares of GPUs, for cores, memory and one of several types") {
  const ReadLog log = read_log_file("openb", kData + "openb_pods.csv");
  REQUIRE(log.jobs.size() == 9);
  CHECK(log.rows == 10);
  CHECK(log.left("it never started") == 1);
  CHECK(log.shape(0) == Shape{{1, {.gpus = 1, .cpu_milli = 12'000, .memory_mib = 16'384}}});
  CHECK(log.shape(1) == Shape{{1, {.gpu_milli = 460, .cpu_milli = 6000, .memory_mib = 12'288}}});
  CHECK(log.job(0).duration == wall_seconds(12'537'496));
  CHECK(log.queue(0) == "LS");
  const std::uint32_t cores_only = index_of(log, "openb-pod-0005");
  CHECK(log.shape(cores_only) == Shape{{1, {.cpu_milli = 20'000, .memory_mib = 65'536}}});
  CHECK(log.waits.at(cores_only) == wall_seconds(2));
  CHECK(log.job(cores_only).duration == wall_seconds(12'902'960 - 2'759'676));
  const Demand& typed = log.shape(index_of(log, "openb-pod-0009"))[0].each;
  CHECK(log.jobs.gpu_types(typed.gpu_types) == std::vector<std::string>{"V100M16", "V100M32"});
  CHECK(log.shape(index_of(log, "openb-pod-0017"))[0].each.gpus == 8);
  const ReadLog all = read_log_file("openb", kData + "openb_pods.csv", R"({"unscheduled": "from_creation"})");
  CHECK(all.jobs.size() == 10);
  CHECK(all.left_out.empty());
}

TEST_CASE("openb: rows that make no sense are counted with their reason") {
  CHECK(openb_reason("p,-1,1,1,1000,,LS,Running,0,5,0") == "its cores or its memory are no number from 0 on");
  CHECK(openb_reason("p,1,1,-1,1000,,LS,Running,0,5,0") == "num_gpu is no number from 0 to 128");
  CHECK(openb_reason("p,1,1,1,1001,,LS,Running,0,5,0") == "gpu_milli is no number from 1 to 1000");
  CHECK(openb_reason("p,1,1,1,0,,LS,Running,0,5,0") == "gpu_milli is no number from 1 to 1000");
  CHECK(openb_reason("p,1,1,2,500,,LS,Running,0,5,0") == "it shares several GPUs");
  CHECK(openb_reason("p,1,1,1,1000,,LS,Running,10,50,5") == "it starts before it is submitted");
  CHECK(openb_reason("p,1,1,1,1000,,LS,Running,0,5,10") == "it ends before it starts");
  CHECK(openb_reason("p,1,1,1,1000,,LS,Running,0,,10") == "it has not ended");
  CHECK(problems_of_log("openb", "name,cpu_milli\n") == "1 missing-column");
}

TEST_CASE("swf: processors are GPUs, and the time that was asked for is what schedulers know") {
  const ReadLog log = read_log_file("swf", kData + "hpc2n.swf");
  REQUIRE(log.jobs.size() == 9);
  CHECK(log.name(0) == "184");
  CHECK(log.shape(0) == Shape{{16, {.gpus = 1}}});
  CHECK(log.job(0).duration == wall_seconds(61));
  CHECK(log.job(0).expected == wall_seconds(43'200));
  CHECK(log.job(0).limit == WallTime::max());
  CHECK(log.waits.at(1) == wall_seconds(129'908));
  CHECK(log.job(1).submitted == wall_seconds(3'801'279 - 561'553));
  CHECK(read_log_file("swf", kData + "hpc2n.swf", R"({"processors_per_gpu": 24})").shape(1) == Shape{{2, {.gpus = 1}}});
}

TEST_CASE("swf: comments tell when the log begins; unknown numbers and parts of jobs are counted with their reason") {
  const auto line = [](std::string_view submit, std::string_view run, std::string_view used, std::string_view asked,
                       std::string_view status) {
    return fmt::format("1 {} 5 {} {} -1 -1 {} -1 -1 {} 3 1 -1 7 1 -1 -1\n", submit, run, used, asked, status);
  };
  const std::string header = "; Version: 2\n; UnixStartTime: 1000000000\n";
  const ReadLog log = read_log("swf", header + line("10", "20", "-1", "4", "5"));
  REQUIRE(log.jobs.size() == 1);
  CHECK(log.zero == wall_seconds(1'000'000'010));
  CHECK(log.shape(0) == Shape{{4, {.gpus = 1}}});
  CHECK(log.queue(0) == "7");
  CHECK(log.job(0).expected == wall_seconds(20));
  CHECK(only_reason(read_log("swf", line("10", "-1", "4", "4", "1"))) == "its run time is unknown");
  CHECK(only_reason(read_log("swf", line("-3", "20", "4", "4", "1"))) == "it has no time of submission");
  CHECK(only_reason(read_log("swf", line("10", "20", "-1", "-1", "1"))) == "its processors are unknown");
  CHECK(only_reason(read_log("swf", line("10", "20", "0", "4", "1"))) == "it used no processor");
  CHECK(only_reason(read_log("swf", line("10", "20", "4", "4", "2"))) ==
        "it is a part of a job that another line holds whole");
  CHECK(only_reason(read_log("swf", "1 2 3\n")) == "it has not 18 numbers");
}

TEST_CASE("tiresias: seconds from the beginning on, with or without a start") {
  const ReadLog log = read_log_file("tiresias", kData + "tiresias.csv");
  REQUIRE(log.jobs.size() == 5);
  CHECK(log.shape(1) == Shape{{8, {.gpus = 1}}});
  CHECK(log.job(1).submitted == wall_seconds(30));
  CHECK(log.job(1).duration == wall_seconds(147));
  CHECK(log.waits.empty());
  const std::string header = "job_id,num_gpu,submit_time,start_time,duration\n";
  CHECK(read_log("tiresias", header + "10,12,11,14,20\n").waits.at(0) == wall_seconds(3));
  CHECK(only_reason(read_log("tiresias", header + "10,12,11,9,20\n")) == "it starts before it is submitted");
  CHECK(only_reason(read_log("tiresias", header + "10,12,-11,9,20\n")) == "it has no time of submission");
  CHECK(only_reason(read_log("tiresias", header + "10,12,11,14,-20\n")) ==
        "duration is no number of seconds from 0 on");
  CHECK(only_reason(read_log("tiresias", header + "10,0,11,14,20\n")) == "it asks for no GPU");
  CHECK(problems_of_log("tiresias", "job_id,num_gpu,submit_time\n") == "1 missing-column");
}

TEST_CASE("gavel: a job runs for its steps over the first rate that fits it, and not without one") {
  const ReadLog log = read_log_file("gavel", kData + "gavel.trace", R"keys({"steps_per_second": [
      {"job_type": "Transformer (batch size 128)", "gpus": 4, "rate": 10}, {"rate": 0.5}]})keys");
  REQUIRE(log.jobs.size() == 3);
  CHECK(log.shape(0) == Shape{{4, {.gpus = 1}}});
  CHECK(log.job(0).duration == WallTime{535'261'300'000});
  CHECK(log.job(1).submitted == wall_seconds(1456));
  CHECK(log.job(1).duration == wall_seconds(1'115'694));
  const std::string line = "A\tcmd\t-n\t1\t100\t5.0\t2\n";
  CHECK(problems_of_log("gavel", line, R"({"steps_per_second": [{"job_type": "B", "rate": 1}]})") == "1 missing-rate");
  CHECK_FALSE(problems_of_log("gavel", line).empty());
  constexpr std::string_view kRate = R"({"steps_per_second": [{"rate": 1}]})";
  CHECK(only_reason(read_log("gavel", "A\tcmd\t-n\t1\t-100\t5.0\t2\n", kRate)) == "total_steps is no number from 0 on");
  CHECK(only_reason(read_log("gavel", "A\tcmd\t-n\t1\t100\t-5.0\t2\n", kRate)) == "it has no time of submission");
  CHECK(only_reason(read_log("gavel", "A\tcmd\t100\t5.0\t2\n", kRate)) == "it has not 7 fields");
}

TEST_CASE("pai: tasks of a job begin together, from the first start of them or of their instances to the last end") {
  const FileOfText tasks("pai-tasks",
                         "a,worker,4,Terminated,100.0,500.0,600,29.5,50,T4\n"
                         "a,ps,1,Terminated,90.0,510.0,200,10,,\n"
                         "b,worker,1,Terminated,100,200,600,29,150,MISC\n"
                         "c,worker,1,Running,100,,600,29,100,P100\n"
                         "d,worker,2,Terminated,50,200,,,200,V100\n"
                         "e,worker,1,Terminated,70,60,600,29,100,T4\n"
                         "f,worker,1,Terminated,70,80,-600,29,100,T4\n"
                         "g,ps,1,Terminated,70,80,600,29,,\n");
  const std::string table =
      "a,1,u,Terminated,40,520\nb,2,u,Terminated,40,520\nc,3,u,Running,40,\nd,4,u,Terminated,60,520\n"
      "e,5,u,Terminated,40,520\nf,6,u,Terminated,40,520\ng,7,u,Terminated,40,520\nh,8,u,Failed,40,520\nbad\n";
  const std::string keys = fmt::format(R"("task_table": "{}", "typed_gpus": true)", tasks.path());
  const ReadLog log = read_log("pai", table, "{" + keys + "}");
  REQUIRE(log.jobs.size() == 1);
  const GpuTypesId t4 = log.shape(0)[0].each.gpu_types;
  CHECK(log.jobs.gpu_types(t4) == std::vector<std::string>{"T4"});
  CHECK(log.shape(0) == Shape{{4, {.gpu_milli = 500, .gpu_types = t4, .cpu_milli = 6000, .memory_mib = 30'208}},
                              {1, {.cpu_milli = 2000, .memory_mib = 10'240}}});
  CHECK(log.job(0).duration == wall_seconds(420));
  CHECK(log.waits.at(0) == wall_seconds(50));
  CHECK(log.left("a task asks for no number of cores, of GB, or of whole GPUs or a part of one") == 2);
  CHECK(log.left("a task or an instance has not ended") == 1);
  CHECK(log.left("it starts before it is submitted") == 1);
  CHECK(log.left("it ends before it starts") == 1);
  CHECK(log.left("it asks for no GPU") == 1);
  CHECK(log.left("no task is of it") == 1);
  CHECK(log.left("it has not 6 fields") == 1);
  const FileOfText instances("pai-instances", "a,worker,i,w,1,Terminated,95,400,m1\na,ps,j,x,1,Terminated,99,600,m2\n");
  const ReadLog exact =
      read_log("pai", table, fmt::format("{{{}, \"instance_table\": \"{}\"}}", keys, instances.path()));
  CHECK(exact.job(0).duration == wall_seconds(505));
  CHECK_FALSE(problems_of_log("pai", table).empty());
}

TEST_CASE("job logs: quotes are taken away where fields may have them, and only there") {
  const std::string header = "job_id,num_gpu,submit_time,duration\n";
  CHECK(read_log("tiresias", header + "\"a,\"\"b\",1,0,5\nc,1,0,5\n").name(0) == "a,\"b");
  CHECK(read_log("tiresias", header + "c,1,0,5\n").name(0) == "c");
  CHECK(problems_of_log("tiresias", header + "\"a,1,0,5\n") == "2 open-quote");
}

TEST_CASE("job logs: a mark of UTF-8 before the first line changes nothing") {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string header = "job_id,num_gpu,submit_time,duration\n";
  CHECK(read_log("tiresias", mark + header + "c,1,0,5\n").name(0) == "c");
  CHECK(read_log("tiresias", mark + "\"job_id\",num_gpu,submit_time,duration\nc,1,0,5\n").name(0) == "c");
  const std::string swf = "; UnixStartTime: 1000\n1 0 5 100 8 -1 -1 8 200 -1 1 1 1 1 1 1 -1 -1\n";
  const ReadLog log = read_log("swf", mark + swf);
  CHECK(log.jobs.size() == 1);
  CHECK(log.left_out.empty());
  CHECK(log.zero == wall_seconds(1000));
  CHECK(problems_of_log("tiresias", mark) == "1 no-header");
}

TEST_CASE("job logs: a file of one column has other separators, and two columns of one name are refused") {
  const auto hint_of = [](std::string_view format, std::string_view text) {
    try {
      read_log(format, text);
    } catch (const ScenarioError& error) { return error.problems().front().hint; }
    return std::string();
  };
  CHECK(hint_of("slurm", "JobID;Submit;Start;End\n") ==
        R"(the fields of the file seem to stand between ';': write "delimiter": ";")");
  CHECK(hint_of("slurm", "JobID\tSubmit\tStart\n").ends_with(R"("delimiter": "\t")"));
  CHECK(hint_of("helios", "job_id;user;vc\n") ==
        "the fields of this format stand between ',', those of the file between ';'");
  CHECK(hint_of("helios", "job_id\n") == "the file has job_id");
  CHECK(problems_of_log("tiresias", "job_id,num_gpu,submit_time,submit_time,duration\n") == "1 duplicate-column");
  CHECK(problems_of_log("slurm", "a|b\n", R"({"columns": ["JobID", "Submit", "Submit"]})") == "1 duplicate-column");
}

TEST_CASE("job logs: elements that are no jobs and fields that are not used are counted") {
  const ReadLog jobs = read_log("philly", "[1, null,\n\"a\", [{}], true, {}]");
  CHECK(jobs.rows == 6);
  CHECK(jobs.left("it is no object") == 5);
  CHECK(jobs.left("it has no attempt") == 1);
  const ReadLog swf = read_log("swf",
                               "1 0 5 100 8 -1 -1 8 200 -1 1 1 1 1 1 1 -1 -1\n"
                               "2 0 5 100 8 -1 -1 8 200 -1 1 1 1 1 1 1 1 20\n");
  CHECK(swf.jobs.size() == 2);
  CHECK(swf.without_effect.at("the preceding job (field 17)").rows == 1);
  CHECK(swf.without_effect.at("the think time (field 18)").first_line == 2);
}
