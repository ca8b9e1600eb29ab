#include "models/experiments/scenario/measurement.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// What is wrong with a file, as printed; "" for nothing.
std::string mistakes(const Folder& folder, const std::string& text) {
  Problems problems;
  read_measurement(FileReader(), folder.write("m.json", text), problems);
  std::string all;
  for (const Problem& problem : problems.list()) { all += describe(problem) + "\n"; }
  return all;
}

Measurement read(const Folder& folder, const std::string& text) {
  Problems problems;
  Measurement measurement = read_measurement(FileReader(), folder.write("m.json", text), problems);
  problems.throw_if_any();
  return measurement;
}

Measurement::Row row(std::int64_t bytes, double time_us, const char* algorithm, bool in_place) {
  return {.bytes = Bytes{bytes},
          .time_us = time_us,
          .min_us = time_us / 2,
          .ranks = 2,
          .algorithm = algorithm,
          .in_place = in_place,
          .type = DataType::float32,
          .iterations = 20,
          .backend = {},
          .wrong = 0,
          .busbw_gbps = {}};
}

Measurement several() {
  Measurement measurement;
  measurement.id = "mine";
  measurement.source = "a test";
  measurement.machine = "Some CPU, 2 cores";
  measurement.kind = "athanor measure";
  measurement.hardware_facts = {{"cores", 2}};
  measurement.software_facts = {{"mpi", "Open MPI 4.1.4"}};
  measurement.settings = MeasurementSettings{.backend = "threads", .chunk = Bytes{65536}, .slots = 4, .warm_up = 5};
  measurement.rows = {row(1024, 10, "ring", true), row(1024, 11, "ring", false), row(1024, 7.5, "butterfly", false)};
  return measurement;
}

constexpr const char* kPublished = R"({"id": "m", "source": "s", "collective": "alltoall", "dtype": "half",
  "hardware": {"gpu": "H100", "nodes": 2, "gpus_per_node": 8}, "software": {"algo": "Ring"},
  "rows": [{"bytes": 8, "time_us": 3.5}, {"bytes": 8, "time_us": 2.5, "gpus": 4}, {"bytes": 16, "time_us": null}],
  "rows_in_place": [{"bytes": 32, "time_us": 4, "algorithm": "NVLS"}]})";

}  // namespace

TEST_CASE("a measurement that is written reads back as it was") {
  const Folder folder;
  const Measurement written = several();
  const Measurement back = read(folder, measurement_json(written));
  CHECK(back.machine == written.machine);
  CHECK(back.hardware == written.machine);
  CHECK(back.hardware_facts == written.hardware_facts);
  CHECK(back.software_facts == written.software_facts);
  REQUIRE(back.settings);
  CHECK(back.settings->chunk == Bytes{65536});
  CHECK(back.settings->slots == 4U);
  CHECK(back.settings->warm_up == 5);
  REQUIRE(back.rows.size() == written.rows.size());
  for (std::size_t i = 0; i < back.rows.size(); ++i) {
    CAPTURE(i);
    const Measurement::Row& one = back.rows[i];
    const Measurement::Row& other = written.rows[i];
    CHECK(one.bytes == other.bytes);
    CHECK(*one.time_us == doctest::Approx(*other.time_us));
    CHECK(*one.min_us == doctest::Approx(*other.min_us));
    CHECK(one.algorithm == other.algorithm);
    CHECK(one.in_place == other.in_place);
    CHECK(one.ranks == 2);
    CHECK(one.type == DataType::float32);
    CHECK(one.iterations == 20U);
  }
}

TEST_CASE("what all rows have in common stands once, and what differs stands in the rows") {
  const auto json = json_from(measurement_json(several()));
  CHECK(json["collective"] == "all_reduce");
  CHECK(json["ranks"] == 2);
  CHECK_FALSE(json.contains("algorithm"));
  CHECK(json["rows"][2]["algorithm"] == "butterfly");
  CHECK_FALSE(json["rows"][2].contains("ranks"));
  CHECK(json["rows"][1]["busbw_gbps"].get<double>() == doctest::Approx(1024 / 11.0 / 1000));
}

TEST_CASE("rows of published tables get what their file says once") {
  const Folder folder;
  const Measurement published = read(folder, kPublished);
  CHECK(published.hardware == "2 x 8 H100");
  REQUIRE(published.rows.size() == 4);
  CHECK(published.rows[0].ranks == 16);
  CHECK(published.rows[1].ranks == 4);
  CHECK(published.rows[0].collective == CollectiveKind::all_to_all);
  CHECK(published.rows[0].type == DataType::float16);
  CHECK_FALSE(published.rows[2].time_us);
  CHECK(published.rows[3].in_place);
  CHECK(published.rows[3].algorithm == "NVLS");
}

TEST_CASE("a time follows from a published bus bandwidth of three digits, and not from fewer") {
  const Folder folder;
  const Measurement published = read(folder, R"({"id": "t", "source": "s", "collective": "all_reduce",
    "hardware": {"gpu": "H100", "nodes": 1, "gpus_per_node": 8}, "software": {"algo": "Ring"}, "dtype": "float",
    "rows": [{"bytes": 4294967296, "time_us": null, "busbw_gbps": 480},
             {"bytes": 4096, "time_us": null, "busbw_gbps": 0.23}]})");
  REQUIRE(published.rows[0].time_us);
  CHECK(*published.rows[0].time_us == doctest::Approx(4294967296 * 1.75 / 480e3));
  CHECK_FALSE(published.rows[1].time_us);
}

TEST_CASE("one algorithm stands for all, several are told apart by name, and out of place goes first") {
  const Measurement measurement = several();
  const auto time = [&](const char* algorithm, std::uint32_t ranks = 2) {
    const Measurement::Row* found =
        measurement.find({.kind = CollectiveKind::all_reduce, .ranks = ranks, .algorithm = algorithm}, Bytes{1024});
    return found == nullptr ? 0 : *found->time_us;
  };
  CHECK(time("ring") == 11);
  CHECK(time("Butterfly") == 7.5);
  CHECK(time("bruck") == 0);
  CHECK(time("ring", 3) == 0);
  const Folder folder;
  const Measurement published = read(folder, kPublished);
  const auto pairwise = [](std::uint32_t ranks) {
    return Measurement::Wanted{.kind = CollectiveKind::all_to_all, .ranks = ranks, .algorithm = "pairwise"};
  };
  CHECK(published.find(pairwise(4), Bytes{8})->time_us == 2.5);
  CHECK(published.find(pairwise(16), Bytes{16}) == nullptr);
  CHECK_FALSE(published.covers(CollectiveKind::all_reduce));
  CHECK(published.covers(CollectiveKind::all_to_all, 4));
}

TEST_CASE("what neither a row nor its file says is missing, with the place of the row") {
  const Folder folder;
  const std::string text = R"({"id": "m", "source": "s", "hardware": {"machine": "x"}, "software": {},
  "rows": [
    {"bytes": 8, "time_us": 1, "collective": "reduce", "ranks": 2, "algorithm": "ring"},
    {"bytes": 8, "time_us": 1}]})";
  const std::string found = mistakes(folder, text);
  for (const char* key : {"collective", "ranks", "algorithm"}) {
    CHECK(found.find(fmt::format("m.json:4:5: neither this row nor the file says \"{}\" (at /rows/1)", key)) !=
          std::string::npos);
  }
  CHECK(found.find("/rows/0") == std::string::npos);
  CHECK(mistakes(folder, R"({"id": "m", "source": "s", "hardware": {}, "software": {"algo": "x"}, "ranks": 2,
    "collective": "reduce", "rows": [{"bytes": 8, "time_us": 1}]})")
            .find("neither \"gpu\" nor \"machine\"") != std::string::npos);
  CHECK(mistakes(folder, R"({"id": "m", "source": "s", "hardware": {"machine": "x"}, "software": {"algo": "x"},
    "ranks": 2, "collective": "reduce", "rows": [{"bytes": 8, "time_us": -1}]})")
            .find("/rows/0/time_us") != std::string::npos);
}

TEST_CASE("verify holds the algorithm that was simulated against the rows of that algorithm") {
  const Folder folder;
  Measurement measurement = several();
  for (Measurement::Row& each : measurement.rows) { each.ranks = 4; }
  folder.write("m.json", measurement_json(measurement));
  const std::string scenario =
      folder.write("s.json", small_with("\"name\"", R"("verify": {"measurement": "m.json"}, "name")"));
  const Ran ran = athanor_run({"verify", scenario, "--sizes", "1KiB", "--json"});
  REQUIRE(ran.code == 0);
  CHECK(ran.json()["results"][0]["measured_time_us"] == 11);
}

TEST_CASE("the schema of measurements is printed, with the keys of rows") {
  const Ran ran = athanor_run({"schema", "measurement"});
  REQUIRE(ran.code == 0);
  const nlohmann::json row = ran.json()["properties"]["rows"]["items"];
  CHECK(row["properties"].contains("min_us"));
  CHECK(row["properties"]["time_us"]["type"] == nlohmann::json({"number", "null"}));
  CHECK(athanor_run({"schema", "scenario"}).out == athanor_run({"schema"}).out);
  const Ran wrong = athanor_run({"schema", "mesurement"});
  CHECK(wrong.code == 2);
  CHECK(wrong.says("did you mean 'measurement'?"));
}
