#include "topologies/hardware/gpu.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

void read_power(Fields& fields, std::string_view key, std::string_view meaning, std::optional<Power>& power) {
  if (fields.writing() && !power) { return; }
  fields.optional_value(key, meaning, [&](FieldValue& value) {
    Power read = power.value_or(Power{1});
    value.text(read, &parse_power, &written<Power>, R"(^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)? ?(mW|W|kW|MW)$)");
    if (!value.ok()) { return; }
    if (read > Power::zero()) {
      power = read;
    } else {
      value.problem("out-of-range", fmt::format("a GPU that draws {}", to_string(read)), "write more than 0W");
    }
  });
}

/// As data sheets name them; fp16_tensor: of GPUs whose other products in fp16 are slower.
const std::vector<std::string>& types() {
  static const std::vector<std::string> kTypes{"fp64", "fp32", "tf32", "fp16",  "fp16_tensor", "bf16",
                                               "fp8",  "fp6",  "fp4",  "nvfp4", "int8",        "int4"};
  return kTypes;
}

void read_tflops(Fields& fields, std::map<std::string, Ratio>& tflops) {
  if (fields.writing() && tflops.empty()) { return; }
  fields.optional_object("tflops", "Dense, by type", [&](Fields& each) {
    const auto visit_rate = [&](FieldValue& value, const std::string& type) {
      Ratio rate = tflops.contains(type) ? tflops[type] : Ratio{0, 1};
      value.visit(rate, {{0, 1}, {1'000'000, 1}});
      if (value.ok()) { tflops[type] = rate; }
    };
    for (const std::string& type : types()) {
      if (each.writing() && !tflops.contains(type)) { continue; }
      each.optional_value(type, "1e12 operations per second", [&](FieldValue& value) { visit_rate(value, type); });
    }
  });
}

const std::vector<std::string>& vendors() {
  static const std::vector<std::string> kVendors{"NVIDIA", "AMD", "Intel", "Huawei", "Google", "Amazon", "other"};
  return kVendors;
}

/// Whether what is said of its maker is what its other figures say.
bool agrees_on_vendor(const GpuConfig& config, const GpuPreset& gpu, Problems& problems) {
  const auto conflict = [&](const char* key, const char* vendor) {
    problems.add({"conflict", fmt::format("\"{}\" is of GPUs from {}, and \"vendor\" says {}", key, vendor, gpu.vendor),
                  config.place, fmt::format("leave out \"{}\"{}", key, config.preset.empty() ? " or \"vendor\"" : "")});
    return false;
  };
  if (gpu.vendor.empty() && gpu.compute_capability && !gpu.architecture.empty()) {
    problems.add({"conflict", "\"compute_capability\" is of GPUs from NVIDIA, and \"architecture\" of GPUs from AMD",
                  config.place, "leave out the one that is not this GPU's"});
    return false;
  }
  if (gpu.vendor.empty()) { return true; }
  if (gpu.compute_capability && gpu.vendor != "NVIDIA") { return conflict("compute_capability", "NVIDIA"); }
  if (!gpu.architecture.empty() && gpu.vendor != "AMD") { return conflict("architecture", "AMD"); }
  return true;
}

}  // namespace

void read_compute_capability(Fields& fields, std::optional<Ratio>& capability) {
  fields.optional("compute_capability", capability, "Of its GPUs, from NVIDIA: 9.0 of an H100", {{1, 1}, {999, 10}});
  if (capability && (capability->numerator * 10) % capability->denominator != 0) {
    fields.problem("compute_capability", "out-of-range", "a compute capability is a whole number of tenths");
  }
}

void visit(Fields& fields, GpuProperties& gpu) {
  fields.optional("name", gpu.name, "As results name it; default: its preset");
  fields.optional("memory", gpu.memory, "Size of its memory", {Bytes{1}});
  fields.optional("memory_bandwidth", gpu.memory_bandwidth, "Of its memory, reading and writing together",
                  {Bandwidth{1}});
  read_tflops(fields, gpu.tflops);
  optional_link(fields, "nvlink", "One of its NVLinks, or of what joins GPUs otherwise", gpu.nvlink);
  fields.optional("nvlinks", gpu.nvlinks, "How many it has", {1, 1024});
  optional_link(fields, "pcie", "Its PCIe port", gpu.pcie);
  read_compute_capability(fields, gpu.compute_capability);
  fields.optional("architecture", gpu.architecture, "Of a GPU from AMD, as its compiler names it: gfx942");
  fields.optional("vendor", gpu.vendor, "Who makes it; default: as those two say", OneOf{vendors()});
  fields.optional("gpu_direct", gpu.gpu_direct, "May NICs read and write its memory (GPUDirect RDMA)?");
  fields.optional("peer_access", gpu.peer_access, "May other GPUs over PCIe?");
  read_power(fields, "power", "The most that it draws, \"700W\": below its preset's a power limit", gpu.power);
  read_power(fields, "least_power", "The lowest power limit that it takes", gpu.least_power);
  read_power(fields, "idle_power", "While nothing runs on it", gpu.idle_power);
  fields.optional("rent_usd_per_hour", gpu.rent_usd_per_hour, "Of one: the cheapest offer, and the dearest",
                  {{0, 1}, {1'000'000, 1}});
  fields.optional("multiprocessors", gpu.multiprocessors, "Streaming multiprocessors, or compute units", {1, 10'000});
  fields.renamed("power_w", "power");
  fields.renamed("idle_w", "idle_power");
}

void check_alone(Fields& fields, const GpuProperties& gpu) {
  report_missing(fields, "a GPU", {{"pcie", gpu.pcie.has_value()}});
}

std::string name_of(const GpuConfig& gpu) {
  if (gpu.figures.name) { return *gpu.figures.name; }
  if (gpu.preset.empty()) { return "GPU"; }
  return json_of(gpu.figures).empty() ? gpu.preset : "changed " + gpu.preset;
}

bool computes_as_preset(const GpuConfig& gpu) {
  const GpuProperties& figures = gpu.figures;
  return !gpu.preset.empty() && !figures.memory_bandwidth && figures.tflops.empty() && !figures.multiprocessors;
}

void apply(const GpuProperties& figures, GpuPreset& gpu) {
  take(gpu.memory, figures.memory);
  take(gpu.memory_bandwidth, figures.memory_bandwidth);
  for (const auto& [type, rate] : figures.tflops) { gpu.tflops[type] = rate; }
  take(gpu.nvlink, figures.nvlink);
  take(gpu.nvlinks, figures.nvlinks);
  take(gpu.pcie, figures.pcie);
  take(gpu.compute_capability, figures.compute_capability);
  take(gpu.architecture, figures.architecture);
  take(gpu.vendor, figures.vendor);
  take(gpu.power, figures.power);
  take(gpu.least_power, figures.least_power);
  take(gpu.idle_power, figures.idle_power);
  if (!figures.rent_usd_per_hour.empty()) { gpu.rent_usd_per_hour = figures.rent_usd_per_hour; }
  take(gpu.multiprocessors, figures.multiprocessors);
  take(gpu.gpu_direct, figures.gpu_direct);
  take(gpu.peer_access, figures.peer_access);
}

namespace {

/// Whether the preset takes this power as a limit. With rates of its own it is another product, of which that is not
/// known.
bool takes_limit(const GpuConfig& config, const GpuPreset& base, Problems& problems) {
  const std::optional<Power>& limit = config.figures.power;
  if (!limit || !base.power || !config.figures.tflops.empty()) { return true; }
  const std::optional<Power>& least = config.figures.least_power ? config.figures.least_power : base.least_power;
  if (*limit <= *base.power && (!least || *limit >= *least)) { return true; }
  const std::string range = least ? fmt::format("from {} to {}", to_string(*least), to_string(*base.power))
                                  : fmt::format("up to {}", to_string(*base.power));
  problems.add({"out-of-range",
                fmt::format("{} takes power limits {}, not {}", config.preset, range, to_string(*limit)), config.place,
                "write a \"power\" within; of another product \"tflops\" beside it"});
  return false;
}

}  // namespace

std::optional<GpuPreset> made(const GpuConfig& config, const std::map<std::string, GpuPreset>& presets,
                              Problems& problems) {
  GpuPreset gpu;
  if (!config.preset.empty()) {
    const GpuPreset* base = find_preset(presets, "GPU", config.preset, config.place, problems);
    if (base == nullptr || !takes_limit(config, *base, problems)) { return std::nullopt; }
    gpu = *base;
  }
  apply(config.figures, gpu);
  if (gpu.nvlink.has_value() != (gpu.nvlinks > 0)) {
    problems.add({"missing-key", R"("nvlink" and "nvlinks" belong together: what one is, and how many there are)",
                  config.place, R"(write "nvlink": "nvlink4", "nvlinks": 18)"});
    return std::nullopt;
  }
  if (!agrees_on_vendor(config, gpu, problems)) { return std::nullopt; }
  if (gpu.power && gpu.idle_power && *gpu.power <= *gpu.idle_power) {
    problems.add({"out-of-range",
                  fmt::format("{} draws at most {}, and {} while nothing runs on it", name_of(config),
                              to_string(*gpu.power), to_string(*gpu.idle_power)),
                  config.place, "raise \"power\", or lower \"idle_power\""});
    return std::nullopt;
  }
  return gpu;
}

std::optional<Power> limited_from(const GpuConfig& config, const std::map<std::string, GpuPreset>& presets) {
  const auto base = presets.find(config.preset);
  const bool limited = base != presets.end() && base->second.power && config.figures.power;
  return limited && *config.figures.power < *base->second.power ? base->second.power : std::nullopt;
}

NodeIdentity identity_of(const GpuPreset& gpu) {
  NodeIdentity identity;
  if (gpu.compute_capability) { identity.compute_capability = in_tenths(*gpu.compute_capability); }
  identity.architecture = gpu.architecture;
  identity.vendor = gpu.vendor;
  identity.gpu_direct = gpu.gpu_direct;
  identity.peer_access = gpu.peer_access;
  return identity;
}

std::uint32_t in_tenths(Ratio capability) {
  return static_cast<std::uint32_t>(capability.numerator * 10 / capability.denominator);
}

}  // namespace athanor
