#include "tools/scenario/costs_section.hpp"

#include <optional>

#include "tools/bill/read_price.hpp"

namespace athanor {

void read_costs(ObjectReader& reader, CostFigures& costs) {
  read_price(reader, "gpu_w", costs.gpu_w, "Watts of a GPU while it computes; absent: its preset's most");
  read_price(reader, "gpu_idle_w", costs.gpu_idle_w, "At all other times; absent: its preset's");
  if (costs.gpu_w && costs.gpu_idle_w && *costs.gpu_idle_w > *costs.gpu_w) {
    reader.problem("gpu_idle_w", "out-of-range", "a GPU that does nothing draws more than one that computes",
                   "is one of them of another GPU?");
  }
  read_price(reader, "node_w", costs.node_w, "Watts of a node without its GPUs, at all times; absent: not counted");
  read_price(reader, "switch_w", costs.switch_w, "Watts of a switch of the network; absent: not counted");
  std::optional<double> pue;
  read_price(reader, "pue", pue, "What the site draws per watt of these (power usage effectiveness); 1 where absent",
             {1, 1});
  costs.pue = pue.value_or(1);
  read_price(reader, "usd_per_kwh", costs.usd_per_kwh, "Price of electricity");
  std::optional<double> rent;
  read_price(reader, "usd_per_gpu_hour", rent, "Price of a GPU; absent: from the least to the most of its preset");
  if (rent) { costs.usd_per_gpu_hour = UsdRange{*rent, *rent}; }
  read_price(reader, "tokens", costs.tokens, "Of a whole training, whose time, energy and price are then told", {1, 1});
}

CostFigures completed(CostFigures figures, const GpuRates& gpu) {
  if (!figures.gpu_w && gpu.power_w > 0) { figures.gpu_w = gpu.power_w; }
  if (!figures.gpu_idle_w && gpu.idle_w > 0) { figures.gpu_idle_w = gpu.idle_w; }
  if (!figures.usd_per_gpu_hour) { figures.usd_per_gpu_hour = gpu.rent; }
  return figures;
}

}  // namespace athanor
