#include <doctest/doctest.h>

#include "tests/tools/import/fabric/imported_fabric.hpp"
#include "tools/import/fabric/matrix.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

namespace {

/// The output of a driver with columns of affinity, in tabs, as it stands in a terminal.
std::string matrix(const std::vector<std::string>& rows, const std::string& more = "") {
  std::string text = "\t\x1b[4m";
  std::vector<std::string> labels;
  for (const std::string& row : rows) { labels.push_back(row.substr(0, row.find(' '))); }
  for (const std::string& label : labels) { text += label + "\t"; }
  text += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
  for (const std::string& row : rows) { text += row + "\n"; }
  return text + more +
         "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect\n";
}

FabricHints h100() {
  FabricHints hints;
  hints.hardware = {"H100-SXM-80GB", "CX7-NDR", "upi-sapphire-rapids"};
  return hints;
}

FabricHints a100() {
  FabricHints hints;
  hints.hardware = {"A100-SXM-80GB", "CX6-HDR", "amd-socket"};
  return hints;
}

Import import_matrix(const std::string& text, const FabricHints& hints) {
  return import_text(text, FabricFormat::nvidia_smi, hints);
}

const std::vector<std::string> kHalfDgx{"GPU0 X NV18 NV18 NV18 PIX NODE SYS SYS 0-47 0 N/A",
                                        "GPU1 NV18 X NV18 NV18 NODE PIX SYS SYS 0-47 0 N/A",
                                        "GPU2 NV18 NV18 X NV18 SYS SYS PIX NODE 48-95 1 N/A",
                                        "GPU3 NV18 NV18 NV18 X SYS SYS NODE PIX 48-95 1 N/A",
                                        "NIC0 PIX NODE SYS SYS X NODE SYS SYS",
                                        "NIC1 NODE PIX SYS SYS NODE X SYS SYS",
                                        "NIC2 SYS SYS PIX NODE SYS SYS X NODE",
                                        "NIC3 SYS SYS NODE PIX SYS SYS NODE X"};

std::vector<std::string> with(std::size_t row, const std::string& text) {
  std::vector<std::string> rows = kHalfDgx;
  rows[row] = text;
  return rows;
}

}  // namespace

TEST_CASE("a machine on NVSwitch: GPUs meet there, each NIC is under the switch of its GPU, CPUs are joined") {
  const std::string text = matrix(kHalfDgx, "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_3\n");
  REQUIRE(recognised_fabric(text) == FabricFormat::nvidia_smi);
  const Import import = import_matrix(text, h100());
  REQUIRE(import.problems == "");
  CHECK(import.notes("18 NVLinks of each GPU reach every other: they lead to an NVSwitch"));
  CHECK(import.fabric.cluster["node"]["graph"]["vertices"].elements()[5]["name"] == "mlx5_3");
  CHECK(import.fabric.cluster["node"]["nic"] == "CX7-NDR");
  const Cluster one = built(import.fabric.cluster);
  REQUIRE(one.endpoints.size() == 4);
  CHECK(passes(one, 0, 3) == std::vector{VertexKind::gpu, VertexKind::nvswitch, VertexKind::gpu});
  CHECK(width(one, 0, 3) == 22.2_GBps * 18);
  JsonValue two = import.fabric.cluster;
  two["nodes"] = 2;
  two["fabric"] = JsonValue{{"kind", "star"}, {"switch", "QM9700"}};
  using enum VertexKind;
  CHECK(passes(built(two), 2, 4 + 2) == std::vector{gpu, pcie_switch, nic, leaf, nic, pcie_switch, gpu});
}

TEST_CASE("relations without NVLink: PIX, PXB, PHB, NODE and SYS are ways of two to five links") {
  const std::string text =
      "        GPU0    GPU1    GPU2    GPU3    GPU4    mlx4_0  CPU Affinity\n"
      "GPU0     X      PIX     PXB     PHB     SOC     PHB     0-9\nGPU1    PIX      X      PXB     PHB     SOC     "
      "PHB     0-9\n"
      "GPU2    PXB     PXB      X      PHB     SOC     PHB     0-9\nGPU3    PHB     PHB     PHB      X      SOC     "
      "PHB     0-9\n"
      "GPU4    SOC     SOC     SOC     SOC      X      SOC     10-19\nmlx4_0  PHB     PHB     PHB     PHB     SOC      "
      "X\n";
  const Import import = import_matrix(text, a100());
  REQUIRE(import.problems == "");
  const Cluster one = built(import.fabric.cluster);
  using enum VertexKind;
  CHECK(passes(one, 0, 1) == std::vector{gpu, pcie_switch, gpu});
  CHECK(passes(one, 0, 2) == std::vector{gpu, pcie_switch, pcie_switch, gpu});
  CHECK(passes(one, 0, 3) == std::vector{gpu, pcie_switch, pcie_switch, cpu, gpu});
  CHECK(passes(one, 3, 4) == std::vector{gpu, cpu, cpu, gpu});
  CHECK(width(one, 3, 4) == 16_GBps);
}

TEST_CASE("NVLinks that a GPU has enough of are cables, others one NVSwitch, others again a contradiction") {
  const auto four = [](const std::string& all) {
    return matrix({fmt::format("GPU0 X {0} {0} {0} 0-9 0 N/A", all), fmt::format("GPU1 {0} X {0} {0} 0-9 0 N/A", all),
                   fmt::format("GPU2 {0} {0} X {0} 0-9 0 N/A", all), fmt::format("GPU3 {0} {0} {0} X 0-9 0 N/A", all)});
  };
  const Cluster cables = built(import_matrix(four("NV4"), a100()).fabric.cluster);
  CHECK(passes(cables, 0, 3).size() == 2);
  CHECK(width(cables, 0, 3) == 22.2_GBps * 4);
  const Cluster switched = built(import_matrix(four("NV12"), a100()).fabric.cluster);
  CHECK(passes(switched, 0, 3).size() == 3);
  CHECK(width(switched, 0, 3) == 22.2_GBps * 12);
  FabricHints none = a100();
  none.hardware.gpu = "L40S-48GB";
  CHECK(import_matrix(four("NV4"), none).says("the matrix has NVLinks, and L40S-48GB has none"));
  const std::string uneven =
      matrix({"GPU0 X NV12 NV8 0-9 0 N/A", "GPU1 NV12 X NV8 0-9 0 N/A", "GPU2 NV8 NV8 X 0-9 0 N/A"});
  CHECK(import_matrix(uneven, a100()).says("a GPU has 20 NVLinks in its row, and A100-SXM-80GB has 12"));
}

TEST_CASE("rates come from presets that the user names") {
  const std::string text = matrix(kHalfDgx);
  FabricHints hints;
  const Import none = import_matrix(text, hints);
  CHECK(none.says("add --gpu NAME"));
  CHECK(none.says("add --nic NAME"));
  CHECK(none.says("add --socket-link NAME"));
  hints = h100();
  hints.hardware.gpu = "H100-SXM-80G";
  CHECK(import_matrix(text, hints).says("did you mean 'H100-SXM-80GB'?"));
}

TEST_CASE("broken matrices are named with their lines") {
  const auto problem = [](const std::string& text) { return import_matrix(text, h100()).problems; };
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"hello\n", "in.txt:1:1: there is no header with GPU0"},
      {matrix(with(1, "GPU1 NV18 X NV18")), "in.txt:3:1: the row of GPU1 has 3 relations where the header has 8"},
      {matrix(with(1, "GPU1 NV18 X NV18 NV18 NODE PIX SYS FAR 0-47 0")), "in.txt:3:1: 'FAR' is no relation"},
      {matrix(with(1, "GPU1 NV18 X NV18 NV18 NODE PIX SYS NV0 0-47 0")), "'NV0' is no relation"},
      {matrix(with(1, "GPU1 NV12 X NV18 NV18 NODE PIX SYS SYS 0-47 0")),
       "in.txt:3:1: GPU1 and GPU0 are joined by NVLinks here"},
      {matrix(with(1, "GPU1 NV18 NV18 NV18 NV18 NODE PIX SYS SYS 0-47 0")),
       "in.txt:3:1: X stands between GPU1 and GPU1"},
      {matrix(with(7, "NIC3 SYS SYS NODE PIX SYS SYS PIX X")),
       "NIC3 and NIC2 are joined by PIX here and by NODE on line 8"}};
  for (const auto& [text, message] : wrong) {
    CAPTURE(message);
    CAPTURE(problem(text));
    CHECK(problem(text).find(message) != std::string::npos);
  }
  std::vector<std::string> contradiction = kHalfDgx;
  contradiction[4] = "NIC0 PIX PIX SYS SYS X NODE SYS SYS";
  contradiction[1] = "GPU1 NV18 X NV18 NV18 PIX PIX SYS SYS 0-47 0 N/A";
  CHECK(problem(matrix(contradiction))
            .find("NIC1 and NIC0 are joined by NODE, but by what joins others they would be by PIX") !=
        std::string::npos);
  std::string missing = matrix(kHalfDgx);
  missing.erase(missing.find("NIC3 SYS"), missing.find("\nLegend") - missing.find("NIC3 SYS"));
  CHECK(problem(missing).find("in.txt:1:1: NIC3 has a column and no row") == 0);
  std::string twice = matrix(kHalfDgx);
  twice.insert(twice.find("NIC0 PIX"), kHalfDgx[0] + "\n");
  CHECK(problem(twice).find("in.txt:6:1: GPU0 has a second row") == 0);
}
