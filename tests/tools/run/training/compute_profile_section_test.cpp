#include "models/experiments/scenario/compute_profile_section.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

const Library& library() {
  static const Library shipped(ATHANOR_TEST_SCENARIOS);
  return shipped;
}

struct ReadProfile {
  ComputeProfile profile;
  std::string mistakes;
};

ReadProfile read_section(const std::string& text) {
  ReadProfile read;
  Problems problems;
  const Document document = Document::parse(fmt::format(R"({{"compute": {}}})", text), "s.json");
  read_document(document, problems, [&](Fields& fields) {
    fields.required_value("compute", "", [&](FieldValue& value) {
      read_compute_profile(value, library().files(), library(), problems, read.profile);
    });
  });
  for (const Problem& problem : problems.list()) { read.mistakes += describe(problem) + "\n"; }
  return read;
}

}  // namespace

TEST_CASE("every shipped compute profile can be read, and says where its figures come from") {
  const std::vector<std::string> names = library().names(LibraryFolder::compute);
  CHECK(names.size() >= 4);
  for (const std::string& name : names) {
    CAPTURE(name);
    const ReadProfile read = read_section(fmt::format("\"{}\"", name));
    CHECK(read.mistakes.empty());
    CHECK(read.profile.name == name);
    CHECK_FALSE(read.profile.source.empty());
  }
}

TEST_CASE("a compute profile may be written out") {
  const ReadProfile read = read_section(R"({"gemm": {"share": 0.6, "depth": 100, "fp8": {"depth": 900}},
    "attention": 0.4, "memory": 1.5, "overhead": "4us", "pass_overhead": "300us", "interference": 0.1, "straggler_growth": 0.01,
    "fitted": {"gpus": ["H100-SXM-80GB"], "precisions": ["fp8"]}})");
  CHECK(read.mistakes.empty());
  CHECK(read.profile.gemm.share == 0.6);
  CHECK(read.profile.products(Precision::fp8).share == 0.6);
  CHECK(read.profile.products(Precision::fp8).depth == 900);
  CHECK(read.profile.products(Precision::fp4).depth == 100);
  CHECK(read.profile.attention == 0.4);
  CHECK(read.profile.memory == 1.5);
  CHECK(read.profile.overhead == 4_us);
  CHECK(read.profile.pass_overhead == 300_us);
  CHECK(read.profile.interference == 0.1);
  CHECK(read.profile.straggler_growth == 0.01);
  CHECK(read.profile.covers("H100-SXM-80GB", Precision::fp8));
  CHECK_FALSE(read.profile.covers("H100-SXM-80GB", Precision::bf16));
  CHECK_FALSE(read_section("{}").profile.covers("H100-SXM-80GB", Precision::bf16));
}

TEST_CASE("what is wrong with a compute profile is said") {
  CHECK(read_section(R"("hoper")").mistakes.find("did you mean 'hopper'?") != std::string::npos);
  CHECK(read_section(R"({"gemm": {"share": 0}})").mistakes.find("out of range") != std::string::npos);
  CHECK(read_section(R"({"gem": {}})").mistakes.find("did you mean 'gemm'?") != std::string::npos);
  CHECK(read_section(R"({"overhead": 3})").mistakes.find("unit") != std::string::npos);
}

TEST_CASE("every GPU preset has rates, a memory and its bandwidth") {
  for (const auto& [name, preset] : load_presets(FileReader().in(library().folder(LibraryFolder::presets)))->gpus) {
    CAPTURE(name);
    const GpuRates rates = find_gpu_rates({.preset = name, .figures = {}, .place = {}}, library());
    CHECK(rates.memory > 1e10);
    CHECK(rates.memory_bandwidth > 1e11);
    CHECK_FALSE(rates.flops.empty());
    CHECK(peak_of(rates, Precision::fp16) > 1e13);
  }
  CHECK(find_gpu_rates({.preset = "H100-SXM-80GB", .figures = {}, .place = {}}, library()).power_w == 700);
  CHECK_THROWS_AS(find_gpu_rates({.preset = "H100", .figures = {}, .place = {}}, library()), ScenarioError);
}

TEST_CASE("list compute shows what profiles and their pool were fitted on, and how far they are off") {
  const Ran text = athanor_run({"list", "compute"});
  CHECK(text.says("hopper"));
  const nlohmann::json rows = athanor_run({"list", "compute", "--json"}).json()["results"];
  REQUIRE(rows.size() == library().names(LibraryFolder::compute).size() + 1);
  for (const nlohmann::json& row : rows) {
    CAPTURE(row["name"]);
    CHECK(text.says(row["name"].get<std::string>()));
    if (row["kind"] != "profile" || row["gpus"].empty()) { continue; }
    CHECK_FALSE(row["software"].empty());
    CHECK_FALSE(row["precisions"].empty());
    CHECK(row["steps"] == row["errors"]["fitted"]["steps"]);
    CHECK(row["errors"]["fitted"]["median"] <= row["errors"]["fitted"]["p90"]);
  }
  const nlohmann::json& pool = rows.back();
  CHECK(pool["kind"] == "pool");
  CHECK_FALSE(pool["parts"].empty());
  CHECK_FALSE(pool["errors"].empty());
}

TEST_CASE("list compute shows a profile that was not fitted by what it is") {
  const Ran text = athanor_run({"list", "compute"});
  CHECK(text.says("hopper                         Megatron-Core"));
  const nlohmann::json rows = athanor_run({"list", "compute", "--json"}).json()["results"];
  const auto hopper = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row["name"] == "hopper"; });
  REQUIRE(hopper != rows.end());
  CHECK((*hopper)["steps"] == 0);
  CHECK((*hopper)["errors"].empty());
}
