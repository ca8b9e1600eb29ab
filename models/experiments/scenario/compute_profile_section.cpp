#include "models/experiments/scenario/compute_profile_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/named_file.hpp"
#include "models/training/power_limit.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {
using Type = FieldValue::Form::Type;

/// What training needs.
void report_unknown(const GpuPreset& figures, const GpuConfig& gpu, Problems& problems) {
  const auto need = [&](bool known, const char* key) {
    if (known) { return; }
    problems.add({"missing-key", fmt::format("training needs \"{}\" of {}", key, name_of(gpu)), gpu.place,
                  fmt::format("give it with the other figures of this GPU: \"{}\": ...", key)});
  };
  need(figures.memory > Bytes::zero(), "memory");
  need(figures.memory_bandwidth > Bandwidth::zero(), "memory_bandwidth");
  need(!figures.tflops.empty(), "tflops");
}

/// Rates under a power limit, unless the scenario gives rates: those count as they are. Memory keeps its own clock.
void slow_down(GpuRates& rates, const GpuConfig& gpu) {
  if (rates.limited_from_w == 0 || !gpu.figures.tflops.empty()) { return; }
  rates.clock = clock_share(rates.power_w, rates.limited_from_w, rates.idle_w);
  for (auto& [precision, flops] : rates.flops) { flops *= rates.clock; }
}

}  // namespace

ComputeProfile read_compute_profile_file(const FileReader& files, const std::string& name, Problems& problems) {
  const Document document = Document::load(files, name);
  ComputeProfile profile;
  profile.name = files.path(name);
  read_document(document, problems, [&](Fields& fields) { visit(fields, profile); });
  return profile;
}

void read_compute_profile(FieldValue& value, const FileReader& files, const Library& library, Problems& problems,
                          ComputeProfile& profile) {
  const auto read_path = [&](FieldValue& text) {
    if (const auto path = text.text(kFilePattern)) { profile = read_compute_profile_file(files, *path, problems); }
  };
  const auto read_name = [&](FieldValue& text) {
    if (text.reading() && names_file(text.json()->string())) {
      read_path(text);
      return text.put(json_of(profile, Detail::complete));
    }
    const std::vector<std::string> names = library.names(LibraryFolder::compute);
    std::string name = names.empty() ? "" : names.front();
    text.visit(name, OneOf{names});
    if (text.ok() && library.has(LibraryFolder::compute, name)) {
      profile = read_compute_profile_file(library.files(), library.path(LibraryFolder::compute, name), problems);
      text.put(json_of(profile, Detail::complete));  // a new calibration changes what its name stands for
    }
  };
  const auto read_inline = [&](FieldValue& object) {
    profile.name = "inline";
    object.object([&](Fields& fields) { visit(fields, profile); });
  };
  if (value.describing()) {
    value.one_of({{Type::string, read_name}, {Type::string, read_path}, {Type::object, read_inline}});
  } else {
    value.one_of({{Type::string, read_name}, {Type::object, read_inline}});
  }
}

GpuRates find_gpu_rates(const GpuConfig& gpu, const Library& library) {
  const auto presets = load_presets(library.files().in(library.folder(LibraryFolder::presets)));
  Problems problems;
  const std::optional<GpuPreset> figures = made(gpu, presets->gpus, problems);
  if (figures) { report_unknown(*figures, gpu, problems); }
  problems.throw_if_any();
  GpuRates rates = gpu_rates(name_of(gpu), figures.value());
  rates.preset = gpu.preset;
  rates.as_preset = computes_as_preset(gpu);
  if (const auto most = limited_from(gpu, presets->gpus)) { rates.limited_from_w = watts(*most); }
  slow_down(rates, gpu);
  return rates;
}

}  // namespace athanor
