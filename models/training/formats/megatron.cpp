#include "models/training/formats/megatron.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "models/training/formats/megatron_words.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// "([0]*3+[1]*58)", "[0,1,1]" or "2": one entry for each layer, as megatron/core/transformer/moe does.
std::vector<bool> expert_layers(const std::string& text, std::uint32_t layers) {
  if (const auto every = whole_number_of(text); every && *every > 0) {
    std::vector<bool> has(layers);
    for (std::uint32_t layer = 0; layer < layers; ++layer) { has[layer] = layer % *every == 0; }
    return has;
  }
  const auto refuse = [&](std::string_view why) -> UsageError {
    return UsageError(
        fmt::format("--moe-layer-freq: '{}' {}; write a number or lists such as ([0]*3+[1]*58)", text, why));
  };
  std::vector<bool> has;
  for (std::size_t at = text.find('['); at != std::string::npos; at = text.find('[', at)) {
    const std::size_t end = text.find(']', at);
    if (end == std::string::npos) { throw refuse("has a list without an end"); }
    std::vector<bool> list;
    for (const char c : text.substr(at + 1, end - at - 1)) {
      if (c == '0' || c == '1') { list.push_back(c == '1'); }
      if (c != '0' && c != '1' && c != ',') { throw refuse("has entries that are neither 0 nor 1"); }
    }
    std::size_t stop = end + 1;
    std::int64_t times = 1;
    if (stop < text.size() && text[stop] == '*') {
      const std::size_t from = stop + 1;
      stop = std::min(text.find_first_not_of("0123456789", from), text.size());
      times = whole_number_of(std::string_view(text).substr(from, stop - from)).value_or(0);
    }
    if (times < 1 || times > layers) { throw refuse("has lists that are not repeated"); }
    for (; times > 0; --times) { has.insert(has.end(), list.begin(), list.end()); }
    at = stop;
  }
  if (has.size() != layers) { throw refuse(fmt::format("is not for {} layers", layers)); }
  return has;
}

void read_experts(MegatronWords& words, Transformer& model) {
  const auto count = words.number("num-experts");
  const std::uint32_t chosen = words.number_or("moe-router-topk", 2);
  const std::uint32_t ffn = words.number_or("moe-ffn-hidden-size", model.ffn);
  const std::uint32_t shared = words.number_or("moe-shared-expert-intermediate-size", 0);
  const auto which = words.word("moe-layer-freq", true);
  if (!count) { return; }
  model.experts = Experts{.experts = *count,
                          .chosen = chosen,
                          .ffn = ffn,
                          .shared_ffn = shared,
                          .layers = expert_layers(which.value_or("1"), model.layers)};
}

void read_latent(MegatronWords& words, Attention& attention) {
  attention.kind = Attention::Kind::latent;
  attention.query_rank = words.number_or("q-lora-rank", 0);
  attention.kv_rank = words.number_or("kv-lora-rank", 32);
  attention.head_size = words.number_or("qk-head-dim", 128);
  attention.rotary_size = words.number_or("qk-pos-emb-head-dim", 64);
  attention.value_size = words.number_or("v-head-dim", 128);
  words.flag("qk-layernorm");  // the norms of compressed vectors, which are always there
}

void read_grouped(MegatronWords& words, std::uint32_t hidden, Attention& attention) {
  const auto size = words.number("kv-channels");
  if (!size && hidden % attention.heads != 0) {
    throw UsageError(fmt::format("--hidden-size {} is no multiple of --num-attention-heads {}: give --kv-channels",
                                 hidden, attention.heads));
  }
  attention.head_size = size.value_or(hidden / attention.heads);
  attention.value_size = attention.head_size;
  const bool grouped = words.flag("group-query-attention");
  const std::uint32_t groups = words.number_or("num-query-groups", 1);
  attention.kv_heads = grouped ? groups : attention.heads;
  attention.norms = words.flag("qk-layernorm");
}

void read_positions(MegatronWords& words, Transformer& model) {
  const bool rotary = words.flag("use-rotary-position-embeddings");
  const std::string kind = words.word("position-embedding-type").value_or("learned_absolute");
  const auto positions = words.number("max-position-embeddings");
  if (kind != "learned_absolute" && kind != "rope" && kind != "none" && kind != "yarn" && kind != "mrope") {
    throw UsageError(fmt::format("--position-embedding-type: '{}' is not known", kind));
  }
  if (rotary || kind != "learned_absolute") { return; }
  if (!positions) { throw UsageError("--max-position-embeddings is missing: positions are learned"); }
  model.positions = *positions;
}

/// Megatron makes the vocabulary a multiple of a number and of the tensor ranks.
std::uint32_t padded_vocabulary(MegatronWords& words, std::uint32_t tensor) {
  const std::uint32_t multiple = words.number_or("make-vocab-size-divisible-by", 128) * tensor;
  const auto padded = words.number("padded-vocab-size");
  const auto size = words.number("vocab-size");
  if (!padded && !size) {
    throw UsageError("--vocab-size is missing: the tokenizer's file, which would tell, is not read");
  }
  return padded.value_or((size.value_or(0) + multiple - 1) / multiple * multiple);
}

Transformer read_transformer(MegatronWords& words, std::uint32_t tensor) {
  Transformer model;
  model.name = "Megatron-LM";
  model.layers = words.required("num-layers", "how many layers there are");
  model.hidden = words.required("hidden-size", "the size of a token's vector");
  model.gated = words.flag("swiglu");
  const std::uint32_t ffn = model.gated ? model.hidden * 8 / 3 / 64 * 64 : 4 * model.hidden;
  model.ffn = words.number_or("ffn-hidden-size", ffn);
  model.attention.heads = words.required("num-attention-heads", "how many heads of queries there are");
  if (words.flag("multi-latent-attention")) {
    read_latent(words, model.attention);
  } else {
    read_grouped(words, model.hidden, model.attention);
  }
  model.biases = !words.flag("disable-bias-linear");
  model.qkv_biases = words.flag("add-qkv-bias");
  model.norm_biases = words.word("normalization").value_or("LayerNorm") == "LayerNorm";
  model.tied = !words.flag("untie-embeddings-and-output-weights");
  model.next_token_layers = words.number_or("mtp-num-layers", 0, 0);
  model.vocabulary = padded_vocabulary(words, tensor);
  read_positions(words, model);
  read_experts(words, model);
  const std::vector<std::string> faults = contradictions(model);
  if (!faults.empty()) { throw UsageError(faults.front()); }
  return model;
}

void read_sizes(MegatronWords& words, MegatronRun& run) {
  ParallelPlan& plan = run.plan;
  plan.pipeline = words.number_or("pipeline-model-parallel-size", 1);
  plan.context = words.number_or("context-parallel-size", 1);
  plan.expert = words.number_or("expert-model-parallel-size", 1);
  plan.expert_tensor = words.number_or("expert-tensor-parallel-size", run.model.experts ? plan.tensor : 1);
  const std::uint32_t nodes = words.number_or("nnodes", 1);
  const auto per_node = words.number("nproc-per-node");
  run.ranks = per_node ? nodes * *per_node : 0;
  const std::uint32_t copy = plan.tensor * plan.context * plan.pipeline;
  if (run.ranks % copy != 0) {
    throw UsageError(fmt::format("{} ranks are no multiple of tensor x context x pipeline = {}", run.ranks, copy));
  }
  plan.data = std::max(1U, run.ranks / copy);
  if (words.flag("use-tp-pp-dp-mapping")) { plan.order = "tp-cp-ep-pp-dp"; }
}

void read_stages(MegatronWords& words, const Transformer& model, ParallelPlan& plan) {
  const auto per_chunk = words.number("num-layers-per-virtual-pipeline-stage");
  const auto chunks = words.number("num-virtual-stages-per-pipeline-rank");
  if (per_chunk && model.layers % (plan.pipeline * *per_chunk) != 0) {
    throw UsageError(
        fmt::format("{} layers do not fill {} stages with chunks of {}", model.layers, plan.pipeline, *per_chunk));
  }
  plan.virtual_stages = per_chunk ? model.layers / (plan.pipeline * *per_chunk) : chunks.value_or(1);
  if (plan.virtual_stages > 1) { plan.schedule = PipelineKind::interleaved; }
  plan.overlap_pipeline = !words.flag("no-overlap-p2p-communication");
}

void read_batches(MegatronWords& words, bool data_known, ParallelPlan& plan) {
  plan.sequence = words.required("seq-length", "how many tokens a sequence has");
  plan.micro_batch = words.required("micro-batch-size", "how many sequences go through at once");
  plan.global_batch = words.number_or("global-batch-size", plan.micro_batch * plan.data);
  if (data_known && plan.global_batch % (plan.micro_batch * plan.data) != 0) {
    throw UsageError(fmt::format("--global-batch-size {} is no multiple of {} data ranks x --micro-batch-size {}",
                                 plan.global_batch, plan.data, plan.micro_batch));
  }
}

void read_precision(MegatronWords& words, ParallelPlan& plan) {
  const bool bf16 = words.flag("bf16");
  const bool fp16 = words.flag("fp16");
  const bool fp8 = words.word("fp8-format").has_value();
  const bool fp4 = words.word("fp4-format").has_value();
  if (bf16 && fp16) { throw UsageError("--bf16 and --fp16 exclude each other"); }
  plan.precision = fp4    ? Precision::fp4
                   : fp8  ? Precision::fp8
                   : bf16 ? Precision::bf16
                   : fp16 ? Precision::fp16
                          : Precision::fp32;
  const bool wide = words.flag("accumulate-allreduce-grads-in-fp32") || bf16 || (!bf16 && !fp16);
  plan.gradient_bytes = words.flag("grad-reduce-in-bf16") || !wide ? 2 : 4;
}

/// Several follow the one name.
void read_recompute_modules(MegatronWords& words, ParallelPlan& plan) {
  const std::vector<std::string> named = words.all("recompute-modules");
  RecomputeModules modules;
  for (const std::string& each : named) {
    const std::vector<RecomputeModule>& known = all_recompute_modules();
    const auto is = [&](RecomputeModule module) { return name(module) == each; };
    const auto found = std::find_if(known.begin(), known.end(), is);
    if (found == known.end()) {
      throw UsageError(fmt::format("--recompute-modules: '{}' is none of {}", each, text_of(RecomputeModules(known))));
    }
    modules = modules.with(*found);
  }
  if (!named.empty()) { plan.recompute_modules = modules; }
}

/// Bytes of a number of the precision-aware optimizer.
std::uint32_t optimizer_bytes(MegatronWords& words, const std::string& name) {
  const std::string type = words.word(name).value_or("fp32");
  if (type == "fp32") { return 4; }
  if (type == "bf16" || type == "fp16") { return 2; }
  if (type == "fp8") { return 1; }
  throw UsageError(fmt::format("--{}: '{}' is none of fp32, fp16, bf16, fp8", name, type));
}

void read_optimizer(MegatronWords& words, ParallelPlan& plan) {
  words.flag("use-precision-aware-optimizer");
  plan.master_bytes = optimizer_bytes(words, "main-params-dtype");
  plan.moment_bytes = optimizer_bytes(words, "exp-avg-dtype");
  if (optimizer_bytes(words, "exp-avg-sq-dtype") != plan.moment_bytes) {
    throw UsageError("--exp-avg-dtype and --exp-avg-sq-dtype differ: both moments have as many bytes here");
  }
  plan.fp8_parameters = words.flag("fp8-param-gather");
  plan.offload_layers = words.number_or("cpu-offloading-num-layers", 0, 0);
}

void read_recompute(MegatronWords& words, ParallelPlan& plan) {
  const auto granularity = words.word("recompute-granularity");
  const bool activations = words.flag("recompute-activations");
  const auto method = words.word("recompute-method");
  const std::uint32_t layers = words.number_or("recompute-num-layers", 1);
  if (granularity == "full") {
    if (!method) { throw UsageError("--recompute-granularity full needs a --recompute-method: uniform or block"); }
    plan.recompute = Recompute::full;
    plan.recompute_layers = *method == "block" ? layers : 0;
  } else if (granularity == "selective" || activations) {
    plan.recompute = Recompute::selective;
    read_recompute_modules(words, plan);
  } else if (granularity) {
    throw UsageError(fmt::format("--recompute-granularity: '{}' is neither full nor selective", *granularity));
  }
}

Sharding sharding_of(MegatronWords& words) {
  const bool optimizer = words.flag("use-distributed-optimizer");
  const bool torch_fsdp = words.flag("use-torch-fsdp2");
  const bool fsdp = words.flag("use-megatron-fsdp") || words.flag("use-custom-fsdp");
  const std::string strategy = words.word("data-parallel-sharding-strategy").value_or("no_shard");
  if (torch_fsdp || strategy == "optim_grads_params") { return Sharding::parameters; }
  if (fsdp && strategy == "optim_grads") { return Sharding::gradients; }
  return optimizer || (fsdp && strategy == "optim") ? Sharding::optimizer : Sharding::none;
}

void read_overlaps(MegatronWords& words, ParallelPlan& plan) {
  plan.sequence_parallel = words.flag("sequence-parallel") && plan.tensor > 1;
  plan.overlap_tensor = words.flag("tp-comm-overlap");
  plan.overlap_gradients = words.flag("overlap-grad-reduce");
  plan.overlap_parameters = words.flag("overlap-param-gather");
  plan.sharding = sharding_of(words);
  const std::uint32_t bucket = words.number_or("ddp-bucket-size", std::max(40'000'000U, 1'000'000 * plan.data));
  plan.bucket = Bytes{std::int64_t{bucket} * plan.gradient_bytes};
}

void read_attention_kernels(MegatronWords& words, ParallelPlan& plan) {
  const bool flash = words.flag("use-flash-attn");
  const bool local = words.word("transformer-impl").value_or("transformer_engine") == "local";
  const bool unfused = words.word("attention-backend").value_or("auto") == "unfused";
  plan.fused_attention = flash || !(local || unfused);
  const double hidden = words.fraction("hidden-dropout").value_or(0.1);
  const double attention = words.fraction("attention-dropout").value_or(0.1);
  plan.dropout = hidden > 0 || attention > 0;
}

}  // namespace

MegatronRun read_megatron_arguments(std::string_view text) {
  MegatronWords words(text);
  MegatronRun run;
  run.plan.tensor = words.number_or("tensor-model-parallel-size", 1);
  run.model = read_transformer(words, run.plan.tensor);
  read_sizes(words, run);
  read_stages(words, run.model, run.plan);
  read_batches(words, run.ranks > 0, run.plan);
  read_precision(words, run.plan);
  read_recompute(words, run.plan);
  read_optimizer(words, run.plan);
  read_overlaps(words, run.plan);
  read_attention_kernels(words, run.plan);
  run.ignored = words.rest();
  return run;
}

}  // namespace athanor
