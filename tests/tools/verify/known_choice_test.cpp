#include <doctest/doctest.h>

#include "models/experiments/collective.hpp"
#include "tools/verify/published_table.hpp"

using namespace athanor;

namespace {

std::vector<Record> rows_of(const std::vector<std::pair<const char*, const char*>>& ran) {
  std::vector<Record> rows;
  std::int64_t size = 1024;
  for (const auto& [algorithm, protocol] : ran) {
    Record& row = rows.emplace_back();
    row.put(kAlgorithm, algorithm);
    row.put(kProtocol, protocol);
    row.put(kBytes, size);
    size *= 2;
  }
  return rows;
}

using Algorithms = std::vector<NcclAlgorithm>;

}  // namespace

TEST_CASE("what a table says of the algorithm is forced, chosen for large sizes, or unknown") {
  CHECK(known_choice("auto").algorithms.empty());
  CHECK(known_choice("").algorithms.empty());
  CHECK(known_choice("SHARP (HCOLL_ENABLE_SHARP=3, SHARP_COLL_ENABLE_SAT=1)").algorithms.empty());
  CHECK(known_choice("Ring").algorithms == Algorithms{NcclAlgorithm::ring});
  CHECK(known_choice("Ring").forced);
  CHECK(known_choice("Ring and NVLS").algorithms == Algorithms{NcclAlgorithm::ring, NcclAlgorithm::nvls});
  CHECK(known_choice("auto (2 nodes: Tree/NVLSTree)").algorithms ==
        Algorithms{NcclAlgorithm::tree, NcclAlgorithm::nvls_tree});
  CHECK_FALSE(known_choice("auto (NVLS for large sizes)").forced);
}

TEST_CASE("a forced algorithm has to run at all sizes, one that the library chose at the largest") {
  const auto rows = rows_of({{"ring", "LL"}, {"nvls", "NVLS"}});
  CHECK(agrees(known_choice("auto (NVLS for large sizes)"), rows));
  CHECK_FALSE(agrees(known_choice("NVLS"), rows));
  CHECK(agrees(known_choice("Ring and NVLS"), rows));
  CHECK_FALSE(agrees(known_choice("auto (Tree)"), rows));
  CHECK(agrees(known_choice("Tree"), rows_of({{"double_binary_tree", "LL"}})));
  CHECK(agrees(known_choice("Tree"), rows_of({{"node_chain_tree", "LL"}})));
  CHECK(agrees(known_choice("CollnetDirect"), rows_of({{"collnet_direct", "Simple"}})));
  CHECK(agrees(known_choice("NVLS"), rows_of({{"nvls_sharp", "Simple"}})));
  CHECK(agrees(known_choice("NVLSTree"), rows_of({{"nvls_tree", "Simple"}})));
  CHECK_FALSE(agrees(known_choice("Ring"), rows_of({{"recursive_doubling", "LL"}})));
}

TEST_CASE("choices are told from the size on at which they change") {
  CHECK(choices_by_size(rows_of({{"ring", "LL"}, {"ring", "LL"}, {"ring", "LL128"}, {"nvls", "NVLS"}})) ==
        "ring LL, LL128 from 4 KiB, nvls NVLS from 8 KiB");
  CHECK(choices_by_size({}) == "");
}
