#include <doctest/doctest.h>

#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

const std::string kFolder = ATHANOR_TEST_SCENARIOS "/algorithms/";

Ran measured(std::vector<std::string> options) {
  options.insert(options.begin(), {"measure", "--iterations", "4", "--warm-up", "1"});
  return athanor_run(options);
}

/// A schedule of ours, written as MSCCL XML.
std::string exported(const Folder& folder, const std::string& algorithm, const std::string& ranks) {
  const std::string path = folder.path(algorithm + ".xml");
  const Ran ran =
      athanor_run({"export", "schedule", "all_reduce", algorithm, "--format", "msccl", "--ranks", ranks, "-o", path});
  REQUIRE(ran.code == 0);
  return path;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("an exported schedule is measured from its file, beside the original, and nothing is wrong") {
  const Folder folder;
  for (const char* algorithm : {"ring", "halving_doubling", "double_binary_tree", "direct_two_shot"}) {
    CAPTURE(algorithm);
    const std::string path = exported(folder, algorithm, "4");
    const Ran ran = measured({"--algorithm", path + "," + algorithm, "--ranks", "4", "--sizes", "3KiB", "--type",
                              "float32,int8", "--out-of-place", "--json"});
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    const auto results = ran.json()["results"];
    REQUIRE(results.size() == 4);
    CHECK(results[0]["algorithm"] == std::string("all_reduce_") + algorithm + "_4");
    CHECK(results[1]["algorithm"] == algorithm);
    for (const auto& row : results) { CHECK(row["wrong"] == 0); }
  }
}

TEST_CASE("collective, ranks, sizes and places are those of the file where nobody says other ones") {
  const Ran reduce = measured({"--algorithm", kFolder + "reduce_scratch_4.xml", "--json"});
  REQUIRE(reduce.code == 0);
  const auto reduced = reduce.json();
  for (const auto& row : reduced["results"]) {
    CHECK(row["collective"] == "reduce");
    CHECK(row["ranks"] == 4);
    CHECK(row["in_place"] == false);
    CHECK(row["wrong"] == 0);
  }
  const Ran ring = measured({"--algorithm", "msccl:" + kFolder + "allreduce_ring_4.xml", "--json"});
  REQUIRE(ring.code == 0);
  const auto results = ring.json()["results"];
  CHECK(results.front()["bytes"] == 4 * 8);
  CHECK(results.back()["bytes"] == 16 << 20);
  for (const auto& row : results) { CHECK(row["in_place"] == true); }
}

TEST_CASE("an imported algorithm that does not fit, is wrong, or shares its name is refused") {
  const Folder folder;
  const std::string ring = kFolder + "allreduce_ring_4.xml";
  const auto refused = [](std::vector<std::string> options, int code, const char* says) {
    options.insert(options.begin(), {"--algorithm"});
    const Ran ran = measured(std::move(options));
    CAPTURE(ran.err);
    CHECK(ran.code == code);
    CHECK(ran.says(says));
    CHECK(ran.out.empty());
  };
  refused({ring, "--ranks", "3"}, 3, "it is for 4 ranks, not 3");
  refused({ring, "--sizes", "8B"}, 3, "2 elements cannot be cut into its 4 equal chunks");
  refused({ring, "--collective", "broadcast"}, 3, "allreduce_ring_4 does all_reduce, not broadcast");
  refused({ring, "--out-of-place"}, 3, "outofplace=\"0\"");
  refused({kFolder + "reduce_scratch_4.xml", "--in-place"}, 3, "inplace=\"0\"");
  refused({folder.path("none.xml")}, 4, "none.xml");
  refused({ring + "," + ring}, 2, "allreduce_ring_4");
  const std::string same =
      folder.write("same.xml", replaced(read_text_file(ring), "name=\"allreduce_ring_4\"", "name=\"ring\""));
  refused({"all," + same}, 2, "both name 'ring'");
  refused({same + ",ring"}, 2, "both name 'ring'");
  const std::string wrong = replaced(read_text_file(ring), "srcoff=\"0\"", "srcoff=\"1\"");
  refused({folder.write("wrong.xml", wrong)}, 3, "wrong.xml:");
}
