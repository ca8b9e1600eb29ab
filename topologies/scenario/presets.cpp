#include "topologies/scenario/presets.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <mutex>

#include <fmt/core.h>

#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"

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

Names<Framing> framing_names() {
  return {{"none", Framing::none}, {"infiniband", Framing::infiniband}, {"roce", Framing::roce}};
}

void read_fields(Fields& fields, LinkPreset& link) {
  fields.required(
      "kind", link.kind, "What it is",
      {{"nvlink", LinkKind::nvlink}, {"c2c", LinkKind::c2c}, {"pcie", LinkKind::pcie}, {"socket", LinkKind::socket}});
  LinkText text;
  visit(fields, text);
  link.spec = {text.rate, text.usable.value_or(text.rate), text.latency};
}

void read_fields(Fields& fields, GpuPreset& gpu) {
  fields.required("memory", gpu.memory, "Size of its memory", {Bytes{1}});
  fields.required("memory_bandwidth", gpu.memory_bandwidth, "Of its memory, reading and writing together");
  fields.required_object("tflops", "Dense, by type", [&](Fields& types) {
    types.entries("1e12 operations per second", [&](const std::string& type, FieldValue& value) {
      value.visit(gpu.tflops[type], {{0, 1}, {1'000'000, 1}});
    });
  });
  fields.optional("nvlink", gpu.nvlink, "The link preset of its NVLinks");
  fields.optional("nvlinks", gpu.nvlinks, "How many it has", {1, 1024});
  fields.required("pcie", gpu.pcie, "The link preset of its PCIe port");
  read_compute_capability(fields, gpu.compute_capability);
  fields.optional("architecture", gpu.architecture, "Of a GPU from AMD, as its compiler names it: gfx942");
  fields.optional("gpu_direct", gpu.gpu_direct, "May NICs read and write its memory (GPUDirect RDMA)?");
  fields.optional("peer_access", gpu.peer_access, "May other GPUs over PCIe?");
  fields.optional("power_w", gpu.power_w, "Watts", {1, 100'000});
  fields.optional("idle_w", gpu.idle_w, "Watts while nothing runs on it", {1, 100'000});
  fields.optional("rent_usd_per_hour", gpu.rent_usd_per_hour, "Of one: the cheapest offer, and the dearest",
                  {{0, 1}, {1'000'000, 1}});
  fields.optional("multiprocessors", gpu.multiprocessors, "Streaming multiprocessors, or compute units", {1, 10'000});
}

void read_fields(Fields& fields, NicPreset& nic) {
  fields.required("rate", nic.rate, "Line rate of the network port, one direction");
  fields.required("protocol", nic.protocol, "What headers cost", framing_names());
  fields.required("latency", nic.latency, "Of forwarding, each way");
  fields.required("pcie", nic.pcie, "The link preset of its PCIe port");
}

void read_fields(Fields& fields, SwitchPreset& device) {
  fields.required("rate", device.rate, "Line rate of a port, one direction");
  fields.required("radix", device.radix, "Ports", {2, 65'536});
  fields.required("latency", device.latency, "Of forwarding");
  fields.required("protocol", device.protocol, "What headers cost", framing_names());
  fields.optional("hashes", device.hashes,
                  "Flows over equal paths, as Ethernet switches do: routing is ecmp by default");
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

Ratio payload_share(Framing protocol) {
  switch (protocol) {
    case Framing::none: return {1, 1};
    case Framing::infiniband: return {4096, 4096 + 8 + 12 + 4 + 2};
    case Framing::roce: return {4096, 4096 + 20 + 14 + 20 + 8 + 12 + 4 + 4};
  }
  return {1, 1};
}

NodeIdentity identity_of(const GpuPreset& gpu) {
  NodeIdentity identity;
  if (gpu.compute_capability) { identity.compute_capability = in_tenths(*gpu.compute_capability); }
  identity.architecture = gpu.architecture;
  identity.gpu_direct = gpu.gpu_direct;
  identity.peer_access = gpu.peer_access;
  return identity;
}

std::uint32_t in_tenths(Ratio capability) {
  return static_cast<std::uint32_t>(capability.numerator * 10 / capability.denominator);
}

Problem unknown_preset(std::string_view what, const std::string& name, const std::vector<std::string>& names,
                       const SourceLocation& place) {
  const std::string close = nearest(name, names);
  const std::string hint =
      close.empty() ? fmt::format("there are {}", joined(names, ", ")) : fmt::format("did you mean \"{}\"?", close);
  return {"unknown-preset", fmt::format("there is no {} preset \"{}\"", what, name), place, hint};
}

std::shared_ptr<const Presets> load_presets(const FileReader& files) {
  static KeptPresets kept;
  return kept.of(files);
}

}  // namespace athanor
