#include "models/training/recompute.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"
#include "sim/words.hpp"

namespace athanor {

std::string_view name(Recompute recompute) {
  switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::full: return "full";
  }
  return "";
}

std::string_view name(RecomputeModule module) {
  switch (module) {
    case RecomputeModule::core_attn: return "core_attn";
    case RecomputeModule::layernorm: return "layernorm";
    case RecomputeModule::mla_up_proj: return "mla_up_proj";
    case RecomputeModule::moe_act: return "moe_act";
    case RecomputeModule::mlp: return "mlp";
    case RecomputeModule::moe: return "moe";
    case RecomputeModule::shared_experts: return "shared_experts";
  }
  return "";
}

const std::vector<RecomputeModule>& all_recompute_modules() {
  static const std::vector<RecomputeModule> all{
      RecomputeModule::core_attn, RecomputeModule::layernorm, RecomputeModule::mla_up_proj,   RecomputeModule::moe_act,
      RecomputeModule::mlp,       RecomputeModule::moe,       RecomputeModule::shared_experts};
  return all;
}

RecomputeModules::RecomputeModules(const std::vector<RecomputeModule>& modules) {
  for (const RecomputeModule module : modules) { bits_ |= bit(module); }
}

RecomputeModules RecomputeModules::with(RecomputeModule module) const {
  RecomputeModules more = *this;
  more.bits_ |= bit(module);
  return more;
}

std::vector<RecomputeModule> RecomputeModules::list() const {
  std::vector<RecomputeModule> modules;
  std::copy_if(all_recompute_modules().begin(), all_recompute_modules().end(), std::back_inserter(modules),
               [&](RecomputeModule module) { return has(module); });
  return modules;
}

std::string text_of(const RecomputeModules& modules) {
  std::vector<std::string> names;
  for (const RecomputeModule module : modules.list()) { names.emplace_back(name(module)); }
  return fmt::format("{}", joined(names, "+"));
}

bool recomputes(const ParallelPlan& plan, RecomputeModule module) {
  return plan.recompute == Recompute::selective && plan.recompute_modules.has(module);
}

std::string_view lacks(const Transformer& model, RecomputeModule module) {
  switch (module) {
    case RecomputeModule::core_attn: return "";
    case RecomputeModule::layernorm: return model.norms > 0 ? "" : "norms";
    case RecomputeModule::mla_up_proj:
      return model.attention.kind == Attention::Kind::latent ? "" : "latent attention (MLA)";
    case RecomputeModule::moe_act:
    case RecomputeModule::moe: return model.experts ? "" : "experts";
    case RecomputeModule::shared_experts:
      return model.experts && model.experts->shared_ffn > 0 ? "" : "a shared expert";
    case RecomputeModule::mlp: {
      for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        if (!has_experts(model, layer)) { return ""; }
      }
      return "layers with an MLP in place of experts";
    }
  }
  return "";
}

std::string recompute_text(const ParallelPlan& plan) {
  if (plan.recompute != Recompute::selective) { return std::string(name(plan.recompute)); }
  return fmt::format("selective: {}", text_of(plan.recompute_modules));
}

}  // namespace athanor
