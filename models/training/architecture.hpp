#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace athanor {

/// How queries, keys and values of a layer are made.
struct Attention {
  enum class Kind : std::uint8_t { grouped, latent };
  Kind kind = Kind::grouped;      ///< grouped: every head its own keys, or some share them (kv_heads < heads)
  std::uint32_t heads = 1;        ///< of queries
  std::uint32_t kv_heads = 1;     ///< divides `heads`; latent: of no meaning
  std::uint32_t head_size = 1;    ///< of queries and keys; latent: without its rotary part
  std::uint32_t value_size = 1;   ///< of values; equal to head_size unless latent
  std::uint32_t rotary_size = 0;  ///< latent: the rotary part of queries, and of the one key that heads share
  std::uint32_t query_rank = 0;   ///< latent: of compressed queries; 0: not compressed
  std::uint32_t kv_rank = 0;      ///< latent: of compressed keys and values
  std::uint32_t window = 0;       ///< tokens that one attends to; 0: all before it
  std::uint32_t full_every = 0;   ///< of so many layers the last one has no window; 0: all have it
  bool causal = true;
  bool norms = false;  ///< of queries and keys, over a head (Qwen 3); latent attention has its own two anyway
  bool sinks = false;  ///< a trained score per head beside those of tokens (gpt-oss)
  bool operator==(const Attention&) const = default;
};

/// Experts of a layer, in place of its MLP.
struct Experts {
  std::uint32_t experts = 1;
  std::uint32_t chosen = 1;      ///< experts that each token goes to
  std::uint32_t ffn = 1;         ///< of one expert
  std::uint32_t shared_ffn = 0;  ///< of what every token goes through beside them
  std::vector<bool> layers;      ///< one for each layer: has it experts? The others have an MLP
  bool operator==(const Experts&) const = default;
};

/// A transformer, as far as it decides how much is computed, stored and sent.
struct Transformer {
  std::string name;
  std::uint32_t layers = 1;
  std::uint32_t hidden = 1;
  Attention attention;
  std::uint32_t ffn = 1;     ///< intermediate size of the MLP
  bool gated = true;         ///< MLP of three matrices (SwiGLU and its kin), else of two
  bool biases = false;       ///< of linear layers, experts and router
  bool qkv_biases = false;   ///< of queries, keys and values alone (Qwen 2)
  bool norm_biases = false;  ///< LayerNorm, else RMSNorm
  std::uint32_t norms = 2;   ///< in each layer; 4: after attention and MLP, too (Grok-1, Gemma 2)
  std::optional<Experts> experts;
  std::uint32_t vocabulary = 1;
  bool tied = false;                    ///< one matrix for embedding and output
  std::uint32_t positions = 0;          ///< learned ones; 0: rotary or none
  std::uint32_t next_token_layers = 0;  ///< further layers that predict the tokens after the next (DeepSeek-V3: 1)
  bool operator==(const Transformer&) const = default;
};

/// One layer of anything else, such as a convolution network, as its author gives it.
struct PlainLayer {
  std::string name;
  double parameters = 0;
  double forward_flops = 0;   ///< per sample
  double backward_flops = 0;  ///< per sample; 0: twice the forward ones
  double activations = 0;     ///< elements per sample that are kept for backward
  double output = 0;          ///< elements per sample that the next layer gets
  double rows = 0;            ///< of the matrix that its parameters are; 0: they are none
  bool operator==(const PlainLayer&) const = default;
};

/// What is trained: a transformer, or layers.
struct TrainedModel {
  std::string name;
  std::optional<Transformer> transformer;
  std::vector<PlainLayer> layers;  ///< where there is no transformer
  double input = 0;                ///< of such layers: bytes of a sample of the data set; 0: nobody has said
  bool operator==(const TrainedModel&) const = default;
};

/// What contradicts itself in a transformer, in the user's words; empty: nothing.
std::vector<std::string> contradictions(const Transformer& model);

/// Layers beyond the last (those that predict further tokens) are as the last.
bool has_experts(const Transformer& model, std::uint32_t layer);
/// Of layer `layer`; 0: it attends to all.
std::uint32_t window_of(const Transformer& model, std::uint32_t layer);

/// Elements of the vectors that one token's heads multiply, all heads together.
struct HeadSizes {
  double queries = 0;  ///< and of the keys that they meet
  double values = 0;
};
HeadSizes head_sizes(const Attention& attention);

/// Trained numbers of one layer, by how tensor and expert parallelism spread them. Whole numbers, as doubles.
struct LayerParameters {
  double split = 0;    ///< over tensor ranks: queries, output projection, MLP, shared expert
  double keys = 0;     ///< keys and values of grouped attention: over tensor ranks while there are kv_heads to split
  double whole = 0;    ///< on every tensor rank: norms, router, biases of outputs, projections into compressed vectors
  double experts = 0;  ///< of all of them: over expert ranks
  double total() const { return split + keys + whole + experts; }
};
LayerParameters layer_parameters(const Transformer& model, std::uint32_t layer);
/// Of them those of the MLP, or the shared expert; none without.
LayerParameters mlp_parameters(const Transformer& model, std::uint32_t layer);
/// One layer that predicts a further token: a layer, the projection of two vectors into one, and three norms. It shares
/// embedding and output with the model.
LayerParameters next_token_parameters(const Transformer& model);
/// Of tokens and learned positions.
double embedding_parameters(const Transformer& model);
/// The last norm and the matrix that makes logits, unless that is the embedding.
double output_parameters(const Transformer& model);

/// All of a model, without its next-token layers, as names of models count.
double parameters(const Transformer& model);
double parameters(const TrainedModel& model);
/// Of one token: chosen and shared experts only; embedding and output included.
double active_parameters(const Transformer& model);

}  // namespace athanor
