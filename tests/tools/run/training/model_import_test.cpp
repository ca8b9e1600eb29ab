#include <doctest/doctest.h>

#include "models/training/formats/huggingface.hpp"
#include "models/training/formats/megatron.hpp"
#include "sim/error.hpp"
#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

Transformer config(const std::string& text) {
  const Folder folder;
  return read_huggingface_config(FileReader(), folder.write("config.json", text)).transformer.value();
}

/// What is wrong with a configuration; "" for nothing.
std::string mistakes(const std::string& text) {
  try {
    config(text);
  } catch (const ScenarioError& error) { return error.what(); }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What Megatron-LM's arguments are refused for.
std::string refusal(const std::string& text) {
  try {
    read_megatron_arguments(text);
  } catch (const UsageError& error) { return error.what(); }
  return "";
}

const std::string kLlama = R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
  "rope_scaling": {"factor": 8.0}, "torch_dtype": "bfloat16", "mlp_bias": false, "head_dim": null)";

constexpr const char* kDeepSeek = R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
  "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432, "vocab_size": 129280,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
  "first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1})";

constexpr const char* kMegatron =
    "torchrun --nproc_per_node 8 --nnodes 16 pretrain_gpt.py --num-layers 96 --hidden-size 12288 \\\n"
    "  --num-attention-heads 96 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 50257 # GPT-2's\n"
    "  --micro-batch-size=1 --global-batch-size 1536 --tensor-model-parallel-size 8 "
    "--pipeline-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 4 --sequence-parallel "
    "--use-distributed-optimizer --overlap-grad-reduce --recompute-activations --bf16 --lr 6.0e-5 "
    "--data-path a b c --use-flash-attn --hidden-dropout 0 --attention-dropout 0";

}  // namespace

TEST_CASE("configurations of Hugging Face give the models of their names") {
  CHECK(parameters(config(kLlama + "}")) == 8'030'261'248);
  CHECK(parameters(config(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": null,
    "n_positions": 1024, "n_ctx": 1024, "vocab_size": 50257})")) == 124'439'808);
  CHECK(parameters(config(R"({"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "head_dim": 128,
    "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 6144, "moe_intermediate_size": 768,
    "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936, "use_sliding_window": false,
    "sliding_window": null, "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": false})")) ==
        30'532'122'624);
  CHECK(parameters(config(R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
    "num_local_experts": 8, "num_experts_per_tok": 2})")) == 46'702'792'704);
  CHECK(parameters(config(R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064})")) ==
        7'615'616'512);
  CHECK(parameters(config(R"({"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28, "head_dim": 256,
    "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 24576, "vocab_size": 256000})")) ==
        8'537'680'896);
  CHECK(parameters(config(R"({"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42, "head_dim": 256,
    "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 256000,
    "sliding_window": 4096})")) == 9'241'705'984);
}

TEST_CASE("DeepSeek-V3's configuration gives latent attention, experts from the fourth layer on and a further token") {
  const Transformer model = config(kDeepSeek);
  CHECK(model.attention.kind == Attention::Kind::latent);
  CHECK(parameters(model) == 671'026'404'352);
  CHECK_FALSE(has_experts(model, 2));
  CHECK(has_experts(model, 3));
  CHECK(model.next_token_layers == 1);
}

TEST_CASE("of a multimodal configuration the text part is read, and alternating layers become a period") {
  const Transformer model = config(R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
    "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 6, "head_dim": 256,
    "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 10240, "vocab_size": 262208,
    "sliding_window": 1024, "layer_types": ["sliding_attention", "sliding_attention", "full_attention",
    "sliding_attention", "sliding_attention", "full_attention"]}})");
  CHECK(model.attention.window == 1024);
  CHECK(model.attention.full_every == 3);
  CHECK(model.tied);
  std::string layers = "\"full_attention\"";
  for (int layer = 1; layer < 32; ++layer) { layers += ", \"full_attention\""; }
  const std::string full = kLlama + R"(, "sliding_window": 64, "layer_types": [)" + layers + "]}";
  CHECK(config(full).attention.window == 0);
}

TEST_CASE("configurations that are incomplete or contradict themselves are refused at their place") {
  CHECK(holds(mistakes(R"({"hidden_size": 64})"), "there is no \"model_type\""));
  CHECK(holds(mistakes(R"({"model_type": "mamba", "hidden_size": 64})"), "models of type 'mamba' are not read"));
  CHECK(holds(mistakes(R"({"model_type": "mamba"})"), "/model_type"));
  CHECK(holds(mistakes(R"({"model_type": "llama", "hidden_size": 64})"), "no num_hidden_layers or n_layer"));
  CHECK(holds(mistakes(kLlama + R"(, "num_experts": 8})"), "no num_experts_per_tok"));
  CHECK(holds(mistakes(kLlama + R"(, "n_embd": 8})"), "contradicts"));
  std::string text = kLlama + "}";
  CHECK(holds(mistakes(text.replace(text.find("\"num_key_value_heads\": 8"), 24, "\"num_key_value_heads\": 5")),
              "cannot share"));
  CHECK(holds(mistakes(kLlama + R"(, "sliding_window": 64, "layer_types": ["sliding_attention",
    "full_attention", "full_attention"]})"),
              "layer_types"));
  text = kDeepSeek;
  CHECK(holds(mistakes(text.replace(text.find("\"kv_lora_rank\": 512,"), 20, "")), "no kv_lora_rank"));
}

TEST_CASE("Megatron-LM's arguments give the model and its plan") {
  const MegatronRun run = read_megatron_arguments(kMegatron);
  CHECK(run.model.vocabulary == 51200);  // 50257, padded to a multiple of 128 x 8
  CHECK(parameters(run.model) == 96 * (12 * 12288.0 * 12288 + 13 * 12288) + (51200 + 2048) * 12288.0 + 2 * 12288);
  CHECK(run.ranks == 128);
  CHECK(run.plan.data == 2);
  CHECK(run.plan.virtual_stages == 3);
  CHECK(run.plan.schedule == PipelineKind::interleaved);
  CHECK(run.plan.micro_batches() == 768);
  CHECK(run.plan.sequence_parallel);
  CHECK(run.plan.sharding == Sharding::optimizer);
  CHECK(run.plan.recompute == Recompute::selective);
  CHECK(run.plan.precision == Precision::bf16);
  CHECK(run.plan.gradient_bytes == 4);
  CHECK(run.plan.overlap_gradients);
  CHECK(run.plan.fused_attention);
  CHECK_FALSE(run.plan.dropout);
  CHECK(run.ignored == std::vector<std::string>{"--lr 6.0e-5", "--data-path a b c"});
}

TEST_CASE("Megatron-LM's arguments of experts and latent attention are understood") {
  const MegatronRun run = read_megatron_arguments(
      "--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --multi-latent-attention "
      "--q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 --swiglu "
      "--num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 "
      "--moe-layer-freq ([0]*3+[1]*58) --mtp-num-layers 1 --disable-bias-linear --normalization RMSNorm "
      "--untie-embeddings-and-output-weights --position-embedding-type rope --vocab-size 129280 --seq-length 4096 "
      "--micro-batch-size 1 --expert-model-parallel-size 64 --fp8-format hybrid --bf16 --use-tp-pp-dp-mapping "
      "--recompute-granularity selective --recompute-modules mla_up_proj moe_act --fp8-param-gather "
      "--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16");
  CHECK(parameters(run.model) == 671'026'404'352);
  CHECK(run.plan.expert == 64);
  CHECK(run.plan.precision == Precision::fp8);
  CHECK(run.plan.order == "tp-cp-ep-pp-dp");
  CHECK(run.plan.recompute_modules == RecomputeModules({RecomputeModule::mla_up_proj, RecomputeModule::moe_act}));
  CHECK(run.plan.fp8_parameters);
  CHECK(run.plan.master_bytes == 4);
  CHECK(run.plan.moment_bytes == 2);
  CHECK(run.ranks == 0);
  CHECK(run.ignored.empty());
}

TEST_CASE("Megatron-LM's arguments that are missing, no numbers or inconsistent are refused") {
  const std::string all = kMegatron;
  const auto with = [&](const std::string& more) { return refusal(all + " " + more); };
  CHECK(refusal(all).empty());
  CHECK(holds(refusal("--num-layers 2"), "--hidden-size is missing"));
  CHECK(holds(with("--num-layers many"), "'many' is no whole number"));
  CHECK(holds(with("--num-layers 0"), "at least 1"));
  CHECK(holds(with("--bf16 1"), "takes no value"));
  CHECK(holds(with("--num-layers"), "takes one value, but 0 follow"));
  CHECK(holds(with("--num-layers 3 4"), "takes one value, but 2 follow"));
  CHECK(holds(with("--fp16"), "exclude each other"));
  CHECK(holds(with("--num-attention-heads 7"), "give --kv-channels"));
  CHECK(holds(with("--global-batch-size 7"), "no multiple of 2 data ranks"));
  CHECK(holds(with("--nnodes 3"), "24 ranks are no multiple"));
  CHECK(holds(with("--num-layers 97"), "do not fill 8 stages"));
  CHECK(holds(with("--recompute-granularity full"), "--recompute-method"));
  CHECK(holds(with("--recompute-modules norms"), "'norms' is none of core_attn+layernorm+"));
  CHECK(holds(with("--exp-avg-dtype int8"), "'int8' is none of fp32"));
  CHECK(holds(with("--exp-avg-dtype bf16"), "differ"));
  CHECK(holds(with("--num-experts 8 --moe-layer-freq ([0]*3+[1]*58)"), "is not for 96 layers"));
  CHECK(holds(with("--num-experts 8 --moe-layer-freq [0]*x"), "not repeated"));
  CHECK(holds(with("--group-query-attention --num-query-groups 5"), "cannot share"));
}
