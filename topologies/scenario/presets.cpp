#include "topologies/scenario/presets.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "sim/config/object_reader.hpp"
#include "sim/file.hpp"
#include "topologies/scenario/sources.hpp"

namespace athanor {

namespace {

void read_provenance(ObjectReader& reader, const Sources& sources, Provenance& provenance) {
  reader.optional_object("from", "The source of each figure", [&](ObjectReader& from) {
    from.entries("A source of this file", [&](const std::string& figure, ValueReader& value) {
      std::string key;
      value.read(key);
      const auto source = sources.find(key);
      if (source != sources.end()) {
        provenance.from[figure] = source->second;
      } else {
        value.problem("unknown-source", fmt::format("source \"{}\" is not in this file", key), "add it to \"sources\"");
      }
    });
  });
  reader.optional("unverified", provenance.unverified, "Figures without a public source");
  reader.optional("note", provenance.note, "What else there is to know");
}

Names<Framing> framing_names() {
  return {{"none", Framing::none}, {"infiniband", Framing::infiniband}, {"roce", Framing::roce}};
}

void read_fields(ObjectReader& reader, LinkPreset& link) {
  reader.required(
      "kind", link.kind, "What it is",
      {{"nvlink", LinkKind::nvlink}, {"c2c", LinkKind::c2c}, {"pcie", LinkKind::pcie}, {"socket", LinkKind::socket}});
  LinkText text;
  read(reader, text);
  link.spec = {text.rate, text.usable.value_or(text.rate), text.latency};
}

void read_fields(ObjectReader& reader, GpuPreset& gpu) {
  reader.required("memory", gpu.memory, "Size of its memory", {Bytes{1}});
  reader.required("memory_bandwidth", gpu.memory_bandwidth, "Of its memory, reading and writing together");
  reader.required_object("tflops", "Dense, by type", [&](ObjectReader& types) {
    types.entries("1e12 operations per second", [&](const std::string& type, ValueReader& value) {
      value.read(gpu.tflops[type], {{0, 1}, {1'000'000, 1}});
    });
  });
  reader.optional("nvlink", gpu.nvlink, "The link preset of its NVLinks");
  reader.optional("nvlinks", gpu.nvlinks, "How many it has", {1, 1024});
  reader.required("pcie", gpu.pcie, "The link preset of its PCIe port");
  read_compute_capability(reader, gpu.compute_capability);
  reader.optional("architecture", gpu.architecture, "Of a GPU from AMD, as its compiler names it: gfx942");
  reader.optional("gpu_direct", gpu.gpu_direct, "May NICs read and write its memory (GPUDirect RDMA)?");
  reader.optional("peer_access", gpu.peer_access, "May other GPUs over PCIe?");
  reader.optional("power_w", gpu.power_w, "Watts", {1, 100'000});
  reader.optional("idle_w", gpu.idle_w, "Watts while nothing runs on it", {1, 100'000});
  reader.optional("rent_usd_per_hour", gpu.rent_usd_per_hour, "Of one: the cheapest offer, and the dearest",
                  {{0, 1}, {1'000'000, 1}});
  reader.optional("multiprocessors", gpu.multiprocessors, "Streaming multiprocessors, or compute units", {1, 10'000});
}

void read_fields(ObjectReader& reader, NicPreset& nic) {
  reader.required("rate", nic.rate, "Line rate of the network port, one direction");
  reader.required("protocol", nic.protocol, "What headers cost", framing_names());
  reader.required("latency", nic.latency, "Of forwarding, each way");
  reader.required("pcie", nic.pcie, "The link preset of its PCIe port");
}

void read_fields(ObjectReader& reader, SwitchPreset& device) {
  reader.required("rate", device.rate, "Line rate of a port, one direction");
  reader.required("radix", device.radix, "Ports", {2, 65'536});
  reader.required("latency", device.latency, "Of forwarding");
  reader.required("protocol", device.protocol, "What headers cost", framing_names());
  reader.optional("hashes", device.hashes,
                  "Flows over equal paths, as Ethernet switches do: routing is ecmp by default");
}

void read_fields(ObjectReader& reader, NodePreset& node) { read(reader, node.node); }

template <class Preset>
void load(const std::string& path, std::map<std::string, Preset>& presets, Problems& problems) {
  const Document document = Document::load(path);
  read_document(document, problems, [&](ObjectReader& file) {
    std::string about;
    Sources sources;
    file.optional("about", about, "What the figures mean");
    file.optional_object("sources", "By key", [&](ObjectReader& reader) { read_sources(reader, sources); });
    file.required_object("presets", "By name", [&](ObjectReader& list) {
      list.entries("One preset", [&](const std::string& name, ValueReader& value) {
        value.object([&](ObjectReader& fields) {
          Preset preset;
          read_fields(fields, preset);
          read_provenance(fields, sources, preset.provenance);
          presets[name] = std::move(preset);
        });
      });
    });
  });
}

constexpr std::array kFiles{"links.json", "gpus.json", "nics.json", "switches.json", "nodes.json"};

Presets read_presets(const std::string& directory) {
  Presets presets;
  Problems problems;
  const auto path = [&](std::size_t file) { return directory + "/" + kFiles.at(file); };
  load(path(0), presets.links, problems);
  load(path(1), presets.gpus, problems);
  load(path(2), presets.nics, problems);
  load(path(3), presets.switches, problems);
  load(path(4), presets.nodes, problems);
  problems.throw_if_any();
  return presets;
}

/// Presets by directory, with the files as they were when they were read.
class KeptPresets {
 public:
  std::shared_ptr<const Presets> of(const std::string& directory) {
    std::vector<ReadFile> files;
    for (const char* file : kFiles) { files.push_back(file_state(directory + "/" + file)); }
    const std::scoped_lock lock(mutex_);
    Kept& kept = by_directory_[directory];
    if (kept.presets == nullptr || kept.files != files) {
      kept = {nullptr, {}};
      auto presets = std::make_shared<const Presets>(read_presets(directory));
      // The clocks of file systems are coarse: what has just been written may be written again, and look the same.
      if (!is_recent(files)) { kept = {presets, std::move(files)}; }
      return presets;
    }
    for (const ReadFile& file : files) { note_read(file.path); }
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
  std::map<std::string, Kept> by_directory_;
};

}  // namespace

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
                       const Place& place) {
  const std::string close = nearest(name, names);
  const std::string hint =
      close.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", close);
  return {"unknown-preset", fmt::format("there is no {} preset \"{}\"", what, name), place, hint};
}

std::shared_ptr<const Presets> load_presets(const std::string& directory) {
  static KeptPresets kept;
  return kept.of(directory);
}

}  // namespace athanor
