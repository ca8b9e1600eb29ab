#include "models/training/compute_profile.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "models/software/stack_parts.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// A type of the presets' "tflops" as a precision; none for those that nothing is trained in.
std::optional<Precision> precision_of(const std::string& type) {
  if (type == "fp16_tensor") { return Precision::fp16; }
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8, Precision::fp4}) {
    if (name(precision) == type) { return precision; }
  }
  return std::nullopt;
}

/// As Profile::Domain names GPUs: "9.0", "gfx942".
std::string generation_name(const GpuPreset& preset) {
  if (!preset.compute_capability) { return preset.architecture; }
  const auto tenths = std::llround(to_double(*preset.compute_capability) * 10);
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

}  // namespace

GpuRates gpu_rates(const std::string& name, const GpuPreset& preset) {
  GpuRates rates;
  rates.name = name;
  rates.preset = name;
  rates.generation = gpu_generation(generation_name(preset));
  for (const auto& [type, tflops] : preset.tflops) {
    if (const auto precision = precision_of(type)) { rates.flops[*precision] = to_double(tflops) * 1e12; }
  }
  rates.memory_bandwidth = static_cast<double>(preset.memory_bandwidth.count());
  rates.memory = static_cast<double>(preset.memory.count());
  rates.power_w = preset.power ? watts(*preset.power) : 0;
  rates.idle_w = preset.idle_power ? watts(*preset.idle_power) : 0;
  if (!preset.rent_usd_per_hour.empty()) {
    rates.rent = UsdRange{to_double(preset.rent_usd_per_hour.front()), to_double(preset.rent_usd_per_hour.back())};
  }
  rates.multiprocessors = preset.multiprocessors;
  return rates;
}

double peak_of(const GpuRates& gpu, Precision precision) {
  const auto of = [&](Precision other) {
    const auto at = gpu.flops.find(other);
    return at == gpu.flops.end() ? 0.0 : at->second;
  };
  double peak = of(precision);
  if (peak == 0 && precision == Precision::fp16) { peak = of(Precision::bf16); }
  if (peak == 0 && precision == Precision::tf32) { peak = of(Precision::fp32); }
  if (peak > 0) { return peak; }
  std::vector<std::string_view> names;
  for (const auto& [known, rate] : gpu.flops) { names.push_back(name(known)); }
  throw SimulationError("no-such-precision", fmt::format("GPU {} does not multiply in {}: it has {}", gpu.name,
                                                         name(precision), joined(names, ", ")));
}

const ProductEfficiency& ComputeProfile::products(Precision precision) const {
  const auto at = narrow.find(precision);
  return at == narrow.end() ? gemm : at->second;
}

bool ComputeProfile::covers(const std::string& gpu, Precision precision) const {
  const auto holds = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  return holds(fitted.gpus, gpu) && holds(fitted.precisions, precision);
}

namespace {

/// Rows that are no whole 16 bytes are read by elements: an H100 took 61 and 33 ms for GPT-2's and GPT-2 XL's logits of
/// 50,257 tokens, forward and backward, and 12 and 6 ms for those that a compiler had padded
/// (tools/scripts/measure_steps).
constexpr double kUnaligned = 5;

/// How many times as long a product takes as an endless one. Blocks compute a tile each, as many at once as there are
/// multiprocessors: each begins by filling its pipeline, however short k is, and the last wave of blocks is half full
/// on average (NVIDIA, Matrix Multiplication Background: tiles of 256 x 128 are the most efficient; wave quantization),
/// where libraries do not choose tiles, or divide k, so that it is as full as the others: on an H100 those of 2025 lost
/// nothing to it (scenarios/measurements/kernels_h100.csv).
double shape_factor(const Kernel& product, double multiprocessors, double depth, double waves) {
  if (product.m <= 0 || product.n <= 0 || product.k <= 0) { return 1; }  // its shape is not known
  constexpr double kTile = 128.0 * 256.0;
  const double tiles = std::max(1.0, product.count * product.m * product.n / kTile);
  const double rows = product.unaligned ? kUnaligned : 1;
  return rows * (1 + depth / product.k) * (1 + waves * multiprocessors / (2 * tiles));
}

/// How many times as long attention takes as an endless one of heads of 128 elements. Exponentials of scores are as
/// many for a short head as for a long one: they cost what kExponentials elements do (forward and backward of heads of
/// 64 beside those of 128, scenarios/measurements/kernels_h100.csv).
double attention_factor(const Kernel& attention) {
  constexpr double kExponentials = 48;
  constexpr double kHead = 128;
  if (attention.n <= 0 || attention.k <= 0) { return 1; }  // its shape is not known
  const double of_head = (1 + kExponentials / attention.k) / (1 + kExponentials / kHead);
  return (1 + attention.filling / attention.n) * of_head;
}

double compute_seconds(const Kernel& kernel, const GpuRates& gpu, const ComputeProfile& profile) {
  switch (kernel.kind) {
    case Kernel::Kind::gemm: {
      const ProductEfficiency& efficiency = profile.products(kernel.precision);
      const double rate = peak_of(gpu, kernel.precision) * efficiency.share;
      return kernel.flops / rate * shape_factor(kernel, gpu.multiprocessors, efficiency.depth, profile.waves);
    }
    case Kernel::Kind::attention: {
      const double endless = kernel.flops / (peak_of(gpu, kernel.precision) * profile.attention);
      return profile.attention_by_shape ? endless * attention_factor(kernel) : endless;
    }
    case Kernel::Kind::memory: return 0;
  }
  return 0;
}

}  // namespace

Time time_of(const Kernel& kernel, const GpuRates& gpu, const ComputeProfile& profile) {
  const double moving = kernel.bytes / (gpu.memory_bandwidth * profile.memory);
  const double seconds = std::max(compute_seconds(kernel, gpu, profile), moving);
  return Time{std::llround(seconds * 1e12 + kernel.launches * static_cast<double>(profile.overhead.count()))};
}

Time time_of(const Kernels& kernels, const GpuRates& gpu, const ComputeProfile& profile) {
  Time sum;
  for (const Kernel& kernel : kernels) { sum += time_of(kernel, gpu, profile); }
  return sum;
}

Time launch_time(const Kernels& kernels, const ComputeProfile& profile) {
  double launches = 0;
  for (const Kernel& kernel : kernels) { launches += kernel.launches; }
  return Time{std::llround(launches * static_cast<double>(profile.launch.count()))};
}

namespace {

void visit_number(Fields& fields, std::string_view key, double& target, std::string_view meaning,
                  const Range<Ratio>& range) {
  fields.optional_value(key, meaning, [&](FieldValue& value) {
    constexpr double kDigits = 1e6;
    Ratio number = value.writing() ? Ratio{std::llround(target * kDigits), std::llround(kDigits)} : range.least;
    value.visit(number, range);
    if (value.ok()) { target = to_double(number); }
  });
}

constexpr Range<Ratio> kShare{{1, 1000}, {2, 1}};
constexpr Range<Ratio> kMore{{0, 1}, {10, 1}};

void visit_products(Fields& fields, ProductEfficiency& products) {
  visit_number(fields, "share", products.share,
               "Of the peak, that the largest products of matrices reach (default 0.7)", kShare);
  visit_number(fields, "depth", products.depth,
               "Elements: half of that is lost where rows times columns sum over as few (default 250)",
               {{0, 1}, {100'000, 1}});
}

Names<Precision> precision_names() {
  return {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"fp16", Precision::fp16},
          {"bf16", Precision::bf16}, {"fp8", Precision::fp8},   {"fp4", Precision::fp4}};
}

void visit_domain(Fields& fields, ComputeProfile::Domain& domain) {
  fields.optional("gpus", domain.gpus, "GPU presets of the steps that it was fitted on");
  fields.optional("precisions", domain.precisions, "Of those steps", precision_names());
  fields.optional("measurements", domain.measurements, "Tables of those steps");
  fields.optional("models", domain.models, "Of those steps");
  fields.optional("software", domain.software, "That took those steps, with its releases");
  fields.optional("frameworks", domain.frameworks, "That it is of");
  fields.optional("steps", domain.steps, "How many they were; 0: not said");
  fields.optional_object("errors", "How far the fit is off", [](Fields& errors) {
    errors.entries("\"fitted\": {\"steps\", \"median\", \"p90\"}, ...", [](const std::string&, FieldValue&) {});
  });
}

}  // namespace

void visit(Fields& fields, ComputeProfile& profile) {
  fields.optional("name", profile.name, "As results name it");
  fields.optional("description", profile.description, "For people");
  fields.optional("source", profile.source, "Where its figures come from");
  fields.optional_object("gemm", "Products of matrices", [&](Fields& gemm) {
    visit_products(gemm, profile.gemm);
    visit_number(gemm, "waves", profile.waves,
                 "How much is lost to the last wave of tiles: 1, half of it; 0, nothing (default 1)", kMore);
    for (const Precision precision : {Precision::fp8, Precision::fp4}) {
      if (gemm.writing() && !profile.narrow.contains(precision)) { continue; }
      gemm.optional_object(name(precision), "The same in this precision; absent: as the others", [&](Fields& inner) {
        visit_products(inner, profile.narrow.try_emplace(precision, profile.gemm).first->second);
      });
    }
  });
  visit_number(fields, "attention", profile.attention,
               "Share of the peak of 16 bits that fused attention reaches "
               "(default 0.5)",
               kShare);
  fields.optional("attention_by_shape", profile.attention_by_shape,
                  "That share is of long sequences and heads of 128 elements; shorter ones lose as on an H100 (default "
                  "false)");
  visit_number(fields, "memory", profile.memory,
               "Share of the memory's bandwidth that element-wise kernels reach "
               "(default 0.85)",
               kShare);
  fields.optional("overhead", profile.overhead, "Of each kernel");
  fields.optional(
      "launch", profile.launch,
      "What the host takes to dispatch a kernel: the GPU waits where that is longer than the kernel (default 0)");
  fields.optional("pass_overhead", profile.pass_overhead,
                  "Between a pass of a micro-batch through a chunk of a pipeline and the next: what the host takes to "
                  "exchange messages and to launch the first kernels, while the GPU waits (default 0)");
  visit_number(fields, "interference", profile.interference,
               "How much longer kernels take while the GPU communicates (default 0)", kMore);
  fields.renamed("spread", "straggler_growth");
  visit_number(fields, "straggler_growth", profile.straggler_growth,
               "How much longer a step takes with each doubling of GPUs beyond 8 (default 0)", kMore);
  fields.optional_object("fitted", profile.fitted, "The domain in which its figures were fitted; absent: not fitted",
                         visit_domain);
}

double straggler_doublings(double gpus) { return std::max(0.0, std::log2(gpus / 8)); }

}  // namespace athanor
