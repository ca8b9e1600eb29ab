#include "models/training/compression/coding.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr double kWide = 4;   // bytes of fp32
constexpr double kPlace = 4;  // bytes of a place in int32
constexpr double kShort = 2;  // bytes of 16 bits

/// Numbers of g bytes.
DataType type_of(double gradient_bytes) { return gradient_bytes == kWide ? DataType::float32 : DataType::bfloat16; }

CodingStages cast(const Compression& compression, double numbers, const CodingPlace& place, CollectiveKind kind) {
  const DataType type = compression.kind == CompressionKind::fp16 ? DataType::float16 : DataType::bfloat16;
  const bool scatters = kind == CollectiveKind::reduce_scatter;
  const double moved = numbers * (place.gradient_bytes + kShort);
  const char* const label = scatters ? "reduce-scatter of cast gradients" : "all-reduce of cast gradients";
  return {{"cast of gradients", moved, 1, CodedCall{label, kind, kShort * numbers, type}},
          {"cast of gradients", moved / (scatters ? place.ranks : 1), 1}};
}

/// Up to where each rank has quantised parts of all others for its own part of the sum.
CodingStage exchange_of(const Compression& compression, double numbers, const CodingPlace& place) {
  const double coded = quantized_bytes(compression, 8) * numbers;
  return {"quantise", place.gradient_bytes * numbers + coded, 1,
          CodedCall{"all-to-all of quantised gradients", CollectiveKind::all_to_all, coded}};
}

CodingStages quantized_all_reduce(const Compression& compression, double numbers, const CodingPlace& place) {
  const double coded = quantized_bytes(compression, 8) * numbers;
  return {exchange_of(compression, numbers, place),
          {"add up and quantise", coded + coded / place.ranks, 1,
           CodedCall{"all-gather of quantised sums", CollectiveKind::all_gather, coded}},
          {"dequantise", coded + place.gradient_bytes * numbers, 1}};
}

CodingStages quantized_reduce_scatter(const Compression& compression, double numbers, const CodingPlace& place) {
  const double coded = quantized_bytes(compression, 8) * numbers;
  return {exchange_of(compression, numbers, place),
          {"add up quantised gradients", coded + place.gradient_bytes * numbers / place.ranks, 1}};
}

/// The threshold is found digit by digit, 8 bits in each pass over the numbers (as torch.topk does of long rows).
CodingStages sparse(const Compression& compression, double numbers, const CodingPlace& place) {
  const double g = place.gradient_bytes;
  const double passes = g + 1;  // one for each digit, and one that writes down what is above the threshold
  const double chosen = to_double(compression.density) * numbers;
  const double message = chosen * (g + kPlace);
  // Reads gradients and what was left of the last, writes their sum; sets to 0 what is sent.
  const double fed_back = compression.error_feedback ? 3 * g * numbers + g * chosen : 0;
  return {
      {"select the largest", fed_back + passes * g * numbers + message, passes + (compression.error_feedback ? 2 : 0),
       CodedCall{"all-gather of the largest", CollectiveKind::all_gather, place.ranks * message}},
      {"add up sparse gradients", g * numbers + place.ranks * (message + 2 * g * chosen), 2}};
}

/// Columns are made orthogonal one after the other: the own is read twice and written, as are all behind it.
double gram_schmidt_bytes(double left, double rank, double g) { return 1.5 * g * left * (rank + 1); }
double gram_schmidt_kernels(double matrices, double rank) { return matrices * (6 * rank - 4); }

CodingStages low_rank(const Compression& compression, const GradientPart& part, const CodingPlace& place) {
  const double g = place.gradient_bytes;
  const auto& [matrices, compressed, left, right] = part.low_rank;
  const double vectors = std::max(0.0, part.numbers - compressed);
  const bool feeds_back = compression.error_feedback;
  CodingStages stages;
  if (vectors > 0) {
    stages.push_back({"pack vectors", 2 * g * vectors, 1,
                      CodedCall{"all-reduce of vectors", CollectiveKind::all_reduce, g * vectors, type_of(g)}});
  }
  if (compressed == 0) { return stages; }
  stages.push_back({"left factors", (feeds_back ? 3 * g * compressed : 0) + g * (compressed + right + left),
                    matrices + (feeds_back ? 1 : 0),
                    CodedCall{"all-reduce of left factors", CollectiveKind::all_reduce, g * left, type_of(g)}});
  stages.push_back({"right factors", gram_schmidt_bytes(left, compression.rank, g) + g * (compressed + left + right),
                    gram_schmidt_kernels(matrices, compression.rank) + matrices,
                    CodedCall{"all-reduce of right factors", CollectiveKind::all_reduce, g * right, type_of(g)}});
  stages.push_back({"product of factors", g * (left + right + compressed) + (feeds_back ? 3 * g * compressed : 0),
                    matrices + (feeds_back ? 1 : 0)});
  return stages;
}

/// The norm that a scale is made of, the signs, and what they leave: of a moment with its error, and once more of a
/// rank's part of the sum.
CodingStages signs(double numbers, const CodingPlace& place) {
  const double coded = numbers / 8 + kWide * place.ranks;
  const double own = numbers / place.ranks;
  const auto compress = [](double of) { return kWide * of * 5; };  // adds up, norm, signs and the new error
  return {{"signs of moments", compress(numbers) + numbers / 8, 4,
           CodedCall{"all-to-all of signs", CollectiveKind::all_to_all, coded}},
          {"add up signs", coded + compress(own) + own / 8, 5,
           CodedCall{"all-gather of signs", CollectiveKind::all_gather, coded}},
          {"moments of signs", coded + kWide * numbers, 1}};
}

/// qgZ. Whoever has all copies of its node needs no second exchange.
CodingStages two_hops(const Compression& compression, double numbers, const CodingPlace& place) {
  const double of_each = quantized_bytes(compression, 4);
  const double coded = of_each * numbers;
  const double node = std::min(place.node_ranks, place.ranks);
  const double left = coded / node;
  const bool over_nodes = place.ranks > node;
  CodingStages stages;
  stages.push_back({"quantise", place.gradient_bytes * numbers + coded, 1});
  if (node > 1) {
    stages.back().call =
        CodedCall{"all-to-all within nodes", CollectiveKind::all_to_all, coded, DataType::int8, CodedGroup::node};
    if (over_nodes) { stages.push_back({"add up and quantise", coded + left, 1}); }
  }
  if (over_nodes) {
    stages.back().call =
        CodedCall{"all-to-all between nodes", CollectiveKind::all_to_all, left, DataType::int8, CodedGroup::nodes};
  }
  stages.push_back(
      {"add up quantised gradients", (over_nodes ? left : coded) + place.gradient_bytes * numbers / place.ranks, 1});
  return stages;
}

}  // namespace

GradientPart& GradientPart::operator+=(const GradientPart& other) {
  numbers += other.numbers;
  low_rank += other.low_rank;
  return *this;
}

GradientPart times(GradientPart part, double share) { return {part.numbers * share, times(part.low_rank, share)}; }

CodingStages coded_all_reduce(const Compression& compression, const GradientPart& part, const CodingPlace& place) {
  switch (compression.kind) {
    case CompressionKind::fp16:
    case CompressionKind::bf16: return cast(compression, part.numbers, place, CollectiveKind::all_reduce);
    case CompressionKind::fp8:
    case CompressionKind::int8: return quantized_all_reduce(compression, part.numbers, place);
    case CompressionKind::top_k: return sparse(compression, part.numbers, place);
    case CompressionKind::power_sgd: return low_rank(compression, part, place);
    case CompressionKind::one_bit_adam: return signs(part.numbers, place);
    case CompressionKind::none:
    case CompressionKind::zero_plus_plus: break;
  }
  require(false, "{} sums up no whole gradients", name(compression.kind));
  return {};
}

CodingStages coded_reduce_scatter(const Compression& compression, const GradientPart& part, const CodingPlace& place) {
  switch (compression.kind) {
    case CompressionKind::fp16:
    case CompressionKind::bf16: return cast(compression, part.numbers, place, CollectiveKind::reduce_scatter);
    case CompressionKind::fp8:
    case CompressionKind::int8: return quantized_reduce_scatter(compression, part.numbers, place);
    case CompressionKind::zero_plus_plus: return two_hops(compression, part.numbers, place);
    case CompressionKind::none:
    case CompressionKind::top_k:
    case CompressionKind::power_sgd:
    case CompressionKind::one_bit_adam: break;
  }
  require(false, "{} scatters no gradients", name(compression.kind));
  return {};
}

CodingStages coded_gather(const Compression& compression, double bytes, double bytes_of_each,
                          const CodingPlace& place) {
  const double coded = quantized_bytes(compression, 8) * bytes / bytes_of_each;
  return {{"quantise parameters", (bytes + coded) / place.ranks, 1,
           CodedCall{"all-gather of quantised parameters", CollectiveKind::all_gather, coded}},
          {"dequantise parameters", coded + bytes, 1}};
}

double sent_bytes(const CodedCall& call, const CodingPlace& place) {
  const double node = std::min(place.node_ranks, place.ranks);
  const double ranks = call.group == CodedGroup::all    ? place.ranks
                       : call.group == CodedGroup::node ? node
                                                        : place.ranks / node;
  return (call.kind == CollectiveKind::all_reduce ? 2 : 1) * call.bytes * (ranks - 1) / ranks;
}

double sent_bytes(const CodingStages& stages, const CodingPlace& place) {
  double sum = 0;
  for (const CodingStage& stage : stages) { sum += stage.call ? sent_bytes(*stage.call, place) : 0; }
  return sum;
}

}  // namespace athanor
