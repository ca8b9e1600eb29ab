#include "models/experiments/scenario/resolve_serving.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/costs_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "models/experiments/serving.hpp"
#include "models/serving/kv_shares.hpp"
#include "models/serving/request_trace.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr double kGigabyte = 1e-9;

class ServingResolution {
 public:
  ServingResolution(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster,
                    const ServingConfig& config)
      : context_(context), described_(described), cluster_(cluster), config_(config) {}

  std::shared_ptr<const Serving> resolve() {
    auto serving = std::make_shared<Serving>();
    serving->rules = config_.rules;
    serving->limits = config_.limits;
    serving->drawn = config_.drawn;
    serving->max_error = config_.max_error;
    for (const auto& [column, value] : config_.measured) {
      if (value) { serving->measured.emplace(column, *value); }
    }
    serving->parts.overhead = config_.overhead;
    serving->parts.streamed = to_double(config_.stream_share);
    const bool fits = fit_model(*serving) && fit_replicas(*serving) && find_gpu(*serving) && find_compute(*serving) &&
                      fit_memory(*serving) && find_requests(*serving);
    if (!fits) { return nullptr; }
    TrainingSetup machine;
    machine.gpu = serving->parts.gpu;
    serving->costs = completed(config_.costs, machine);
    note(*serving);
    return serving;
  }

 private:
  bool problem(std::string_view key, const char* code, std::string message, std::string hint) {
    const auto place = config_.places.find(key);
    context_.problems.add(
        {code, std::move(message), place == config_.places.end() ? config_.place : place->second, std::move(hint)});
    return false;
  }

  bool fit_model(Serving& serving) {
    const TrainedModel& model = config_.model.model;
    if (!model.transformer) {
      return problem("model", "no-transformer",
                     fmt::format("{} is a list of layers, and generates no tokens", model.name), "serve a transformer");
    }
    ServedModel& served = serving.parts.served;
    served.model = *model.transformer;
    served.model.name = model.name;
    served.tensor = config_.pools ? config_.pools->decode.tensor : config_.tensor;
    served.precision = config_.precision;
    const bool narrow = config_.precision == Precision::fp8;
    served.kv_precision = config_.kv_precision.value_or(narrow ? Precision::bf16 : config_.precision);
    serving.prefill_tensor = config_.pools ? config_.pools->prefill.tensor : 1;
    std::vector<std::string> reasons = obstacles(served);
    if (config_.pools && reasons.empty()) { reasons = obstacles(serving.prefilled()); }
    for (const std::string& reason : reasons) {
      problem("model", "cannot-serve", fmt::format("{} cannot be served so: {}", model.name, reason),
              "choose another model or another \"tensor\"");
    }
    return reasons.empty() && (!config_.pools || fit_pieces(served.model));
  }

  bool fit_pieces(const Transformer& model) {
    if (config_.pools->transfer.pieces <= model.layers) { return true; }
    context_.problems.add(
        {"out-of-range",
         fmt::format("{} pieces of layers, and {} has {}", config_.pools->transfer.pieces, model.name, model.layers),
         config_.pools->place_of_pieces, fmt::format("write at most {}", model.layers)});
    return false;
  }

  bool fit_replicas(Serving& serving) {
    if (config_.pools) { return fit_pools(serving); }
    const std::uint64_t endpoints = cluster_.endpoints.size();
    if (!fits(config_.tensor, nullptr)) { return false; }
    if (!config_.replicas && endpoints % config_.tensor != 0) {
      return problem("tensor", "degrees-do-not-divide",
                     fmt::format("replicas of {} GPUs do not divide the {} endpoints of {}", config_.tensor, endpoints,
                                 cluster_.description),
                     "change \"tensor\", or say how many \"replicas\" there are");
    }
    const std::uint64_t replicas = config_.replicas.value_or(static_cast<std::uint32_t>(endpoints / config_.tensor));
    if (replicas * config_.tensor > endpoints) {
      return problem("replicas", "too-many-ranks",
                     fmt::format("{} replicas of {} GPUs are {}, but the cluster has {} endpoints", replicas,
                                 config_.tensor, replicas * config_.tensor, endpoints),
                     fmt::format("write \"replicas\": {}, or use a larger cluster", endpoints / config_.tensor));
    }
    serving.rules.replicas = static_cast<std::uint32_t>(replicas);
    return true;
  }

  /// `place`: null: of the serving's own.
  bool fits(std::uint32_t tensor, const SourceLocation* place) {
    const std::size_t endpoints = cluster_.endpoints.size();
    if (tensor <= endpoints) { return true; }
    context_.problems.add({"too-many-ranks",
                           fmt::format("a replica has {} GPUs, but the cluster has {} endpoints", tensor, endpoints),
                           place == nullptr ? config_.places.find("tensor")->second : *place,
                           fmt::format("make \"tensor\" at most {}, or use a larger cluster", endpoints)});
    return false;
  }

  bool fit_pools(Serving& serving) {
    const PoolsConfig& pools = *config_.pools;
    const std::uint64_t endpoints = cluster_.endpoints.size();
    if (!fits(pools.prefill.tensor, &pools.prefill.place) || !fits(pools.decode.tensor, &pools.decode.place)) {
      return false;
    }
    if (!pools.search) {
      const std::uint64_t gpus = std::uint64_t{*pools.prefill.replicas} * pools.prefill.tensor +
                                 std::uint64_t{*pools.decode.replicas} * pools.decode.tensor;
      if (gpus > endpoints) {
        return problem("pools", "too-many-ranks",
                       fmt::format("the pools have {} GPUs, but the cluster has {} endpoints", gpus, endpoints),
                       "make \"replicas\" or \"tensor\" smaller, or use a larger cluster");
      }
      serving.divisions = {{*pools.prefill.replicas, *pools.decode.replicas}};
    } else {
      for (std::uint64_t gpus = pools.prefill.tensor; gpus + pools.decode.tensor <= endpoints;
           gpus += pools.prefill.tensor) {
        serving.divisions.push_back({static_cast<std::uint32_t>(gpus / pools.prefill.tensor),
                                     static_cast<std::uint32_t>((endpoints - gpus) / pools.decode.tensor)});
      }
    }
    if (serving.divisions.empty()) {
      return problem("pools", "too-many-ranks",
                     fmt::format("a replica of each pool has {} GPUs, but the cluster has {} endpoints",
                                 pools.prefill.tensor + pools.decode.tensor, endpoints),
                     "make \"tensor\" smaller, or use a larger cluster");
    }
    return fit_connections(serving);
  }

  /// Of every replica that prefills with every one that decodes.
  bool fit_connections(Serving& serving) {
    constexpr std::uint64_t kMost = 4'000'000;  // 300 bytes each
    const std::uint64_t shares = kv_shares(serving.prefilled(), serving.parts.served.tensor).size();
    for (const PoolDivision& each : serving.divisions) {
      const std::uint64_t all = shares * each.prefill * each.decode;
      if (all <= kMost) { continue; }
      return problem("pools", "too-many-connections",
                     fmt::format("{} replicas that prefill have {} connections with {} that decode, and {} are "
                                 "simulated at most",
                                 each.prefill, all, each.decode, kMost),
                     "simulate a part of the cluster, with a part of the requests");
    }
    serving.rules.replicas = serving.divisions.front().decode;
    PrefillPool& prefill = serving.rules.prefill.emplace();
    prefill.replicas = serving.divisions.front().prefill;
    prefill.engine = config_.pools->prefill.batching.value_or(config_.rules.engine);
    prefill.transfer = config_.pools->transfer;
    serving.rules.engine = config_.pools->decode.batching.value_or(config_.rules.engine);
    return true;
  }

  bool find_gpu(Serving& serving) {
    ClusterGpus gpus{{config_.gpu}, {}};
    if (!config_.gpu) { gpus = gpus_of(described_, cluster_, context_.library); }
    if (gpus.gpus.empty() || !gpus.gpus.front()) {
      return problem("", "no-gpu", "nothing says which GPUs these are", R"(name a preset: "gpu": "H100-SXM-80GB")");
    }
    if (gpus.gpus.size() > 1) {
      return problem("", "unequal-gpus", "the cluster has GPUs of several kinds, and replicas are alike",
                     R"(serve on nodes of one kind, or name what counts: "gpu": "H100-SXM-80GB")");
    }
    try {
      serving.parts.gpu = find_gpu_rates(*gpus.gpus.front(), context_.library);
      peak_of(serving.parts.gpu, config_.precision);
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    } catch (const SimulationError& error) {
      return problem("precision", error.code().c_str(), error.what(), "choose another precision");
    }
    return true;
  }

  bool find_compute(Serving& serving) {
    if (config_.compute) {
      serving.parts.compute = *config_.compute;
      return true;
    }
    const auto pool = context_.pools.steps(context_.library);
    if (!pool) {
      return problem("", "no-compute-profile", "the library has no pool that tells how fast GPUs compute",
                     "name a profile: \"compute\" (see athanor list compute)");
    }
    serving.parts.compute =
        pooled_compute(*pool, compute_parts(serving.parts.gpu, config_.precision, config_.model.model));
    return true;
  }

  /// Whether the compute profile was fitted on other GPUs, or in other precisions.
  bool is_extrapolated(const Serving& serving) const {
    const GpuRates& gpu = serving.parts.gpu;
    const ComputeProfile& compute = serving.parts.compute;
    if (!gpu.as_preset) { return true; }
    if (!compute.pooled) { return !compute.covers(gpu.preset, config_.precision); }
    const auto pool = context_.pools.steps(context_.library);
    return !pool || !pool->knows(compute_parts(gpu, config_.precision, config_.model.model));
  }

  /// The least number of GPUs, doubled from what was asked for, on which weights leave room for a page.
  std::string advice(const Serving& serving, ServedModel served, const EngineRules& rules) const {
    for (served.tensor *= 2; served.tensor <= cluster_.endpoints.size(); served.tensor *= 2) {
      if (!obstacles(served).empty()) { break; }
      if (pages(serving, served, rules) > 0) { return fmt::format("it fits with \"tensor\": {}", served.tensor); }
    }
    return "share it among more GPUs (\"tensor\"), or keep it in a narrower precision";
  }

  std::uint64_t pages(const Serving& serving, const ServedModel& served, const EngineRules& rules) const {
    return pages_that_fit(served, serving.parts.gpu, to_double(config_.memory_share), rules.page);
  }

  bool fit_memory(Serving& serving) {
    if (!fit_memory(serving, serving.parts.served, serving.rules.engine,
                    config_.pools ? &config_.pools->decode.place : nullptr)) {
      return false;
    }
    return !serving.rules.prefill ||
           fit_memory(serving, serving.prefilled(), serving.rules.prefill->engine, &config_.pools->prefill.place);
  }

  bool fit_memory(const Serving& serving, const ServedModel& served, EngineRules& rules, const SourceLocation* place) {
    rules.pages = pages(serving, served, rules);
    if (rules.pages > 0) { return true; }
    const GpuRates& gpu = serving.parts.gpu;
    const double share = to_double(config_.memory_share);
    context_.problems.add(
        {"out-of-memory",
         fmt::format("{} needs {:.1f} GB for weights on each of {} GPUs, and {:.1f} GB are {:g} of the memory "
                     "of {}: nothing is left for a page of the KV cache",
                     served.model.name, weight_bytes(served) * kGigabyte, served.tensor, gpu.memory * share * kGigabyte,
                     share, gpu.name),
         place == nullptr ? config_.places.find("tensor")->second : *place, advice(serving, served, rules)});
    return false;
  }

  bool find_requests(Serving& serving) {
    return read_requests(serving) &&
           (!config_.limits.tpot || !all_of_one_token(serving) ||
            problem("limits", "no-effect", "every request has one token, and \"tpot\" is of those behind the first",
                    "leave out \"tpot\""));
  }

  static bool all_of_one_token(const Serving& serving) {
    if (!serving.recorded) { return most_tokens(serving.drawn.output) == 1; }
    return std::all_of(serving.recorded->begin(), serving.recorded->end(),
                       [](const ServedRequest& each) { return each.output == 1; });
  }

  bool read_requests(Serving& serving) {
    if (config_.trace.empty()) {
      serving.requests = config_.drawn.count > 0 ? fmt::format("{} requests", config_.drawn.count)
                                                 : fmt::format("requests for {:g} s", seconds(config_.drawn.duration));
      serving.requests +=
          config_.drawn.between ? fmt::format(", {:g} a second", 1 / seconds(*config_.drawn.between)) : " at once";
      const auto obstacle = obstacle_of(shortest(config_.drawn), serving.rules);
      return !obstacle || problem("requests", "request-too-long", "the shortest request, " + obstacle->message,
                                  obstacle->hint + ", or ask for fewer tokens");
    }
    try {
      context_.files.note(config_.trace);
      serving.recorded = std::make_shared<const ServedRequests>(read_request_trace(context_.files.path(config_.trace)));
    } catch (const FileError& error) {
      return problem("file", "no-trace", error.what(), "a path is relative to the scenario's file");
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    }
    serving.requests = fmt::format("{} requests of {}", serving.recorded->size(), config_.trace);
    const auto obstacle = first_obstacle(*serving.recorded, serving.rules);
    return !obstacle || problem("file", "request-too-long", obstacle->message, obstacle->hint);
  }

  static std::string memory_text(const ServedModel& served, const EngineRules& rules) {
    return fmt::format(
        "{:.1f} GB of weights in {} on each GPU, and {:.1f} GB of keys and values in {}: {} pages of {} "
        "tokens",
        weight_bytes(served) * kGigabyte, name(served.precision),
        static_cast<double>(rules.pages) * rules.page * kept_bytes(served) * kGigabyte, name(served.kv_precision),
        rules.pages, rules.page);
  }

  void note(Serving& serving) const {
    const ServedModel& served = serving.parts.served;
    std::vector<std::string>& notes = serving.notes;
    std::string memory = memory_text(served, serving.rules.engine);
    if (serving.rules.prefill) {
      memory = fmt::format("where it decodes {}; where it prefills {}", memory,
                           memory_text(serving.prefilled(), serving.rules.prefill->engine));
    }
    notes.push_back(fmt::format("memory: {}; activations and the CUDA context are not counted", memory));
    notes.push_back(
        fmt::format("each iteration takes {:g} us on the host while GPUs wait", microseconds(serving.parts.overhead)));
    notes.push_back(fmt::format(
        "kernels take what the compute profile {} says, which is of training: with few tokens it is extrapolated",
        serving.parts.compute.name));
    if (is_extrapolated(serving)) {
      notes.push_back(fmt::format("extrapolated: the compute profile {} was not fitted on {} of {}",
                                  serving.parts.compute.name, name(config_.precision), serving.parts.gpu.name));
    }
    if (served.model.experts) { notes.emplace_back("tokens are taken to choose any expert of a layer alike"); }
    if (served.model.next_token_layers > 0) { notes.emplace_back("layers that predict further tokens are left out"); }
    note_replicas(serving, notes);
    for (const std::string& each : config_.model.ignored) { notes.push_back("ignored: " + each); }
  }

  void note_replicas(const Serving& serving, std::vector<std::string>& notes) const {
    const bool shared = serving.parts.served.tensor > 1 || serving.prefill_tensor > 1;
    if (shared && serving.gpus() > serving.parts.served.tensor) {
      notes.emplace_back("collectives are priced as if all replicas called them at the same time");
    }
    if (config_.pools) {
      notes.emplace_back("keys and values share links with each other, not with collectives");
      return;
    }
    if (serving.rules.replicas == 1 && serving.rules.balance != Balance::round_robin) {
      notes.emplace_back("\"balance\" has no effect here: there is one replica");
    }
  }

  ReadingContext& context_;
  const ClusterConfig& described_;
  const Cluster& cluster_;
  const ServingConfig& config_;
};

}  // namespace

std::shared_ptr<const Serving> resolve_serving(ReadingContext& context, const ClusterConfig& described,
                                               const Cluster& cluster, const ServingConfig& config) {
  return ServingResolution(context, described, cluster, config).resolve();
}

}  // namespace athanor
