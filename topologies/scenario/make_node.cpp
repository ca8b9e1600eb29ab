#include <fmt/core.h>

#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

template <class T>
void fill(std::optional<T>& field, const std::optional<T>& from) {
  if (!field) { field = from; }
}

/// Of the same preset, with or without changes.
bool is_alike(const std::optional<GpuConfig>& gpu, const std::optional<GpuConfig>& base) {
  if (!gpu || !base) { return !gpu && !base; }
  return gpu->preset == base->preset && !gpu->preset.empty();
}

/// What a node preset says of its GPUs holds for them with changes, too, unless a change says otherwise.
void fill_identity(NodeConfig& node, const NodeConfig& base) {
  const GpuProperties said = node.gpu ? node.gpu->figures : GpuProperties{};
  if (!said.compute_capability) { fill(node.compute_capability, base.compute_capability); }
  if (!said.gpu_direct) { fill(node.gpu_direct, base.gpu_direct); }
  if (!said.peer_access) { fill(node.peer_access, base.peer_access); }
}

/// GPUs or processes: what the text says has no room for the other of its preset.
void fill_ranks(NodeConfig& node, const NodeConfig& base) {
  if (!node.gpus) { fill(node.processes, base.processes); }
  if (node.processes) { return; }
  fill(node.gpus, base.gpus);
  fill(node.scale_up, base.scale_up);
}

/// The same groups without their GPUs.
void leave_out_gpus(std::vector<PcieGroupSpec>& groups) {
  for (PcieGroupSpec& group : groups) {
    group.gpus.clear();
    leave_out_gpus(group.groups);
  }
}

/// What the text leaves out comes from its preset.
bool complete(NodeConfig& node, const Presets& presets, Problems& problems) {
  if (!node.preset) { return true; }
  const NodePreset* preset = find_preset(presets.nodes, "node", *node.preset, node.place, problems);
  if (preset == nullptr) { return false; }
  const NodeConfig& base = preset->node;
  fill(node.gpu, base.gpu);
  fill_ranks(node, base);
  fill(node.sockets, base.sockets);
  fill(node.socket_link, base.socket_link);
  fill(node.pcie_link, base.pcie_link);
  fill(node.c2c_link, base.c2c_link);
  fill(node.nic_link, base.nic_link);
  fill(node.memory_link, base.memory_link);
  fill(node.core_link, base.core_link);
  fill(node.pcie, base.pcie);
  fill(node.cpu, base.cpu);
  if (is_alike(node.gpu, base.gpu)) { fill_identity(node, base); }
  if (!node.nic_models.empty()) { return true; }
  if (!node.nic) { fill(node.transport, base.transport); }
  if (!node.nic && !node.nics) { node.nic_models = base.nic_models; }
  fill(node.nic, base.nic);
  fill(node.nics, base.nics);
  return true;
}

/// Makes one NodeSpec; a method for each part of it.
class NodeMaker {
 public:
  NodeMaker(const NodeConfig& config, const Presets& presets, Problems& problems)
      : config_(config), presets_(presets), problems_(problems) {}

  NodeSpec make() {
    spec_.name = config_.name.value_or(config_.preset.value_or("node"));
    if (config_.graph) {
      add_graph();
      add_identity();
      return spec_;
    }
    spec_.gpus = config_.gpus.value_or(0);
    spec_.processes = config_.processes.value_or(0);
    spec_.sockets = config_.sockets.value_or(1);
    add_gpu();
    add_scale_up();
    spec_.pcie_link = config_.pcie_link ? link(*config_.pcie_link) : link_of(gpu_ ? gpu_->pcie : std::nullopt);
    if (config_.socket_link) { spec_.socket_link = link(*config_.socket_link); }
    if (config_.c2c_link) { spec_.c2c_link = link(*config_.c2c_link); }
    if (config_.nic_link) { spec_.nic_link = link(*config_.nic_link); }
    if (config_.memory_link) { spec_.memory_link = link(*config_.memory_link); }
    if (config_.core_link) { spec_.core_link = link(*config_.core_link); }
    add_nics();
    if (spec_.processes > 0) { gpu_.reset(); }  // its PCIe is all that counts of it
    add_identity();
    spec_.pcie = config_.pcie ? *config_.pcie : all_on_one_socket();
    if (spec_.processes > 0) { leave_out_gpus(spec_.pcie); }
    return spec_;
  }

 private:
  void problem(std::string code, std::string message, const SourceLocation& place, std::string hint) {
    problems_.add({std::move(code), std::move(message), place, std::move(hint)});
  }

  LinkSpec preset_link(const std::string& name, const SourceLocation& place) {
    if (name.empty()) { return {}; }
    const LinkPreset* found = find_preset(presets_.links, "link", name, place, problems_);
    return found == nullptr ? LinkSpec{} : found->spec;
  }

  LinkSpec link(const LinkConfig& config) {
    if (!config.preset.empty()) { return preset_link(config.preset, config.place); }
    return {config.rate, config.usable.value_or(config.rate), config.latency};
  }
  LinkSpec link_of(const std::optional<LinkConfig>& config) { return config ? link(*config) : LinkSpec{}; }

  void add_gpu() {
    if (!config_.gpus && !config_.processes) {
      problem("missing-key", "a node needs \"gpus\" or \"processes\"", config_.place,
              "say how many GPUs it has, or how many processes run on the cores of its CPUs");
    }
    if (config_.processes && !config_.core_link) {
      problem("missing-key", "a node with \"processes\" needs \"core_link\"", config_.place,
              R"(write "core_link": "core", or the figures of one)");
    }
    if (config_.gpu) { gpu_ = made(*config_.gpu, presets_.gpus, problems_); }
    const bool on_pcie = !config_.processes || config_.nics.value_or(0) > 0 || !config_.nic_models.empty();
    if (on_pcie && !config_.gpu && !config_.pcie_link) {
      problem("missing-key", "a node needs \"gpu\" or \"pcie_link\"", config_.place,
              R"(write "gpu": "H100-SXM-80GB", or "pcie_link": "pcie5x16")");
    }
  }

  void add_scale_up() {
    if (!config_.scale_up || config_.scale_up->kind == ScaleUpConfig::Kind::none) { return; }
    const ScaleUpConfig& scale_up = *config_.scale_up;
    const std::size_t before = problems_.size();
    const LinkSpec one = scale_up.link ? link(*scale_up.link) : link_of(gpu_ ? gpu_->nvlink : std::nullopt);
    const std::uint32_t links = scale_up.links_per_gpu.value_or(gpu_ ? gpu_->nvlinks : 0);
    if ((config_.gpu && !gpu_) || problems_.size() > before) { return; }
    const bool switched = scale_up.kind == ScaleUpConfig::Kind::nvswitch;
    if (one.rate == Bandwidth::zero() || (switched && links == 0)) {
      problem("missing-key", "the GPUs of this node have no NVLink that could join them", config_.place,
              R"(name a "gpu" that has NVLinks, or give "scale_up" a "link" and "links_per_gpu")");
      return;
    }
    if (switched) {
      const std::string of_gpu = gpu_ && gpu_->nvlink ? gpu_->nvlink->preset : "";
      const bool early = of_gpu == "nvlink2" || of_gpu == "nvlink3";
      spec_.scale_up =
          NvSwitchSpec{{one.rate * links, one.usable * links, one.latency}, scale_up.reduces.value_or(!early)};
    } else {
      spec_.scale_up = NvlinkMeshSpec{one, scale_up.counts, scale_up.unjoined};
    }
  }

  void add_identity() {
    NodeIdentity& identity = spec_.identity;
    if (gpu_) {
      identity = identity_of(*gpu_);
      identity.gpu = name_of(*config_.gpu);
    }
    if (config_.nic && config_.nic_models.empty()) { identity.nic = config_.nic->preset; }
    identity.infiniband = infiniband_;
    if (any_card_) { identity.cards = cards_; }
    identity.transport = config_.transport.value_or("");
    identity.cpu = config_.cpu.value_or(CpuIdentity{});
    identity.gpu_direct = config_.gpu_direct.value_or(identity.gpu_direct);
    identity.peer_access = config_.peer_access.value_or(identity.peer_access);
    spec_.nvlink_access = config_.nvlink_access;
    if (config_.compute_capability) { set_capability(*config_.compute_capability); }
  }

  void set_capability(Ratio capability) {
    NodeIdentity& identity = spec_.identity;
    const std::string vendor = gpu_vendor(identity);
    if (!vendor.empty() && vendor != "NVIDIA") {
      problem("conflict",
              fmt::format("\"compute_capability\" is of GPUs from NVIDIA, and {} is from {}", identity.gpu, vendor),
              config_.place, R"(leave "compute_capability" out, or take another "gpu")");
    }
    identity.compute_capability = in_tenths(capability);
  }

  void add_graph() {
    spec_.graph = make_node_graph(*config_.graph, problems_);
    if (!spec_.graph) { return; }
    spec_.gpus = spec_.graph->count(VertexKind::gpu);
    spec_.nics = spec_.graph->count(VertexKind::nic);
    spec_.sockets = spec_.graph->count(VertexKind::cpu);
    if (spec_.nics == 0) { return; }
    if (!config_.port) {
      add_nic_figures();
      return;
    }
    spec_.nic = {config_.port->rate, config_.port->efficiency, config_.port->latency, std::nullopt};
  }

  void add_nics() {
    for (const NicCountConfig& model : config_.nic_models) {
      const std::optional<NicSpec> nic = nic_figures(model.nic, model.count);
      if (nic) { spec_.own_nics.resize(spec_.own_nics.size() + model.count, *nic); }
    }
    spec_.nics = static_cast<std::uint32_t>(spec_.own_nics.size());
    if (!config_.nic_models.empty()) { return; }
    spec_.nics = config_.nics.value_or(0);
    if (spec_.nics > 0) { add_nic_figures(); }
  }

  std::optional<NicSpec> nic_figures(const NicConfig& config, std::uint32_t count) {
    const std::optional<NicPreset> nic = made(config, presets_.nics, problems_);
    if (!nic) { return std::nullopt; }
    add_cards(nic->card_ports, count);
    infiniband_ = infiniband_ || nic->protocol == Framing::infiniband;
    NicSpec spec{nic->rate, payload_share(nic->protocol), nic->latency, std::nullopt};
    if (config.figures.pcie) { spec.pcie = link(*config.figures.pcie); }
    return spec;
  }

  /// Of the last card fewer ports may be in use.
  void add_cards(std::uint32_t ports, std::uint32_t count) {
    any_card_ = any_card_ || ports > 1;
    const auto first = static_cast<std::uint32_t>(cards_.size());
    for (std::uint32_t nic = 0; nic < count; ++nic) { cards_.push_back(first + nic - nic % ports); }
  }

  void add_nic_figures() {
    if (!config_.nic) {
      problem("missing-key", "a node with NICs needs \"nic\"", config_.place, R"(write "nic": "CX7-NDR")");
      return;
    }
    spec_.nic = nic_figures(*config_.nic, spec_.nics).value_or(NicSpec{});
  }

  std::vector<PcieGroupSpec> all_on_one_socket() const {
    PcieGroupSpec group;
    for (std::uint32_t gpu = 0; gpu < spec_.gpus; ++gpu) { group.gpus.push_back(gpu); }
    for (std::uint32_t nic = 0; nic < spec_.nics; ++nic) { group.nics.push_back(nic); }
    if (group.gpus.empty() && group.nics.empty()) { return {}; }
    return {group};
  }

  const NodeConfig& config_;
  const Presets& presets_;
  Problems& problems_;
  NodeSpec spec_;
  std::optional<GpuPreset> gpu_;
  bool infiniband_ = false;           // one of the NICs is
  std::vector<std::uint32_t> cards_;  // of each NIC its card's first
  bool any_card_ = false;             // with several ports
};

}  // namespace

std::optional<GpuConfig> gpu_of(const NodeConfig& config, const Presets& presets) {
  if (config.processes) { return std::nullopt; }
  if (config.gpu || !config.preset) { return config.gpu; }
  const auto preset = presets.nodes.find(*config.preset);
  return preset == presets.nodes.end() ? std::nullopt : preset->second.node.gpu;
}

std::optional<NodeSpec> make_node(const NodeConfig& config, const Presets& presets, Problems& problems) {
  const std::size_t before = problems.size();
  NodeConfig full = config;
  if (!complete(full, presets, problems)) { return std::nullopt; }
  if (config.core_link && !full.processes) {
    problems.add({"no-effect", "\"core_link\" joins processes to their socket, and the node has none",
                  config.core_link->place, R"(leave it out, or write "processes": 16)"});
  }
  NodeSpec spec = NodeMaker(full, presets, problems).make();
  if (problems.size() > before) { return std::nullopt; }
  for (const std::string& fault : faults(spec)) { problems.add({"node", fault, config.place, ""}); }
  if (problems.size() > before) { return std::nullopt; }
  return spec;
}

}  // namespace athanor
