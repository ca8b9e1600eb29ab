// What papers on compression measured, beside ours: scenarios/training/compression.json, in docs/training.md.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::vector<nlohmann::json> rows_of(const std::vector<std::string>& cases) {
  std::vector<std::string> words{"run", "../scenarios/training/compression.json", "--json", "--quiet"};
  for (const std::string& each : cases) { words.insert(words.end(), {"--case", each}); }
  const Ran ran = athanor_run(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"];
}

double step(const nlohmann::json& row) { return row["step_time_s"].get<double>(); }

bool within(double ours, double published, double share) { return std::abs(ours / published - 1) <= share; }

std::vector<std::string> by_rank(const std::string& model) {
  std::vector<std::string> cases{model + ", no compression"};
  for (const std::string rank : {"1", "2", "4"}) { cases.push_back(model + ", PowerSGD, rank " + rank); }
  return cases;
}

}  // namespace

TEST_CASE("PowerSGD sends of ResNet-18 and an LSTM what its paper says, and its steps come out within 11 %") {
  // Vogels et al. 2019, table 3: data sent per epoch in parts of SGD's, and time per batch; that of rank 1 says
  // how fast the GPUs compute.
  struct Published {
    const char* model;
    std::vector<double> smaller;
    std::vector<double> seconds;
  };
  for (const auto& [model, smaller, times] : {Published{"ResNet-18", {243, 136, 72}, {0.312, 0.229, 0.239, 0.260}},
                                              Published{"LSTM", {310, 203, 120}, {0.300, 0.131, 0.141, 0.134}}}) {
    CAPTURE(model);
    const auto rows = rows_of(by_rank(model));
    REQUIRE(rows.size() == times.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CAPTURE(i);
      CHECK(within(step(rows[i]), times[i], i == 1 ? 0.005 : 0.11));
      if (i == 0) { continue; }
      const double ratio =
          rows[i]["uncompressed_sent_bytes"].get<double>() / rows[i]["copies_sent_bytes"].get<double>();
      CHECK(within(ratio, smaller[i - 1], 0.005));
    }
  }
}

TEST_CASE("BERT-Large over Ethernet takes what the paper on 1-bit Adam has measured within 9 %, and gains as much") {
  // Tang et al. 2021, table 1: 16 sequences on each GPU, no accumulation; 3.3 times faster with all steps counted.
  const std::vector<std::string> nodes{"2", "4", "8", "16"};
  const std::vector<double> measured{2.0684, 2.3099, 2.3476, 2.4475};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto rows =
        rows_of({"BERT-Large, " + nodes[i] + " nodes, Adam", "BERT-Large, " + nodes[i] + " nodes, 1-bit Adam"});
    CHECK(within(step(rows[0]), measured[i], 0.09));
    CHECK(rows[1]["uncompressed_step_time_s"] == rows[0]["step_time_s"]);
    if (i == 3) { CHECK(within(step(rows[0]) / rows[1]["mean_step_time_s"].get<double>(), 3.3, 0.1)); }
  }
}

TEST_CASE("ZeRO++ over 200 Gb/s trains 18 billion parameters as fast as ZeRO-3 over 800, as its authors found") {
  for (const std::string tokens : {"1K", "2K"}) {
    const auto rows =
        rows_of({"18B, 200 Gb/s, " + tokens + " tokens, ZeRO++", "18B, 800 Gb/s, " + tokens + " tokens, ZeRO-3"});
    CHECK(within(step(rows[0]), step(rows[1]), 0.03));
  }
}
