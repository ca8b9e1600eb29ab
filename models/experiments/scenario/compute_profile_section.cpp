#include "models/experiments/scenario/compute_profile_section.hpp"

#include <algorithm>

#include "sim/config/object_reader.hpp"

namespace athanor {

namespace {
using Type = ValueReader::Form::Type;
}

ComputeProfile read_compute_profile_file(const std::string& path, Problems& problems) {
  const Document document = Document::load(path);
  ComputeProfile profile;
  profile.name = path;
  read_document(document, problems, [&](ObjectReader& reader) { read(reader, profile); });
  return profile;
}

void read_compute_profile(ValueReader& value, const Library& library, Problems& problems, ComputeProfile& profile) {
  const auto read_name = [&](ValueReader& text) {
    const std::vector<std::string> names = library.names(Shelf::compute);
    std::string name = names.empty() ? "" : names.front();
    text.read(name, OneOf{names});
    if (!text.describing() && text.ok() && library.has(Shelf::compute, name)) {
      profile = read_compute_profile_file(library.path(Shelf::compute, name), problems);
    }
  };
  const auto read_inline = [&](ValueReader& object) {
    if (!object.describing()) { profile.name = "inline"; }
    object.object([&](ObjectReader& reader) { read(reader, profile); });
  };
  value.one_of({{Type::string, read_name}, {Type::object, read_inline}});
}

std::optional<ComputeProfile> fitted_profile(const std::string& gpu, Precision precision, const Library& library,
                                             Problems& problems) {
  std::optional<ComputeProfile> other;
  for (const std::string& name : library.names(Shelf::compute)) {
    ComputeProfile profile = read_compute_profile_file(library.path(Shelf::compute, name), problems);
    const std::vector<std::string>& gpus = profile.fitted.gpus;
    if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) { continue; }
    if (profile.covers(gpu, precision)) { return profile; }
    if (!other) { other = std::move(profile); }
  }
  return other;
}

GpuRates find_gpu_rates(const std::string& name, const Library& library, const Place& place) {
  const auto presets = load_presets(library.folder(Shelf::presets));
  Problems problems;
  const GpuPreset* const preset = find_preset(presets->gpus, "GPU", name, place, problems);
  problems.throw_if_any();
  return gpu_rates(name, *preset);
}

}  // namespace athanor
