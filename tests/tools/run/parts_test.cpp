#include <doctest/doctest.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/digest.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "models/experiments/scenario/sizes.hpp"
#include "models/experiments/table.hpp"
#include "sim/error.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/plot/python.hpp"

using namespace athanor;
using namespace athanor::literals;

TEST_CASE("a range of sizes doubles from its first to at most its last") {
  using Sizes = std::vector<Bytes>;
  CHECK(parse_sizes("1MiB").value == Sizes{1_MiB});
  CHECK(parse_sizes("8B..64B").value == Sizes{8_B, 16_B, 32_B, 64_B});
  CHECK(parse_sizes("8B..65B").value == Sizes{8_B, 16_B, 32_B, 64_B});
  CHECK(parse_sizes("8B..1KiB*4").value == Sizes{8_B, 32_B, 128_B, 512_B});
  CHECK(parse_sizes("8B..8B").value == Sizes{8_B});
  CHECK(parse_sizes("3MiB..5MiB, 1 KiB").value == Sizes{3_MiB, 1_KiB});
  CHECK(parse_sizes("0B").value == Sizes{0_B});
  CHECK(parse_sizes("1B..4611686018427387904B").value->size() == 63);
}

TEST_CASE("sizes that mean nothing are refused with a code") {
  for (const auto& [text, code] : std::vector<std::pair<std::string, std::string>>{{"", "wrong-type"},
                                                                                   {"8", "missing-unit"},
                                                                                   {"8B..", "wrong-type"},
                                                                                   {"..8B", "wrong-type"},
                                                                                   {"0B..8B", "out-of-range"},
                                                                                   {"8B..4B", "empty-range"},
                                                                                   {"8B..64B*1", "out-of-range"},
                                                                                   {"8B..64B*", "out-of-range"},
                                                                                   {"-8B", "out-of-range"},
                                                                                   {"8GB/s", "wrong-unit"}}) {
    CAPTURE(text);
    const auto parsed = parse_sizes(text);
    CHECK_FALSE(parsed.value);
    CHECK(parsed.mistake.code == code);
  }
}

TEST_CASE("numbers lose decimals before they outgrow their column") {
  CHECK(fitted(1.234, 7) == "   1.23");
  CHECK(fitted(1234.56, 7) == "1234.56");
  CHECK(fitted(12345.67, 7) == "12345.7");
  CHECK(fitted(1234567.8, 7) == "1234568");
  CHECK(fitted(123456789.0, 7) == "1.2e+08");
}

TEST_CASE("the same text has the same hash, another text another one") {
  // FIPS 180-2, appendix B.1, and the empty text, as sha256sum prints them.
  CHECK(text_hash("abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(text_hash("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const Folder folder;
  CHECK(file_hash(folder.write("abc", "abc")) == text_hash("abc"));
  CHECK_THROWS_AS(file_hash(folder.path("missing")), FileError);
}

TEST_CASE("columns follow nccl-tests for every collective") {
  Collective collective{.ranks = 3, .count = Elements{256}, .root = 2};
  for (const CollectiveKind kind : collective_kinds()) {
    CAPTURE(name(kind));
    collective.kind = kind;
    const bool partitioned = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                             kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather ||
                             kind == CollectiveKind::scatter;
    const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
                        kind == CollectiveKind::send_receive || kind == CollectiveKind::gather ||
                        kind == CollectiveKind::scatter;
    CHECK(count_per_argument(collective) == (partitioned ? 86 : 256));
    CHECK(printed_root(collective) == (rooted ? 2 : -1));
    CHECK(algorithm_bandwidth(1_KiB, 1_us) == doctest::Approx(1.024));
  }
}

TEST_CASE("a process tells its exit code and what it wrote, and one that cannot start says so") {
  const Finished finished = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(finished.status == 3);
  CHECK(finished.out == "out\n");
  CHECK(finished.err == "err\n");
  CHECK(run_process({"/no/such/program"}).status == 127);
  CHECK(run_process({"sh", "-c", "kill -9 $$"}).status == 128 + 9);
}
