// Calls of a trace that share links, or nodes that differ: bounds by hand, and no order of the input that counts.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Hosts on one switch, 1 us and 10 GB/s a link.
constexpr const char* kStar =
    R"({"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "1us"}}})";

double time_of(const std::string& cluster, const std::string& trace) {
  const Folder folder;
  folder.write("t.json", trace);
  const Ran ran = athanor_run(
      {"run", folder.write("s.json", fmt::format(R"({{"cluster": {}, "trace": {{"files": "t.json"}}}})", cluster)),
       "--json"});
  CAPTURE(trace);
  CAPTURE(ran.out);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0]["step_time_s"].get<double>() * 1e6;
}

/// All four hosts call an all-reduce of each size at once, over communicators and streams of their own.
std::string all_reduces(const std::vector<std::string>& sizes) {
  std::string communicators;
  std::string streams;
  std::string calls;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    communicators += comma + fmt::format(R"({{"name": "c{}", "workers": [0, 1, 2, 3]}})", i);
    streams += comma + fmt::format(R"({{"name": "s{}"}})", i);
    calls += comma + fmt::format(R"({{"kind": "call", "communicator": {}, "collective": "all_reduce", "size": "{}",
                                      "stream": {}}})",
                                 i, sizes[i], i);
  }
  std::string workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers += fmt::format(R"({}{{"streams": [{}], "operations": [{}]}})", worker == 0 ? "" : ", ", streams, calls);
  }
  return fmt::format(R"({{"athanor_trace": 1, "communicators": [{}], "workers": [{}]}})", communicators, workers);
}

/// One worker, which stands for all endpoints of the groups.
std::string one_call(const std::string& groups, const std::string& size) {
  return fmt::format(R"({{"athanor_trace": 1, "communicators": [{{"name": "g", "workers": [0], "groups": {}}}],
    "workers": [{{"streams": [{{"name": "s"}}], "operations": [
      {{"kind": "call", "communicator": "g", "collective": "all_reduce", "size": "{}"}}]}}]}})",
                     groups, size);
}

std::string two_nodes(const std::string& first, const std::string& second) {
  return fmt::format(R"({{"nodes": [{{"node": "{}", "count": 1}}, {{"node": "{}", "count": 1}}],
    "fabric": {{"kind": "star", "link": {{"rate": "200Gb/s", "latency": "1us"}}}}}})",
                     first, second);
}

}  // namespace

// A ring among 4 sends 1.5 times the vector over each link, and its last step ends 2 us after its last byte left.
TEST_CASE("however many calls run at once, no link carries more than its rate") {
  const auto bound = [](double bytes) { return 1.5 * bytes / 10'000 + 2; };
  CHECK(time_of(kStar, all_reduces(std::vector<std::string>(16, "40kB"))) ==
        doctest::Approx(bound(16 * 40'000)).epsilon(0.001));
  CHECK(time_of(kStar, all_reduces({"80kB", "80kB"})) == doctest::Approx(bound(160'000)).epsilon(0.001));
  CHECK(time_of(kStar, all_reduces({"80kB", "80kB", "1kB"})) >= bound(161'000) * 0.999);
  CHECK(time_of(kStar, all_reduces(std::vector<std::string>(5, "100B"))) < 13);  // nor is there anything to wait for
}

TEST_CASE("groups within nodes of two kinds take as long as the slower kind, whichever comes first") {
  const std::string groups = "[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]";
  const std::string trace = one_call(groups, "64MiB");
  const double a100 = time_of(two_nodes("DGX-A100", "DGX-A100"), trace);
  CHECK(a100 > 1.2 * time_of(two_nodes("DGX-H100", "DGX-H100"), trace));
  CHECK(time_of(two_nodes("DGX-H100", "DGX-A100"), trace) == a100);
  CHECK(time_of(two_nodes("DGX-A100", "DGX-H100"), trace) == a100);
}

TEST_CASE("groups of unlike places in equal nodes take as long as the slower ones, in any order") {
  const std::string cluster = two_nodes("PCIe-8xL40S", "PCIe-8xL40S");
  const double first = time_of(cluster, one_call("[[0, 1], [8, 12], [9, 13], [10, 14], [11, 15]]", "64MiB"));
  const double last = time_of(cluster, one_call("[[8, 12], [9, 13], [10, 14], [11, 15], [0, 1]]", "64MiB"));
  const double alone = time_of(cluster, one_call("[[8, 12], [9, 13], [10, 14], [11, 15]]", "64MiB"));
  CHECK(first == last);
  CHECK(first == alone);
}

TEST_CASE("nodes without devices in common are priced each as it is") {
  const std::string groups = "[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]";
  for (const auto& [one, other] : {std::pair{"DGX-A100", "PCIe-8xA100"}, std::pair{"DGX-H100", "PCIe-8xL40S"},
                                   std::pair{"DGX-1V", "DGX-A100"}, std::pair{"DGX-H100", "HGX-MI300X"}}) {
    CAPTURE(one);
    CAPTURE(other);
    CHECK(time_of(two_nodes(one, other), one_call(groups, "1MiB")) ==
          time_of(two_nodes(other, one), one_call(groups, "1MiB")));
  }
}

TEST_CASE("a slower link inside one node slows its group, and no other") {
  const std::string nodes = R"("node": "DGX-H100", "nodes": 2, "fabric": {"kind": "star", "switch": "QM9700"})";
  const std::string slower = R"(, "overrides": [{"from": "node1/gpu0", "to": "node1/nvswitch*", "rate": "10GB/s"}])";
  const std::string both = one_call("[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]", "64MiB");
  const double even = time_of("{" + nodes + "}", both);
  CHECK(time_of("{" + nodes + slower + "}", both) > 2 * even);
  CHECK(time_of("{" + nodes + slower + "}", one_call("[[0, 1, 2, 3, 4, 5, 6, 7]]", "64MiB")) == even);
}

TEST_CASE("the order in which a communicator names its workers is that of its ranks") {
  const auto broadcast = [](const std::string& workers) {
    return fmt::format(R"({{"athanor_trace": 1, "communicators": [{{"name": "g", "workers": {}}}], "workers": [
      {{"streams": [{{"name": "s"}}], "operations": [
        {{"kind": "call", "communicator": "g", "collective": "broadcast", "size": "10kB"}}]}},
      {{"streams": [{{"name": "s"}}], "operations": [
        {{"kind": "call", "communicator": "g", "collective": "broadcast", "size": "10kB"}}]}}]}})",
                       workers);
  };
  CHECK(time_of(kStar, broadcast("[1, 0]")) == time_of(kStar, broadcast("[0, 1]")));
}
