#include "models/experiments/scenario/costs_section.hpp"

#include <optional>

#include "models/bill/read_price.hpp"

namespace athanor {

void read_costs(Fields& fields, CostFigures& costs) {
  GpuFigures& gpu = costs.gpus.front();
  read_price(fields, "gpu_w", gpu.w, "Watts of a GPU while it computes; absent: its preset's most");
  read_price(fields, "gpu_idle_w", gpu.idle_w, "At all other times; absent: its preset's");
  if (gpu.w && gpu.idle_w && *gpu.idle_w > *gpu.w) {
    fields.problem("gpu_idle_w", "out-of-range", "a GPU that does nothing draws more than one that computes",
                   "is one of them of another GPU?");
  }
  read_price(fields, "node_w", costs.node_w, "Watts of a node without its GPUs, at all times; absent: not counted");
  read_price(fields, "switch_w", costs.switch_w, "Watts of a switch of the network; absent: not counted");
  std::optional<double> pue;
  read_price(fields, "pue", pue, "What the site draws per watt of these (power usage effectiveness); 1 where absent",
             {1, 1});
  costs.pue = pue.value_or(1);
  read_price(fields, "usd_per_kwh", costs.usd_per_kwh, "Price of electricity");
  std::optional<double> rent;
  read_price(fields, "usd_per_gpu_hour", rent, "Price of a GPU; absent: from the least to the most of its preset");
  if (rent) { gpu.usd_per_hour = UsdRange{*rent, *rent}; }
  read_price(fields, "tokens", costs.tokens, "Of a whole training, whose time, energy and price are then told", {1, 1});
}

CostFigures completed(CostFigures figures, const TrainingSetup& setup) {
  const auto of_kind = [said = figures.gpus.front()](const GpuRates& gpu) {
    GpuFigures kind = said;
    if (!kind.w && gpu.power_w > 0) { kind.w = gpu.power_w; }
    if (!kind.idle_w && gpu.idle_w > 0) { kind.idle_w = gpu.idle_w; }
    if (!kind.usd_per_hour) { kind.usd_per_hour = gpu.rent; }
    return kind;
  };
  figures.gpus = {of_kind(setup.gpu)};
  for (const GpuKind& other : setup.others) { figures.gpus.push_back(of_kind(other.gpu)); }
  return figures;
}

}  // namespace athanor
