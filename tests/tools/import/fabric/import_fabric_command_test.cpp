#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kSlurm =
    "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=top Switches=s[0-1]\n";

constexpr const char* kBox = R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
<pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
<pci busid="0000:02:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="80" rank="0"/></pci>
<pci busid="0000:03:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="80" rank="1"/></pci>
<pci busid="0000:04:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16"><nic><net name="mlx5_0" dev="0" speed="200000"/></nic></pci>
</pci></cpu></system>)";

}  // namespace

TEST_CASE("what is imported is a scenario that runs, on stdout or in a file") {
  const Folder folder;
  const std::string conf = folder.write("topology.conf", kSlurm);
  const std::string out = folder.path("mine.json");
  const Ran ran = athanor_run({"import", conf, "--link-rate", "100Gb/s", "--link-latency", "500ns", "-o", out});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("slurm: 4 hosts, 2 leaf switches, 1 spine switch; 6 links"));
  const Ran run = athanor_run({"run", out, "--sizes", "1MiB", "--json"});
  REQUIRE(run.code == 0);
  CHECK(run.json()["results"][0]["ranks"] == 4);
  CHECK(athanor_run({"describe", out}).says("25 GB/s one way"));
  const Ran printed = athanor_run({"import", conf, "--link-rate", "100Gb/s", "--link-latency", "500ns", "--quiet"});
  CHECK(printed.out == read_text_file(out));
  CHECK(printed.err == "");
}

TEST_CASE("copies of an imported machine are put on a fabric: written out, from a file, or from a scenario") {
  const Folder folder;
  const std::string box = folder.write("box.xml", kBox);
  const std::string star = R"({"kind": "star", "switch": "QM8700"})";
  const Ran words = athanor_run({"import", box, "--nodes", "3", "--fabric", star});
  REQUIRE(words.code == 0);
  CHECK(words.says("2 GPUs, 1 CPU, 1 PCIe switch, 1 NIC; 4 links"));
  CHECK(words.json()["cluster"]["nodes"] == 3);
  const Ran file = athanor_run({"import", box, "--nodes", "3", "--fabric", folder.write("star.json", star)});
  CHECK(file.out == words.out);
  const std::string scenario = folder.write("s.json", R"({"cluster": {"nodes": 9, "fabric": )" + star + "}}");
  CHECK(athanor_run({"import", box, "--nodes", "3", "--fabric", scenario}).out == words.out);
  const std::string made = folder.write("made.json", words.out);
  const Ran run = athanor_run({"run", made, "--sizes", "1MiB", "--json"});
  REQUIRE(run.code == 0);
  CHECK(run.json()["results"][0]["ranks"] == 6);
  CHECK(athanor_run({"import", box, "--name", "my box"}).json()["cluster"]["node"]["name"] == "my box");
}

TEST_CASE("import says what to add for a fabric, and refuses what does not go together") {
  const Folder folder;
  const std::string conf = folder.write("topology.conf", kSlurm);
  const std::string box = folder.write("box.xml", kBox);
  const Ran rateless = athanor_run({"import", conf});
  CHECK(rateless.code == 3);
  CHECK(rateless.says("topology.conf:1:1: Slurm's files have no rates; add --link-rate RATE"));
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{conf, "--link-rate", "fast", "--link-latency", "1us"}, "--link-rate 'fast'"},
      {{conf, "--link-rate", "1GB/s", "--link-latency", "-1us"}, "--link-latency must not be below 0"},
      {{conf, "--link-rate", "1GB/s", "--link-latency", "1us", "--oversubscription", "0"},
       "--oversubscription is above 0"},
      {{conf, "--link-rate", "1GB/s", "--link-latency", "1us", "--nodes", "2"},
       "--nodes and --fabric go with machines"},
      {{box, "--nodes", "2"}, "several nodes need --fabric"},
      {{box, box}, "one fabric at a time"},
      {{box, "--format", "nccl-topologie"}, "there is no format 'nccl-topologie'"}};
  for (const auto& [words, message] : wrong) {
    CAPTURE(message);
    std::vector<std::string> arguments{"import"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Ran ran = athanor_run(arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.says(message));
  }
  const Ran no_fabric = athanor_run({"import", box, "--nodes", "2", "--fabric", "{}"});
  CHECK(no_fabric.code == 3);
  CHECK(no_fabric.says("--fabric:1:1: there is no fabric"));
  const Ran no_switch =
      athanor_run({"import", box, "--nodes", "2", "--fabric", R"({"kind": "star", "switch": "QM870"})"});
  CHECK(no_switch.code == 3);
  CHECK(no_switch.says("QM8700"));
  CHECK(athanor_run({"import", box, "--nodes", "2", "--fabric", folder.path("none.json")}).code == 4);
  CHECK(athanor_run({"import", folder.write("empty.conf", ""), "--format", "slurm"}).says("the file is empty"));
}
