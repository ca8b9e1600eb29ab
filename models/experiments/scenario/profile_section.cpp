#include "models/experiments/scenario/profile_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/engines/engine.hpp"
#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/named_file.hpp"
#include "models/software/profile.hpp"
#include "sim/config/fields.hpp"
#include "sim/file.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

std::vector<std::string> profile_names(const Library& library) {
  std::vector<std::string> names = library.names(LibraryFolder::profiles);
  const auto at = std::lower_bound(names.begin(), names.end(), kIdealProfile);
  if (at == names.end() || *at != kIdealProfile) { names.insert(at, std::string(kIdealProfile)); }
  return names;
}

namespace {

using Type = FieldValue::Form::Type;

/// Costs nothing until it is read, and does not say of itself that it does.
Profile undescribed(const std::string& name) {
  Profile profile;
  profile.name = name;
  profile.description.clear();
  return profile;
}

}  // namespace

Profile read_profile_file(const FileReader& files, const std::string& name, Problems& problems) {
  const Document document = Document::load(files, name);
  Profile profile = undescribed(files.path(name));
  read_document(document, problems, [&](Fields& fields) { visit(fields, profile); });
  return profile;
}

namespace {

/// One step deep: what prices the inside of a node was found there.
void find_inside(const Library& library, const SourceLocation& place, Problems& problems, Profile& profile) {
  if (profile.within_node.empty()) { return; }
  if (profile.within_node == kIdealProfile) {
    profile.inside = std::make_shared<const Profile>();
    return;
  }
  if (!library.has(LibraryFolder::profiles, profile.within_node)) {
    problems.add({"unknown-profile",
                  fmt::format("\"within_node\" names profile '{}', which is not there", profile.within_node), place,
                  "`athanor list profiles` lists them"});
    return;
  }
  profile.inside = std::make_shared<const Profile>(
      read_profile_file(library.files(), library.path(LibraryFolder::profiles, profile.within_node), problems));
}

}  // namespace

void read_profile(FieldValue& value, const FileReader& files, const Library& library, Problems& problems,
                  Profile& profile) {
  const auto read_path = [&](FieldValue& text) {
    if (const auto path = text.text(kFilePattern)) { profile = read_profile_file(files, *path, problems); }
  };
  const auto read_name = [&](FieldValue& text) {
    if (text.reading() && names_file(text.json()->string())) {
      read_path(text);
      return text.put(json_of(profile, Detail::complete));
    }
    std::string name(kIdealProfile);
    text.visit(name, OneOf{profile_names(library)});
    if (!text.ok()) { return; }
    if (library.has(LibraryFolder::profiles, name)) {
      profile = read_profile_file(library.files(), library.path(LibraryFolder::profiles, name), problems);
    } else {
      profile = Profile{};
    }
    text.put(json_of(profile, Detail::complete));  // a new calibration changes what its name stands for
  };
  const auto read_inline = [&](FieldValue& object) {
    profile = undescribed("inline");
    object.object([&](Fields& fields) { visit(fields, profile); });
  };
  if (value.describing()) {
    value.one_of({{Type::string, read_name}, {Type::string, read_path}, {Type::object, read_inline}});
  } else {
    value.one_of({{Type::string, read_name}, {Type::object, read_inline}});
  }
  if (value.ok()) { find_inside(library, value.place(), problems, profile); }
}

namespace {

/// Threads are priced by the section "threads", and nothing else is.
void check_threads(Fields& fields, const Platform& platform) {
  const bool threads = platform.cluster->processors > 0;
  if (threads == platform.profile->threads.has_value()) { return; }
  fields.problem(
      fields.has("profile") ? "profile" : "cluster", "profile-mismatch",
      threads ? fmt::format("the ranks share memory, but profile '{}' has no \"threads\"", platform.profile->name)
              : fmt::format("profile '{}' is of threads on shared memory, which this cluster is not",
                            platform.profile->name),
      threads ? "`athanor calibrate --output profile.json` makes one for this machine"
              : R"(write "cluster": {"shared_memory": {"ranks": 4, "processors": 2}}, or take another profile)");
}

/// Ranks that share GPUs are priced by the section "gpus", and nothing else is.
void check_gpus(Fields& fields, const Platform& platform) {
  const bool gpus = platform.cluster->shared_gpus > 0;
  if (gpus == platform.profile->gpus.has_value()) { return; }
  fields.problem(
      fields.has("profile") ? "profile" : "cluster", "profile-mismatch",
      gpus ? fmt::format("the ranks share GPUs, but profile '{}' has no \"gpus\"", platform.profile->name)
           : fmt::format("profile '{}' is of ranks that share GPUs, which this cluster is not", platform.profile->name),
      gpus ? "`athanor calibrate --backend cuda --output profile.json` makes one for the GPUs of this machine"
           : R"(write "cluster": {"shared_gpus": {"ranks": 8, "gpus": 1}}, or take another profile)");
}

/// NCCL runs on GPUs.
void check_processes(Fields& fields, const Platform& platform) {
  const Cluster& cluster = *platform.cluster;
  const bool processes = std::any_of(cluster.endpoints.begin(), cluster.endpoints.end(), [&](VertexId endpoint) {
    return cluster.fabric->vertex(endpoint).kind == VertexKind::process;
  });
  if (!processes || !platform.profile->nccl) { return; }
  fields.problem(fields.has("profile") ? "profile" : "cluster", "profile-mismatch",
                 fmt::format("profile '{}' is of NCCL, and ranks here are processes on CPUs", platform.profile->name),
                 R"(take a "profile" of MPI, or nodes whose ranks are GPUs)");
}

void check_protocol(Fields& fields, const Platform& platform, const std::optional<std::string>& protocol) {
  if (!protocol) { return; }
  std::vector<std::string> names;
  if (platform.profile->nccl) {
    names = {"LL", "LL128", "Simple"};
  } else {
    for (const Protocol& each : platform.profile->protocols) { names.push_back(each.name); }
  }
  const std::string& chosen = *protocol;
  if (std::find(names.begin(), names.end(), chosen) != names.end()) { return; }
  fields.problem("collective", "unknown-protocol",
                 fmt::format("profile '{}' has no protocol '{}'", platform.profile->name, chosen),
                 fmt::format("it has {}", joined(names, ", ")));
}

}  // namespace

void check_profile(Fields& fields, const Platform& platform, const std::optional<std::string>& protocol) {
  check_threads(fields, platform);
  check_gpus(fields, platform);
  check_processes(fields, platform);
  check_protocol(fields, platform, protocol);
}

namespace {

/// Profiles of the library that were fitted on such GPUs: "take one of nccl-h100-hgx, ..., or "; "": there is none.
std::string fitted_on(const std::string& gpu, const Library& library) {
  std::vector<std::string> names;
  for (const std::string& name : library.names(LibraryFolder::profiles)) {
    Problems problems;
    const Profile profile = read_profile_file(library.files(), library.path(LibraryFolder::profiles, name), problems);
    const std::vector<std::string>& gpus = profile.fitted.gpus;
    if (profile.nccl && std::count(gpus.begin(), gpus.end(), gpu) > 0) { names.push_back(name); }
  }
  return gpu.empty() || names.empty() ? "" : fmt::format("take one of {}, or ", joined(names, ", "));
}

/// The kind of nodes whose GPUs another maker's library does not run on; null pointer: there is none.
const NodeIdentity* of_another_vendor(const Cluster& cluster, const std::string& vendor) {
  const auto foreign = [&](const NodeIdentity& each) {
    const std::string own = gpu_vendor(each);
    return !own.empty() && own != vendor;
  };
  if (cluster.identity && foreign(*cluster.identity)) { return &*cluster.identity; }
  const auto found = std::find_if(cluster.others.begin(), cluster.others.end(), foreign);
  return found == cluster.others.end() ? nullptr : &*found;
}

}  // namespace

void check_vendor(Fields& fields, const Library& library, const Platform& platform) {
  const Profile& profile = *platform.profile;
  if (!profile.nccl || !platform.cluster) { return; }
  const std::string vendor = profile.nccl->rccl ? "AMD" : "NVIDIA";
  const NodeIdentity* const gpu = of_another_vendor(*platform.cluster, vendor);
  if (gpu == nullptr) { return; }
  const std::string own = gpu_vendor(*gpu);
  const bool pooled = gpu == &*platform.cluster->identity && !gpu_name(*platform.cluster).empty();
  fields.problem("profile", "profile-mismatch",
                 fmt::format("profile '{}' is of {}, which runs on GPUs from {}, and {} is {}", profile.name,
                             profile.nccl->rccl ? "RCCL" : "NCCL", vendor, gpu->gpu.empty() ? "the GPU here" : gpu->gpu,
                             own == "other" ? "from another maker" : "from " + own),
                 pooled ? fitted_on(gpu_name(*platform.cluster), library) +
                              "leave \"profile\" out: what a pool expects of these GPUs"
                        : R"(leave "profile" out, or write "ideal": no software of these GPUs is measured)");
}

void check_engines(Fields& fields, const Platform& platform) {
  if (!platform.profile->nccl || !platform.aggregation || !platform.aggregation->slots) { return; }
  fields.problem("network", "conflict",
                 fmt::format("NCCL does not use {}: it reduces in switches by SHARP alone, through its CollNet plugin",
                             platform.aggregation->engine.name),
                 R"(take another "engine" or leave "aggregation" out, or take a "profile" without "nccl")");
}

}  // namespace athanor
