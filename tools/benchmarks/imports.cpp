// How fast fabrics are imported that are as large as any: some hundred thousand hosts, a hundred megabytes of text.

#include <string>

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "sim/error.hpp"
#include "tools/benchmarks/memory.hpp"
#include "tools/import/fabric/import_fabric.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {
namespace {

using namespace literals;

constexpr int kHostsPerLeaf = 32;
constexpr int kSpines = 16;

/// Two tiers as ibnetdiscover prints them: leaves, spines, then hosts.
std::string ibnetdiscover(int leaves) {
  std::string text = "#\n# Topology file: generated on Tue Jun  5 14:15:10 2024\n#\n";
  const auto begin_switch = [&](int guid, const std::string& name) {
    text += fmt::format("\nswitchguid=0x{0:x}({0:x})\nSwitch\t64 \"S-{0:016x}\"\t\t# \"{1}\" base port 0 lid 7 lmc 0\n",
                        guid, name);
  };
  for (int l = 0; l < leaves; ++l) {
    begin_switch(0x10000000 + l, fmt::format("leaf{}", l));
    for (int p = 0; p < kHostsPerLeaf; ++p) {
      const int host = l * kHostsPerLeaf + p;
      text += fmt::format("[{}]\t\"H-{:016x}\"[1]({:x}) \t\t# \"node{} mlx5_0\" lid 9 4xNDR\n", p + 1,
                          0x20000000 + host, host, host);
    }
    for (int s = 0; s < kSpines; ++s) {
      text += fmt::format("[{}]\t\"S-{:016x}\"[{}]\t\t# \"spine{}\" lid 1 4xNDR\n", kHostsPerLeaf + 1 + s,
                          0x30000000 + s, l + 1, s);
    }
  }
  for (int s = 0; s < kSpines; ++s) {
    begin_switch(0x30000000 + s, fmt::format("spine{}", s));
    for (int l = 0; l < leaves; ++l) {
      text += fmt::format("[{}]\t\"S-{:016x}\"[{}]\t\t# \"leaf{}\" lid 5 4xNDR\n", l + 1, 0x10000000 + l,
                          kHostsPerLeaf + 1 + s, l);
    }
  }
  for (int host = 0; host < leaves * kHostsPerLeaf; ++host) {
    text += fmt::format("\ncaguid=0x{0:x}\nCa\t1 \"H-{0:016x}\"\t\t# \"node{1} mlx5_0\"\n", 0x20000000 + host, host);
    text += fmt::format("[1]({:x}) \t\"S-{:016x}\"[{}]\t\t# lid 9 lmc 0 \"leaf{}\" lid 5 4xNDR\n", host,
                        0x10000000 + host / kHostsPerLeaf, host % kHostsPerLeaf + 1, host / kHostsPerLeaf);
  }
  return text;
}

/// Names one by one, as sites write them that have no regular ones.
std::string slurm_conf(int leaves) {
  std::string text;
  for (int l = 0; l < leaves; ++l) {
    text += fmt::format("SwitchName=leaf{} Nodes=", l);
    for (int p = 0; p < kHostsPerLeaf; ++p) {
      text += fmt::format("{}cluster-compute-node-r{}-{}", p == 0 ? "" : ",", l, p);
    }
    text += '\n';
  }
  return text + fmt::format("SwitchName=spine Switches=leaf[0-{}]\n", leaves - 1);
}

void import(benchmark::State& state, const std::string& text, FabricFormat format) {
  const PeakMemory memory;
  const Presets presets;
  FabricHints hints;
  hints.links = {400_Gbps, 300_ns, {1, 1}};
  for (auto unused : state) {
    Problems problems;
    const ImportedFabric imported = import_fabric(text, "fabric", format, hints, presets, problems);
    problems.throw_if_any();
    benchmark::DoNotOptimize(imported.graph.size());
  }
  state.counters["text_MB"] = static_cast<double>(text.size()) / 1e6;
  state.counters["peak_MB"] = memory.megabytes();
}

/// Args: leaves of 32 hosts.
void import_ibnetdiscover(benchmark::State& state) {
  import(state, ibnetdiscover(static_cast<int>(state.range(0))), FabricFormat::ibnetdiscover);
}
BENCHMARK(import_ibnetdiscover)->ArgName("leaves")->Arg(1'000)->Arg(9'000)->Unit(benchmark::kMillisecond);

void import_slurm(benchmark::State& state) {
  import(state, slurm_conf(static_cast<int>(state.range(0))), FabricFormat::slurm);
}
BENCHMARK(import_slurm)->ArgName("leaves")->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace athanor
