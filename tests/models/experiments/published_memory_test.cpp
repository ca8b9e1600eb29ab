// Plans of published steps ran: by the estimate of their memory they fit.
#include <algorithm>
#include <filesystem>
#include <vector>

#include <doctest/doctest.h>

#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/training.hpp"
#include "tests/test_files.hpp"

using namespace athanor;

TEST_CASE("every published plan fits into the memory of the GPUs that it ran on") {
  const Library library(ATHANOR_TEST_SCENARIOS);
  std::vector<std::filesystem::path> files;
  for (const auto& each :
       std::filesystem::directory_iterator(std::filesystem::path(ATHANOR_TEST_SCENARIOS) / "training")) {
    if (each.path().extension() == ".json") { files.push_back(each.path()); }
  }
  std::sort(files.begin(), files.end());
  std::size_t measured = 0;
  for (const std::filesystem::path& file : files) {
    CAPTURE(file);
    for (const Case& each : read_scenario(file.string(), library).cases) {
      const auto* training = each.as<TrainingExperiment>();
      if (training == nullptr || !training->training().measured) { continue; }
      CAPTURE(each.name);
      CHECK(training->training().memory.total() <= training->training().setup.gpu.memory);
      ++measured;
    }
  }
  CHECK(measured >= 398);
}
