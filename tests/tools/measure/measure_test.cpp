#include <cmath>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/measure/run.hpp"
#include "tools/measure/threads_backend.hpp"

using namespace athanor;

namespace {

/// athanor measure with few iterations of small payloads.
Ran measured(std::vector<std::string> options, int interrupted_after = -1) {
  options.insert(options.begin(), {"measure", "--iterations", "4", "--warm-up", "1"});
  return athanor_with(options, interrupted_after);
}

/// A backend that tells which trials it was given, and takes as many microseconds as it is told.
class Recorder final : public Backend {
 public:
  std::string_view name() const override { return "recorder"; }
  std::optional<std::uint32_t> ranks() const override { return std::nullopt; }
  std::vector<std::string> libraries() const override { return {"library"}; }
  TrialOutcome run(const Trial& trial) override {
    trials.push_back(trial);
    TrialOutcome outcome;
    for (std::uint32_t i = 0; i < trial.iterations; ++i) {
      outcome.durations.push_back(std::chrono::microseconds{++clock});
    }
    outcome.wrong = wrong;
    if (wrong > 0) { outcome.first_wrong = "rank 1, element 2"; }
    return outcome;
  }
  std::vector<std::pair<std::string, std::string>> facts() const override { return {}; }

  std::vector<Trial> trials;
  std::int64_t clock = 0;
  std::uint64_t wrong = 0;
};

MeasureRequest request_for(std::vector<std::string> algorithms) {
  MeasureRequest request;
  request.algorithms = std::move(algorithms);
  request.ranks = {4};
  request.sizes = {Bytes{1024}};
  request.types = {DataType::float32};
  request.reductions = {Reduction::sum};
  request.in_place = {false};
  return request;
}

/// The points of a request on a recorder.
std::vector<MeasuredPoint> points_of(const MeasureRequest& request, Recorder& recorder) {
  return plan(request, {&recorder}, [](const std::string&) {});
}

}  // namespace

TEST_CASE("every collective is measured by every algorithm that fits, and nothing is wrong") {
  for (const CollectiveKind kind : collective_kinds()) {
    CAPTURE(name(kind));
    const Ran ran = measured({"--collective", std::string(name(kind)), "--algorithm", "all", "--ranks", "3", "--sizes",
                              kind == CollectiveKind::barrier ? "0B" : "1200B", "--json"});
    REQUIRE(ran.code == 0);
    const auto results = ran.json()["results"];
    REQUIRE(results.size() > 0);
    for (const auto& row : results) {
      CAPTURE(row);
      CHECK(row["collective"] == name(kind));
      CHECK(row["ranks"] == 3);
      CHECK(row["wrong"] == 0);
      CHECK(row["iterations"] == 4);
      CHECK(row["time_us"].get<double>() >= row["min_time_us"].get<double>());
      CHECK(row["min_time_us"].get<double>() > 0);
    }
  }
}

TEST_CASE("types and reductions make a row each, in place and out of place stand side by side") {
  const Ran table = measured({"--ranks", "2", "--sizes", "1KiB", "--type", "all", "--reduction", "sum,max"});
  REQUIRE(table.code == 0);
  CHECK(table.says("    1024          256     float    sum    -1"));
  CHECK(table.says("    1024         1024      int8    max    -1"));
  CHECK(table.says("# Out of bounds values : 0 OK"));
  const Ran json = measured({"--ranks", "2", "--sizes", "1KiB", "--type", "all", "--reduction", "all", "--json"});
  CHECK(json.json()["results"].size() == data_types().size() * reductions().size() * 2);
}

TEST_CASE("bandwidths follow from bytes, time and ranks") {
  const auto rows = measured({"--ranks", "4", "--sizes", "64KiB", "--json"}).json()["results"];
  for (const auto& row : rows) {
    CHECK(row["algbw_gbps"].get<double>() == doctest::Approx(65536 / row["time_us"].get<double>() / 1000));
    CHECK(row["busbw_gbps"].get<double>() == doctest::Approx(row["algbw_gbps"].get<double>() * 1.5));
  }
}

TEST_CASE("subjects take turns, and each gets its iterations exactly") {
  MeasureRequest request = request_for({"ring", "butterfly", "library"});
  request.iterations = 10;
  Recorder recorder;
  const auto points = points_of(request, recorder);
  REQUIRE(points.size() == 1);
  const auto rows = measure(request, points[0], [](const Subject&) { return true; });
  const auto& trials = recorder.trials;
  REQUIRE(trials.size() == 12);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CHECK((trials[i].schedule == nullptr) == (i % 3 == 2));
    CHECK(trials[i].iterations == (i < 3 || (i >= 6 && i < 9) ? 2 : 3));
    CHECK(trials[i].warm_up == request.warm_up);
  }
  REQUIRE(rows.size() == 3);
  for (const MeasuredRow& row : rows) { CHECK(row.iterations == 10); }
  CHECK(rows[0].least_us == 1);
  CHECK(rows[2].algorithm == "library");
}

TEST_CASE("one subject alone gets all its iterations at once") {
  const MeasureRequest request = request_for({"ring"});
  Recorder recorder;
  const auto points = points_of(request, recorder);
  measure(request, points[0], [](const Subject&) { return true; });
  const auto& trials = recorder.trials;
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].iterations == request.iterations);
}

TEST_CASE("who stops between turns keeps what was measured, and subjects without a turn are left out") {
  const MeasureRequest request = request_for({"ring", "butterfly"});
  Recorder recorder;
  const auto points = points_of(request, recorder);
  int turns = 3;
  const auto some = measure(request, points[0], [&](const Subject&) { return turns-- > 0; });
  REQUIRE(some.size() == 2);
  CHECK(some[0].iterations == 10);
  CHECK(some[1].iterations == 5);
  turns = 1;
  CHECK(measure(request, points[0], [&](const Subject&) { return turns-- > 0; }).size() == 1);
}

TEST_CASE("wrong results are counted and the first is kept") {
  const MeasureRequest request = request_for({"ring", "butterfly"});
  Recorder recorder;
  const auto points = points_of(request, recorder);
  recorder.wrong = 2;
  const auto rows = measure(request, points[0], [](const Subject&) { return true; });
  CHECK(rows[0].wrong == 8);
  CHECK(rows[0].first_wrong == "rank 1, element 2");
}

TEST_CASE("the median of an even number is the mean of the middle two") {
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 100}) == 3.5);
}

TEST_CASE("the threads backend finds a schedule that computes something else") {
  const Collective asked{.kind = CollectiveKind::all_reduce, .ranks = 3, .count = Elements{100}};
  Collective done = asked;
  done.kind = CollectiveKind::broadcast;
  const auto schedule = find(done.kind, "ring").make(done, {});
  const TrialOutcome outcome = make_threads_backend()->run(
      {.collective = asked, .schedule = schedule.get(), .library = {}, .slots = {}, .warm_up = 0, .iterations = 1});
  CHECK(outcome.wrong == 3);
  REQUIRE(outcome.first_wrong);
  CHECK(outcome.first_wrong->find("rank 0") != std::string::npos);
}

TEST_CASE("an algorithm that was named must fit, and one of all need not") {
  const Ran named = measured({"--algorithm", "recursive_halving", "--collective", "reduce_scatter", "--ranks", "3",
                              "--group", "2", "--sizes", "1KiB"});
  CHECK(named.code == 3);
  CHECK(named.says("groups of 2 do not divide 3 ranks"));
  const Ran in_place = measured({"--collective", "all_to_all", "--ranks", "2", "--sizes", "1KiB", "--in-place"});
  CHECK(in_place.code == 3);
  CHECK(in_place.says("cannot be done in place"));
  const Ran unknown = measured({"--algorithm", "rng", "--ranks", "2", "--sizes", "1KiB"});
  CHECK(unknown.code == 3);
  CHECK(unknown.says("did you mean \"ring\"?"));
  const Ran all = measured({"--algorithm", "all", "--ranks", "2", "--sizes", "8B", "--in-place"});
  CHECK(all.code == 0);
  CHECK(all.says("note: nvls is left out"));
}

TEST_CASE("what cannot be measured is refused before anything runs") {
  const auto refused = [](std::vector<std::string> options, const char* says) {
    const Ran ran = measured(std::move(options));
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.says(says));
    CHECK(ran.out.empty());
  };
  refused({"--ranks", "2", "--sizes", "6B"}, "6 B is no whole number of float32 elements of 4 B");
  refused({"--ranks", "1000", "--sizes", "1TiB"}, "GiB of memory, and");
  refused({"--ranks", "0"}, "--ranks '0' is not a whole number from 1 on");
  refused({"--ranks", "2,,3"}, "holds an empty word");
  refused({"--backend", "thread"}, "did you mean 'threads'?");
  refused({"--backend", "threads,threads"}, "the backend threads is named twice");
  refused({"--type", "flaot32"}, "did you mean 'float32'?");
  refused({"--collective", "all_redcue"}, "did you mean 'all_reduce'?");
  refused({"--time-limit", "0s"}, "--time-limit is more than 0 s");
  refused({"--channels", "0"}, "--channels '0' is not a whole number from 1 on");
  CHECK(measured({"--json", "--csv"}).says("cannot share stdout"));
  CHECK(athanor_run({"measure", "--iterations", "0"}).says("--iterations '0' is not a whole number from 1 on"));
}

TEST_CASE("Ctrl-C ends with 130, with what was measured so far in every form") {
  const Folder folder;
  const Ran ran = measured({"--ranks", "2", "--sizes", "1KiB..4KiB", "--in-place", "--json=" + folder.path("r.json"),
                            "-o", folder.path("m.json")},
                           5);  // asked before the first size, after each batch of its iterations, and after it
  CHECK(ran.code == 130);
  CHECK(ran.says("# interrupted"));
  const auto results = json_in_file(folder.path("r.json"));
  CHECK(results["results"].size() == 1);
  CHECK(results["manifest"]["interrupted"] == true);
  Problems problems;
  CHECK(read_measurement(FileReader(), folder.path("m.json"), problems).rows.size() == 1);
  CHECK(problems.empty());
}

TEST_CASE("Ctrl-C within the iterations of a size ends with those that were timed, and within its warm-up with none") {
  const std::vector<std::string> options{"--ranks", "2", "--sizes", "1KiB..4KiB", "--in-place", "--json"};
  const Ran timed = measured(options, 2);
  CHECK(timed.code == 130);
  REQUIRE(timed.json()["results"].size() == 1);
  CHECK(timed.json()["results"][0]["iterations"] == 1);
  const Ran warming = measured(options, 1);
  CHECK(warming.code == 130);
  CHECK(warming.json()["results"].empty());
}

TEST_CASE("the measurement file holds rows, settings and the machine, and a host only where it is asked for") {
  const Folder folder;
  const std::string path = folder.path("mine.json");
  REQUIRE(measured({"--algorithm", "ring,butterfly", "--ranks", "2,3", "--sizes", "1KiB,2KiB", "--rings", "4",
                    "--chunk", "512B", "--slots", "9", "-o", path})
              .code == 0);
  Problems problems;
  const Measurement measurement = read_measurement(FileReader(), path, problems);
  CHECK(problems.empty());
  CHECK(measurement.id == "mine");
  CHECK(measurement.rows.size() == 16);
  CHECK_FALSE(measurement.machine.empty());
  CHECK(measurement.healthy);
  REQUIRE(measurement.settings);
  CHECK(measurement.settings->backend == "threads");
  CHECK(measurement.settings->chunk == Bytes{512});
  CHECK(measurement.settings->slots == 9U);
  CHECK(measurement.settings->rings == 4);
  CHECK(measurement.settings->dimensions.empty());
  CHECK(measurement.settings->iterations == 4);
  const auto* row =
      measurement.find({.kind = CollectiveKind::all_reduce, .ranks = 3, .algorithm = "butterfly"}, Bytes{2048});
  REQUIRE(row != nullptr);
  CHECK_FALSE(row->in_place);
  CHECK(*row->min_us <= *row->time_us);
  const auto has_host = [&] { return json_in_file(path)["hardware"].contains("host"); };
  CHECK_FALSE(has_host());
  REQUIRE(measured({"--ranks", "2", "--sizes", "8B", "--host-name", "-o", path}).code == 0);
  CHECK(has_host());
}

TEST_CASE("CSV has the keys of JSON as columns") {
  const Ran ran = measured({"--ranks", "2", "--sizes", "8B", "--in-place", "--csv"});
  CHECK(ran.code == 0);
  CHECK(ran.out.starts_with("collective,algorithm,channels,ranks,bytes,type,reduction,root,in_place,backend,time_us,"));
  CHECK(ran.out.find("\nall_reduce,ring,1,2,8,float32,sum,-1,true,threads,") != std::string::npos);
}
