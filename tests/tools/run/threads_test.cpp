// One network at packet level on several threads.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::string all_reduce(const std::string& network) {
  return fmt::format(R"({{"network": {}, "cluster": {{"nodes": 32, "fabric": {{"kind": "fat_tree", "hosts_per_leaf": 4,
      "link": {{"rate": "100Gb/s", "latency": "500ns"}}}}}},
    "collective": {{"kind": "all_reduce", "algorithm": "ring", "sizes": ["256KiB", "1MiB"]}}}})",
                     network);
}

Ran with_threads(const std::string& network, const std::string& threads) {
  const Folder folder;
  return athanor_run({"run", folder.write("s.json", all_reduce(network)), "--json", "--threads", threads});
}

}  // namespace

TEST_CASE("a collective at packet level has the same results on any number of threads") {
  const std::string packets = R"({"level": "packet", "transport": {"preset": "roce_v2"},
    "switches": {"marking": {"from": "5kB", "to": "200kB", "most": 0.01}}})";
  const Ran one = with_threads(packets, "1");
  REQUIRE(one.code == 0);
  const Ran two = with_threads(packets, "2");
  CHECK(two.code == 0);
  CHECK(two.json()["results"] == one.json()["results"]);
  CHECK(one.err.find("--threads") == std::string::npos);
}

TEST_CASE("threads that cannot be used are said") {
  CHECK(with_threads(R"({"level": "flow"})", "2").err.find("only packets are simulated on several") !=
        std::string::npos);
  CHECK(with_threads(R"({"level": "packet", "skip_error": 0.01})", "2").err.find("on one thread: \"skip_error\"") !=
        std::string::npos);
  CHECK(with_threads(R"({"level": "packet", "transport": {"control": "hpcc"}})", "2").err.find("on one thread") !=
        std::string::npos);
  CHECK(with_threads(R"({"level": "packet"})", "4096").err.find("and as many are used") != std::string::npos);
  CHECK(with_threads(R"({"level": "packet"})", "0").code != 0);
}
