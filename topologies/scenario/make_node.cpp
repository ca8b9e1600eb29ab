#include <fmt/core.h>

#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

template <class T>
void fill(std::optional<T>& field, const std::optional<T>& from) {
  if (!field) { field = from; }
}

/// Of the same preset, with or without changes.
bool is_alike(const std::optional<GpuText>& gpu, const std::optional<GpuText>& base) {
  if (!gpu || !base) { return !gpu && !base; }
  return gpu->preset == base->preset && !gpu->preset.empty();
}

/// What a node preset says of its GPUs holds for them with changes, too, unless a change says otherwise.
void fill_identity(NodeText& node, const NodeText& base) {
  const GpuProperties said = node.gpu ? node.gpu->figures : GpuProperties{};
  if (!said.compute_capability) { fill(node.compute_capability, base.compute_capability); }
  if (!said.gpu_direct) { fill(node.gpu_direct, base.gpu_direct); }
  if (!said.peer_access) { fill(node.peer_access, base.peer_access); }
}

/// What the text leaves out comes from its preset.
bool complete(NodeText& node, const Presets& presets, Problems& problems) {
  if (!node.preset) { return true; }
  const NodePreset* preset = find_preset(presets.nodes, "node", *node.preset, node.place, problems);
  if (preset == nullptr) { return false; }
  const NodeText& base = preset->node;
  fill(node.gpu, base.gpu);
  fill(node.gpus, base.gpus);
  fill(node.scale_up, base.scale_up);
  fill(node.sockets, base.sockets);
  fill(node.socket_link, base.socket_link);
  fill(node.pcie_link, base.pcie_link);
  fill(node.c2c_link, base.c2c_link);
  fill(node.memory_link, base.memory_link);
  fill(node.pcie, base.pcie);
  fill(node.cpu, base.cpu);
  if (is_alike(node.gpu, base.gpu)) { fill_identity(node, base); }
  if (!node.nic_models.empty()) { return true; }
  if (!node.nic && !node.nics) { node.nic_models = base.nic_models; }
  fill(node.nic, base.nic);
  fill(node.nics, base.nics);
  return true;
}

/// Makes one NodeSpec; a method for each part of it.
class NodeMaker {
 public:
  NodeMaker(const NodeText& text, const Presets& presets, Problems& problems)
      : text_(text), presets_(presets), problems_(problems) {}

  NodeSpec make() {
    spec_.name = text_.name.value_or(text_.preset.value_or("node"));
    if (text_.graph) {
      add_graph();
      add_identity();
      return spec_;
    }
    spec_.gpus = text_.gpus.value_or(0);
    spec_.sockets = text_.sockets.value_or(1);
    add_gpu();
    add_scale_up();
    spec_.pcie_link = text_.pcie_link ? link(*text_.pcie_link) : link_of(gpu_ ? gpu_->pcie : std::nullopt);
    if (text_.socket_link) { spec_.socket_link = link(*text_.socket_link); }
    if (text_.c2c_link) { spec_.c2c_link = link(*text_.c2c_link); }
    if (text_.memory_link) { spec_.memory_link = link(*text_.memory_link); }
    add_nics();
    add_identity();
    spec_.pcie = text_.pcie ? *text_.pcie : all_on_one_socket();
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

  LinkSpec link(const LinkText& text) {
    if (!text.preset.empty()) { return preset_link(text.preset, text.place); }
    return {text.rate, text.usable.value_or(text.rate), text.latency};
  }
  LinkSpec link_of(const std::optional<LinkText>& text) { return text ? link(*text) : LinkSpec{}; }

  void add_gpu() {
    if (!text_.gpus) { problem("missing-key", "a node needs \"gpus\"", text_.place, "say how many GPUs it has"); }
    if (text_.gpu) { gpu_ = made(*text_.gpu, presets_.gpus, problems_); }
    if (!text_.gpu && !text_.pcie_link) {
      problem("missing-key", "a node needs \"gpu\" or \"pcie_link\"", text_.place,
              R"(write "gpu": "H100-SXM-80GB", or "pcie_link": "pcie5x16")");
    }
  }

  void add_scale_up() {
    if (!text_.scale_up || text_.scale_up->kind == ScaleUpText::Kind::none) { return; }
    const ScaleUpText& scale_up = *text_.scale_up;
    const std::size_t before = problems_.size();
    const LinkSpec one = scale_up.link ? link(*scale_up.link) : link_of(gpu_ ? gpu_->nvlink : std::nullopt);
    const std::uint32_t links = scale_up.links_per_gpu.value_or(gpu_ ? gpu_->nvlinks : 0);
    if ((text_.gpu && !gpu_) || problems_.size() > before) { return; }
    const bool switched = scale_up.kind == ScaleUpText::Kind::nvswitch;
    if (one.rate == Bandwidth::zero() || (switched && links == 0)) {
      problem("missing-key", "the GPUs of this node have no NVLink that could join them", text_.place,
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
      identity.gpu = name_of(*text_.gpu);
    }
    if (text_.nic && text_.nic_models.empty()) { identity.nic = text_.nic->preset; }
    identity.infiniband = infiniband_;
    identity.cpu = text_.cpu.value_or(CpuIdentity{});
    identity.gpu_direct = text_.gpu_direct.value_or(identity.gpu_direct);
    identity.peer_access = text_.peer_access.value_or(identity.peer_access);
    spec_.nvlink_access = text_.nvlink_access;
    if (text_.compute_capability) { identity.compute_capability = in_tenths(*text_.compute_capability); }
  }

  void add_graph() {
    spec_.graph = make_node_graph(*text_.graph, problems_);
    if (!spec_.graph) { return; }
    spec_.gpus = spec_.graph->count(VertexKind::gpu);
    spec_.nics = spec_.graph->count(VertexKind::nic);
    spec_.sockets = spec_.graph->count(VertexKind::cpu);
    if (spec_.nics == 0) { return; }
    if (!text_.port) {
      add_nic_figures();
      return;
    }
    spec_.nic = {text_.port->rate, text_.port->efficiency, text_.port->latency, std::nullopt};
  }

  void add_nics() {
    for (const NicCountText& model : text_.nic_models) {
      const std::optional<NicSpec> nic = nic_figures(model.nic);
      if (nic) { spec_.own_nics.resize(spec_.own_nics.size() + model.count, *nic); }
    }
    spec_.nics = static_cast<std::uint32_t>(spec_.own_nics.size());
    if (!text_.nic_models.empty()) { return; }
    spec_.nics = text_.nics.value_or(0);
    if (spec_.nics > 0) { add_nic_figures(); }
  }

  std::optional<NicSpec> nic_figures(const NicText& text) {
    const std::optional<NicPreset> nic = made(text, presets_.nics, problems_);
    if (!nic) { return std::nullopt; }
    infiniband_ = infiniband_ || nic->protocol == Framing::infiniband;
    NicSpec spec{nic->rate, payload_share(nic->protocol), nic->latency, std::nullopt};
    if (text.figures.pcie) { spec.pcie = link(*text.figures.pcie); }
    return spec;
  }

  void add_nic_figures() {
    if (!text_.nic) {
      problem("missing-key", "a node with NICs needs \"nic\"", text_.place, R"(write "nic": "CX7-NDR")");
      return;
    }
    spec_.nic = nic_figures(*text_.nic).value_or(NicSpec{});
  }

  std::vector<PcieGroupSpec> all_on_one_socket() const {
    PcieGroupSpec group;
    for (std::uint32_t gpu = 0; gpu < spec_.gpus; ++gpu) { group.gpus.push_back(gpu); }
    for (std::uint32_t nic = 0; nic < spec_.nics; ++nic) { group.nics.push_back(nic); }
    return {group};
  }

  const NodeText& text_;
  const Presets& presets_;
  Problems& problems_;
  NodeSpec spec_;
  std::optional<GpuPreset> gpu_;
  bool infiniband_ = false;  // one of the NICs is
};

}  // namespace

std::optional<GpuText> gpu_of(const NodeText& text, const Presets& presets) {
  if (text.gpu || !text.preset) { return text.gpu; }
  const auto preset = presets.nodes.find(*text.preset);
  return preset == presets.nodes.end() ? std::nullopt : preset->second.node.gpu;
}

std::optional<NodeSpec> make_node(const NodeText& text, const Presets& presets, Problems& problems) {
  const std::size_t before = problems.size();
  NodeText full = text;
  if (!complete(full, presets, problems)) { return std::nullopt; }
  NodeSpec spec = NodeMaker(full, presets, problems).make();
  if (problems.size() > before) { return std::nullopt; }
  for (const std::string& fault : faults(spec)) { problems.add({"node", fault, text.place, ""}); }
  if (problems.size() > before) { return std::nullopt; }
  return spec;
}

}  // namespace athanor
