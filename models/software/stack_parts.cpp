#include "models/software/stack_parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace athanor {

std::string gpu_generation(std::string_view name) {
  // NVIDIA's by the major and minor compute capability, AMD's by their compiler's target.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kGenerations{{{"7.0", "volta"},
                                                                                        {"7.5", "turing"},
                                                                                        {"8.0", "ampere"},
                                                                                        {"8.6", "ampere"},
                                                                                        {"8.9", "ada"},
                                                                                        {"9.0", "hopper"},
                                                                                        {"10.0", "blackwell"},
                                                                                        {"10.3", "blackwell"},
                                                                                        {"12.0", "blackwell"},
                                                                                        {"gfx908", "cdna1"},
                                                                                        {"gfx90a", "cdna2"},
                                                                                        {"gfx941", "cdna3"},
                                                                                        {"gfx942", "cdna3"},
                                                                                        {"gfx950", "cdna4"}}};
  const auto* found =
      std::find_if(kGenerations.begin(), kGenerations.end(), [&](const auto& each) { return each.first == name; });
  return found == kGenerations.end() ? "" : std::string(found->second);
}

NcclChoosing choosing_of(const StackParts& parts) {
  const std::vector<Transport>& all = transports();
  const auto tunes = [&](const Transport& each) { return each.name == parts.transport && each.tunes; };
  const bool foreign = parts.rccl || std::any_of(all.begin(), all.end(), tunes);
  return foreign ? NcclChoosing::fastest : NcclChoosing::algorithm;
}

std::vector<std::string> parts_of(const Figure& figure, const StackParts& parts) {
  std::vector<std::string> result;
  const auto add = [&](const char* what, const std::string& part) {
    if (!part.empty()) { result.push_back(std::string(what) + " " + part); }
  };
  switch (figure.owner) {
    case FigureOwner::library: add("library", parts.rccl ? "rccl" : "nccl"); break;
    case FigureOwner::transport:  // whose proxies and plugins are the library's own
      if (!parts.transport.empty()) { add("transport", (parts.rccl ? "rccl " : "") + parts.transport); }
      break;
    case FigureOwner::node_link:
    case FigureOwner::gpu:  // whose blocks copy over NVLink otherwise than by PCIe or the host's memory
      add("link", parts.link);
      add("gpu", parts.gpu);
      if (!parts.gpu.empty() && !parts.link.empty()) { add("gpu", parts.gpu + " " + parts.link); }
      break;
    case FigureOwner::host:
    case FigureOwner::nobody: break;
  }
  return result;
}

bool matters(const Figure& figure, const StackParts& parts) {
  if (figure.owner == FigureOwner::transport) { return !parts.transport.empty(); }
  if (figure.owner == FigureOwner::node_link) { return !parts.link.empty(); }
  if (figure.name.starts_with("host_")) { return parts.one_process; }
  const bool multicasts = parts.gpu == "hopper" || parts.gpu == "blackwell";  // NVSwitches that reduce
  if (figure.name.starts_with("nvls_")) { return multicasts && parts.link == "nvlink"; }
  return true;
}

}  // namespace athanor
