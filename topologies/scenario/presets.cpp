#include "topologies/scenario/presets.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <mutex>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/file.hpp"

namespace athanor {

namespace {

void read_provenance(Fields& fields, const Sources& sources, Provenance& provenance) {
  fields.optional_object("from", "The source of each figure", [&](Fields& from) {
    from.entries("A source of this file", [&](const std::string& figure, FieldValue& value) {
      std::string key;
      value.visit(key);
      const auto source = sources.find(key);
      if (source != sources.end()) {
        provenance.from[figure] = source->second;
      } else {
        value.problem("unknown-source", fmt::format("source \"{}\" is not in this file", key), "add it to \"sources\"");
      }
    });
  });
  fields.optional("unverified", provenance.unverified, "Figures without a public source");
  fields.optional("note", provenance.note, "What else there is to know");
}

void read_fields(Fields& fields, LinkPreset& link) {
  fields.required(
      "kind", link.kind, "What it is",
      {{"nvlink", LinkKind::nvlink}, {"c2c", LinkKind::c2c}, {"pcie", LinkKind::pcie}, {"socket", LinkKind::socket}});
  LinkConfig config;
  visit(fields, config);
  link.spec = {config.rate, config.usable.value_or(config.rate), config.latency};
}

/// As check_alone of a scenario's, with all that presets must have.
void read_fields(Fields& fields, GpuPreset& gpu) {
  GpuProperties figures;
  visit(fields, figures);
  report_missing(fields, "a GPU",
                 {{"memory", figures.memory.has_value()},
                  {"memory_bandwidth", figures.memory_bandwidth.has_value()},
                  {"tflops", !figures.tflops.empty()},
                  {"pcie", figures.pcie.has_value()}});
  apply(figures, gpu);
}

void read_fields(Fields& fields, NicPreset& nic) {
  NicProperties figures;
  visit(fields, figures);
  check_alone(fields, figures);
  report_missing(fields, "a NIC", {{"pcie", figures.pcie.has_value()}});
  apply(figures, nic);
}

void read_fields(Fields& fields, SwitchPreset& device) {
  SwitchProperties figures;
  visit(fields, figures);
  check_alone(fields, figures);
  report_missing(fields, "a switch",
                 {{"radix", figures.radix.has_value()}, {"protocol", figures.protocol.has_value()}});
  apply(figures, device);
}

void read_fields(Fields& fields, NodePreset& node) { visit(fields, node.node); }

constexpr std::array kFiles{"links.json", "gpus.json", "nics.json", "switches.json", "nodes.json"};

template <class Preset>
void load(const FileReader& files, std::size_t which, std::map<std::string, Preset>& presets, Problems& problems) {
  const Document document = Document::load(files, kFiles.at(which));
  read_document(document, problems, [&](Fields& file) {
    std::string about;
    Sources sources;
    file.optional("about", about, "What the figures mean");
    file.optional_object("sources", "By key", [&](Fields& fields) { read_sources(fields, sources); });
    file.required_object("presets", "By name", [&](Fields& list) {
      list.entries("One preset", [&](const std::string& name, FieldValue& value) {
        value.object([&](Fields& inner) {
          Preset preset;
          read_fields(inner, preset);
          read_provenance(inner, sources, preset.provenance);
          presets[name] = std::move(preset);
        });
      });
    });
  });
}

Presets read_presets(const FileReader& reader) {
  Presets presets;
  Problems problems;
  load(reader, 0, presets.links, problems);
  load(reader, 1, presets.gpus, problems);
  load(reader, 2, presets.nics, problems);
  load(reader, 3, presets.switches, problems);
  load(reader, 4, presets.nodes, problems);
  problems.throw_if_any();
  return presets;
}

/// Presets by folder, with the files as they were when they were read.
class KeptPresets {
 public:
  std::shared_ptr<const Presets> of(const FileReader& reader) {
    std::vector<ReadFile> files;
    for (const char* file : kFiles) { files.push_back(file_state(reader.path(file))); }
    const std::scoped_lock lock(mutex_);
    Kept& kept = by_folder_[reader.path("")];
    if (kept.presets == nullptr || kept.files != files) {
      kept = {nullptr, {}};
      auto presets = std::make_shared<const Presets>(read_presets(reader));
      // The clocks of file systems are coarse: what has just been written may be written again, and look the same.
      if (!is_recent(files)) { kept = {presets, std::move(files)}; }
      return presets;
    }
    for (const char* file : kFiles) { reader.note(file); }
    return kept.presets;
  }

 private:
  struct Kept {
    std::shared_ptr<const Presets> presets;
    std::vector<ReadFile> files;
  };

  static bool is_recent(const std::vector<ReadFile>& files) {
    constexpr std::chrono::nanoseconds kRecent = std::chrono::seconds(2);
    const std::chrono::nanoseconds now = std::filesystem::file_time_type::clock::now().time_since_epoch();
    return std::any_of(files.begin(), files.end(),
                       [&](const ReadFile& file) { return now - std::chrono::nanoseconds(file.modified) < kRecent; });
  }

  std::mutex mutex_;
  std::map<std::string, Kept> by_folder_;
};

}  // namespace

void read_sources(Fields& fields, Sources& sources) {
  fields.entries("Where figures come from", [&](const std::string& key, FieldValue& value) {
    value.object([&](Fields& source) {
      std::string what;
      std::string where;
      source.required("what", what, "The document");
      source.required("where", where, "Its address");
      sources[key] = fmt::format("{} ({})", what, where);
    });
  });
}

std::shared_ptr<const Presets> load_presets(const FileReader& files) {
  static KeptPresets kept;
  return kept.of(files);
}

}  // namespace athanor
