#include "models/jobs/schedulers/volcano/settings.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

struct PluginWords {
  VolcanoPlugin plugin;
  std::string_view name;
  std::string_view meaning;
};
constexpr std::array<PluginWords, 10> kPlugins = {{
    {VolcanoPlugin::priority, "priority", "jobs of higher priority come first, and preempt lower ones"},
    {VolcanoPlugin::gang, "gang", "a job begins with all tasks that it needs, or not at all"},
    {VolcanoPlugin::sla, "sla", "a job that has waited too long is let into its queue, and keeps what it gets"},
    {VolcanoPlugin::drf, "drf", "jobs with the smallest dominant share come first"},
    {VolcanoPlugin::proportion, "proportion", "queues share the cluster by weight"},
    {VolcanoPlugin::capacity, "capacity", "queues have what they deserve, and borrow up to their capability"},
    {VolcanoPlugin::overcommit, "overcommit", "how much more than the cluster has is let into queues"},
    {VolcanoPlugin::nodeorder, "nodeorder", "nodes by the scores of Kubernetes"},
    {VolcanoPlugin::binpack, "binpack", "the fullest node first"},
    {VolcanoPlugin::tdm, "tdm", "preemptible jobs use revocable nodes in windows of the day"},
}};

std::string_view name_of(VolcanoPlugin plugin) {
  return std::find_if(kPlugins.begin(), kPlugins.end(), [&](const auto& each) { return each.plugin == plugin; })->name;
}

bool judges_preemption(VolcanoPlugin plugin) {
  return plugin == VolcanoPlugin::priority || plugin == VolcanoPlugin::gang || plugin == VolcanoPlugin::drf ||
         plugin == VolcanoPlugin::tdm;
}
bool judges_reclaim(VolcanoPlugin plugin) {
  return plugin == VolcanoPlugin::gang || plugin == VolcanoPlugin::proportion || plugin == VolcanoPlugin::capacity;
}

void visit_arguments(Fields& fields, VolcanoPluginUse& use) {
  if (judges_preemption(use.plugin)) {
    fields.optional("preemptable", use.preemptable, "It has a say in who is preempted (enablePreemptable)");
  }
  if (judges_reclaim(use.plugin)) {
    fields.optional("reclaimable", use.reclaimable, "It has a say in who is reclaimed (enableReclaimable)");
  }
  switch (use.plugin) {
    case VolcanoPlugin::sla:
      fields.required("waiting_time", use.waiting_time, "sla-waiting-time: longer is too long", {WallTime{1}});
      break;
    case VolcanoPlugin::overcommit:
      fields.optional("factor", use.factor, "overcommit-factor: how often what the cluster has",
                      {{1, 1}, {1'000'000, 1}});
      break;
    case VolcanoPlugin::nodeorder:
      fields.optional("least_requested", use.nodeorder.least_requested, "Weight of the emptiest node", {0, 1000});
      fields.optional("most_requested", use.nodeorder.most_requested, "Weight of the fullest node", {0, 1000});
      fields.optional("balanced", use.nodeorder.balanced, "Weight of cores, memory and GPUs used alike", {0, 1000});
      break;
    case VolcanoPlugin::binpack:
      fields.optional("weight", use.binpack.weight, "binpack.weight: of its score beside others", {0, 1000});
      fields.optional("cpu", use.binpack.cpu, "binpack.cpu: of cores in its score", {0, 1000});
      fields.optional("memory", use.binpack.memory, "binpack.memory: of memory", {0, 1000});
      fields.optional("gpus", use.binpack.gpus,
                      "binpack.resources: of GPUs, which do not count where nobody names them", {0, 1000});
      break;
    case VolcanoPlugin::tdm: visit(fields, use.zones); break;
    default: break;
  }
}

void visit_plugin(FieldValue& value, VolcanoPluginUse& use) {
  const auto as_object = [&](FieldValue& object) {
    object.object([&](Fields& fields) {
      std::vector<Fields::Kind> kinds;
      for (const PluginWords& words : kPlugins) {
        kinds.push_back({words.name, words.meaning,
                         [&, plugin = words.plugin](Fields& nested) {
                           VolcanoPluginUse read = nested.writing() ? use : VolcanoPluginUse{};
                           read.plugin = plugin;
                           visit_arguments(nested, read);
                           if (nested.reading()) { use = read; }
                         },
                         words.plugin == use.plugin});
      }
      fields.choice("name", "Which one", kinds);
    });
  };
  const auto as_name = [&](FieldValue& text) {
    std::vector<std::string> names;
    for (const PluginWords& words : kPlugins) { names.emplace_back(words.name); }
    std::string name(name_of(use.plugin));
    text.visit(name, OneOf{names});
    if (!text.ok()) { return; }
    use = {};
    use.plugin = std::find_if(kPlugins.begin(), kPlugins.end(), [&](const auto& e) { return e.name == name; })->plugin;
    if (use.plugin == VolcanoPlugin::sla) {
      text.problem("missing-key", "'sla' alone does not say how long is too long",
                   R"(write {"name": "sla", "waiting_time": "1h"})");
    }
    if (use.plugin == VolcanoPlugin::tdm) {
      text.problem("missing-key", "'tdm' alone does not say which nodes are revocable",
                   R"(write {"name": "tdm", "zones": [{"name": "z", "nodes": 8, "from": "20:00", "to": "23:00"}]})");
    }
  };
  value.one_of({{Type::object, as_object}, {Type::string, as_name}});
}

void visit_tiers(FieldValue& value, std::vector<VolcanoTier>& tiers) {
  value.list(tiers, [](FieldValue& tier, VolcanoTier& plugins) { tier.list(plugins, visit_plugin, {1}); }, {1});
}

void visit(Fields& fields, WrittenAmounts& amounts) {
  fields.optional("gpus", amounts.gpus, "GPUs");
  fields.optional("cpu_milli", amounts.cpu_milli, "Thousandths of cores");
  fields.optional("memory", amounts.memory, "Memory");
}

void visit_amounts(Fields& fields, std::string_view key, std::optional<WrittenAmounts>& amounts,
                   std::string_view meaning) {
  fields.optional_object(key, amounts, meaning, [](Fields& f, WrittenAmounts& read) { visit(f, read); });
}

void check_key(Fields& fields, std::string_view key, bool has_effect, std::string_view needs) {
  if (!fields.ok() || !fields.has(key) || has_effect) { return; }
  fields.problem(std::string(key), "no-effect", fmt::format("\"{}\" has no effect without {}", key, needs),
                 fmt::format("leave it out, or have {}", needs));
}

void visit(Fields& fields, VolcanoQueue& queue, const VolcanoSettings& settings) {
  fields.required("name", queue.name, "The queue of its jobs; those that name none are in \"default\"");
  fields.optional("priority", queue.priority, "Queues of higher priority come first");
  fields.optional("weight", queue.weight, "Of what queues share", {1, 1'000'000});
  fields.optional("reclaimable", queue.reclaimable, "Others may take back what it has beyond what it deserves");
  visit_amounts(fields, "capability", queue.capability, "At most so much");
  visit_amounts(fields, "deserved", queue.deserved, "What it may take back from others");
  visit_amounts(fields, "guarantee", queue.guarantee, "What others never get");
  check_key(fields, "weight", settings.has(VolcanoPlugin::proportion), "the plugin \"proportion\"");
  check_key(fields, "deserved", settings.has(VolcanoPlugin::capacity), "the plugin \"capacity\"");
  check_key(fields, "reclaimable", settings.has(VolcanoAction::reclaim), "the action \"reclaim\"");
}

void check_tiers(Fields& fields, const VolcanoSettings& settings) {
  const auto refuse = [&](std::string code, std::string message, std::string hint) {
    if (fields.ok()) { fields.problem("tiers", std::move(code), std::move(message), std::move(hint)); }
  };
  std::set<VolcanoPlugin> known;
  for (const VolcanoTier& tier : settings.tiers) {
    for (const VolcanoPluginUse& use : tier) {
      if (!known.insert(use.plugin).second) {
        refuse("conflict", fmt::format("\"{}\" is there twice", name_of(use.plugin)), "leave one of them out");
      }
    }
  }
  if (!settings.has(VolcanoPlugin::gang)) {
    refuse("no-gang", "jobs begin with all tasks that they need, and \"gang\" is missing",
           "write it into \"tiers\"; the scheduler \"kubernetes\" places tasks one by one");
  }
  if (settings.has(VolcanoPlugin::proportion) && settings.has(VolcanoPlugin::capacity)) {
    refuse("conflict", "\"proportion\" and \"capacity\" both say what queues get", "leave one of them out");
  }
  if (settings.has(VolcanoPlugin::overcommit) && !settings.has(VolcanoAction::enqueue)) {
    refuse("no-effect", "\"overcommit\" limits what the action \"enqueue\" does, which is missing",
           "leave it out, or write \"enqueue\" into \"actions\"");
  }
}

void check_actions(Fields& fields, const VolcanoSettings& settings) {
  const auto refuse = [&](std::string code, std::string message, std::string hint) {
    if (fields.ok()) { fields.problem("actions", std::move(code), std::move(message), std::move(hint)); }
  };
  if (std::set(settings.actions.begin(), settings.actions.end()).size() != settings.actions.size()) {
    refuse("conflict", "an action is there twice", "leave one of them out");
  }
  if (!settings.has(VolcanoAction::allocate)) {
    refuse("no-allocate", "without the action \"allocate\" no job begins", "write it into \"actions\"");
  }
  const bool evicts = settings.has(VolcanoAction::preempt) || settings.has(VolcanoAction::reclaim);
  if (evicts && !settings.scores_nodes()) {
    refuse("conflict", "\"preempt\" and \"reclaim\" look at nodes in the order of their scores",
           "write \"nodeorder\" or \"binpack\" into \"tiers\"");
  }
  if (settings.has(VolcanoAction::reclaim) && !settings.has(VolcanoPlugin::proportion) &&
      !settings.has(VolcanoPlugin::capacity)) {
    refuse("no-effect", "\"reclaim\" takes back what queues have beyond what they deserve",
           "write \"proportion\" or \"capacity\" into \"tiers\"");
  }
  if (settings.has(VolcanoPlugin::tdm) && !settings.has(VolcanoAction::preempt)) {
    refuse("no-preempt", "nothing takes tasks off revocable nodes when their window has ended",
           "write \"preempt\" into \"actions\", which asks \"tdm\" whom");
  }
  if (!evicts) { check_key(fields, "grace_period", false, "the action \"preempt\" or \"reclaim\""); }
}

void check_queues(Fields& fields, const VolcanoSettings& settings) {
  check_key(fields, "queues", settings.has(VolcanoPlugin::proportion) || settings.has(VolcanoPlugin::capacity),
            "the plugin \"proportion\" or \"capacity\"");
  std::set<std::string> names;
  for (const VolcanoQueue& queue : settings.queues) {
    if (names.insert(queue.name).second || !fields.ok()) { continue; }
    fields.problem("queues", "conflict", fmt::format("there are two queues '{}'", queue.name), "name each differently");
  }
}

}  // namespace

std::vector<VolcanoTier> VolcanoSettings::installed_tiers() {
  const auto plugin = [](VolcanoPlugin which, bool preemptable = true) {
    VolcanoPluginUse use;
    use.plugin = which;
    use.preemptable = preemptable;
    return use;
  };
  return {{plugin(VolcanoPlugin::priority), plugin(VolcanoPlugin::gang, false)},
          {plugin(VolcanoPlugin::overcommit), plugin(VolcanoPlugin::drf, false), plugin(VolcanoPlugin::proportion),
           plugin(VolcanoPlugin::nodeorder), plugin(VolcanoPlugin::binpack)}};
}

const VolcanoPluginUse* VolcanoSettings::use_of(VolcanoPlugin plugin) const {
  for (const VolcanoTier& tier : tiers) {
    for (const VolcanoPluginUse& use : tier) {
      if (use.plugin == plugin) { return &use; }
    }
  }
  return nullptr;
}

bool VolcanoSettings::has(VolcanoAction action) const {
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

bool VolcanoSettings::spares_by_tdm() const {
  for (const VolcanoTier& tier : tiers) {
    bool says = false;
    for (const VolcanoPluginUse& use : tier) {
      if (use.plugin == VolcanoPlugin::tdm) { return true; }
      says = says || use.plugin == VolcanoPlugin::priority || use.plugin == VolcanoPlugin::gang;
    }
    if (says) { return false; }
  }
  return false;
}

void visit(Fields& fields, VolcanoSettings& settings) {
  fields.optional("period", settings.period, "A session begins at multiples of this where something has changed",
                  {WallTime{1'000}, WallTime{86'400'000'000}});
  fields.optional("actions", settings.actions, "What a session does, in that order",
                  {{"enqueue", VolcanoAction::enqueue},
                   {"allocate", VolcanoAction::allocate},
                   {"backfill", VolcanoAction::backfill},
                   {"preempt", VolcanoAction::preempt},
                   {"reclaim", VolcanoAction::reclaim}});
  fields.optional_value("tiers", "Lists of plugins: the first tier whose plugins say anything decides",
                        [&](FieldValue& value) { visit_tiers(value, settings.tiers); });
  fields.optional("grace_period", settings.grace_period, "So long a task that is evicted still has what it had",
                  {WallTime{}, WallTime{86'400'000'000}});
  fields.optional_list("queues", settings.queues, "Absent: those that jobs name, with the weight 1",
                       [&](Fields& f, VolcanoQueue& queue) { visit(f, queue, settings); });
  check_tiers(fields, settings);
  check_actions(fields, settings);
  check_queues(fields, settings);
}

}  // namespace athanor
