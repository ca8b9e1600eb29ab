#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::string circuits(const std::string& keys, std::uint32_t nodes = 8) {
  return fmt::format(
      R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"rate": "40GB/s", "latency": "500ns"}}}}}},
      "circuits": {{"ports": 4, "link": {{"rate": "10GB/s", "latency": "1us"}}, "delay": "10us", "sizes": "1MiB", {}}}}})",
      nodes, keys);
}

std::string refusal(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("c.json", scenario)});
  return ran.code == 0 ? "" : ran.err;
}

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a collective over circuits stands beside the same over the cluster's packets") {
  const Folder folder;
  const nlohmann::json ring = result_of(folder, circuits(R"("algorithm": "ring")"));
  // 14 rounds of 1 us and 128 KiB over four ports.
  CHECK(ring["time_us"].get<double>() == doctest::Approx(14 * (1 + 131072 / 40e3)));
  CHECK(ring["changes"] == 0);
  CHECK(ring["changing"] == 0);
  CHECK(ring["rounds"] == 14);
  CHECK(ring["change"] == "best");
  CHECK(ring["packet_time_us"].get<double>() < ring["time_us"].get<double>());
  const nlohmann::json best = result_of(folder, circuits(R"("collective": "all_reduce")"));
  CHECK(best["time_us"].get<double>() <= ring["time_us"].get<double>());
  const Ran each = athanor_run({"run", folder.write("each.json", circuits(R"("algorithm": "each")")), "--json"});
  CHECK(each.json()["results"].size() > 5);
  CHECK(each.json()["results"][0]["algorithm"] == best["algorithm"]);
}

TEST_CASE("rotors carry a demand, and what is theirs alone is refused elsewhere") {
  const Folder folder;
  const nlohmann::json rotor = result_of(folder, circuits(R"("change": "rotor", "slot": "100us")"));
  CHECK(rotor["collective"] == "all_to_all");
  CHECK(rotor["changing"] == doctest::Approx(0.1));
  CHECK(rotor["direct"] == 1);
  CHECK(rotor["changes"] == 2);
  CHECK(result_of(folder, circuits(R"("change": "rotor", "slot": "100us", "demand": "permutation")"))["collective"] ==
        "permutation");
  CHECK(holds(refusal(circuits(R"("slot": "100us")")), "slot"));
  CHECK(holds(refusal(circuits(R"("change": "rotor", "slot": "10us")")), "a slot ends before its circuits carry data"));
  CHECK(holds(refusal(circuits(R"("change": "rotor", "slot": "1ms", "algorithm": "ring")")),
              "rotor switches carry a demand"));
}

TEST_CASE("what circuits cannot be is refused by name") {
  CHECK(holds(refusal(circuits(R"("change": "nver")")), "did you mean 'never'?"));
  CHECK(holds(refusal(circuits(R"("algorithm": "direct_one_shot", "change": "never")")),
              "circuits never change, and a rank has 4 ports for 7 peers"));
  CHECK(holds(refusal(circuits(R"("algorithm": "nvls")")), "circuit switches do not look into messages"));
  CHECK(holds(refusal(circuits(R"("collective": "all_reduce")", 2000)), "between 2 to 1024 ranks"));
  CHECK(holds(refusal(circuits(R"("port": 3)")), "there is no key 'port'"));
}

TEST_CASE("collectives that are made for links that stay are refused over circuits") {
  CHECK(holds(refusal(circuits(R"("algorithm": "synthesised")")), "are made for links that stay"));
  CHECK(holds(refusal(circuits(R"("collective": "barrier")")), "barrier"));
}
