#include "tests/fuzz/random_workload.hpp"

namespace athanor::fuzz {

std::string RandomWorkload::collective_kind() {
  return draws_.one_of({"all_reduce", "all_reduce", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce",
                        "all_to_all", "gather", "scatter"});
}

Json RandomWorkload::sizes() {
  std::uint64_t bytes = 64U << draws_.below(10);
  Json list = Json::array();
  for (unsigned i = 0; i < 3; ++i, bytes <<= draws_.between(1, 4)) { list.push_back(fmt::format("{}B", bytes)); }
  return list;
}

Json RandomWorkload::collective() {
  const std::string kind = collective_kind();
  Json json{{"kind", kind}, {"sizes", sizes()}, {"algorithm", "best"}};
  if (draws_.one_in(2)) { json["algorithm"] = algorithm(kind); }
  if (json["algorithm"] == "ring" && draws_.one_in(3)) { json["chunk"] = fmt::format("{}B", 4096U << draws_.below(4)); }
  if (draws_.one_in(6)) { json["channels"] = draws_.between(1, 2); }
  if (draws_.one_in(6)) { json["in_place"] = true; }
  return json;
}

std::string RandomWorkload::algorithm(const std::string& kind) {
  if (kind == "all_reduce") {
    return draws_.one_of({"ring", "double_binary_tree", "recursive_doubling", "halving_doubling", "rabenseifner",
                          "swing", "binomial_tree", "direct_two_shot", "bidirectional_ring",
                          "parameter_server_sharded"});
  }
  if (kind == "all_to_all") { return draws_.one_of({"pairwise", "direct", "bruck"}); }
  if (kind == "all_gather") { return draws_.one_of({"ring", "bruck", "direct", "pat"}); }
  if (kind == "reduce_scatter") { return draws_.one_of({"ring", "bruck", "direct", "pat"}); }
  if (kind == "broadcast") {
    return draws_.one_of({"binomial_tree", "ring", "scatter_all_gather", "double_binary_tree"});
  }
  if (kind == "reduce") { return draws_.one_of({"binomial_tree", "ring", "reduce_scatter_gather"}); }
  return draws_.one_of({"binomial_tree", "linear"});
}

Json RandomWorkload::jobs() {
  Json json = collective();
  json["jobs"] = draws_.between(2, 3);
  json["placement"] = draws_.one_of({"blocks", "interleaved"});
  return json;
}

Json RandomWorkload::traffic() {
  Json json{{"pattern", draws_.one_of({"incast", "permutation", "shift"})}, {"sizes", draws_.size()}};
  if (json["pattern"] == "shift") { json["by"] = 1; }
  return json;
}

Json RandomWorkload::parameter_server() {
  return {{"parameters", draws_.size()},
          {"servers", draws_.between(1, 2)},
          {"compute", draws_.time_text(2 * draws_.between(1, 50) * 1000)},
          {"warm_up", 1},
          {"steps", 2}};
}

Json RandomWorkload::nccl_collective() {
  const std::string kind =
      draws_.one_of({"all_reduce", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"});
  Json json{{"kind", kind}, {"sizes", sizes()}};
  if (draws_.one_in(4)) { json["algorithm"] = "ring"; }
  if (draws_.one_in(6)) { json["in_place"] = true; }
  return json;
}

Json RandomWorkload::nccl() {
  Json environment = Json::object();
  if (draws_.one_in(2)) { environment["NCCL_ALGO"] = "Ring"; }
  if (draws_.one_in(2)) { environment["NCCL_PROTO"] = draws_.one_of({"Simple", "LL", "LL128"}); }
  if (draws_.one_in(3)) { environment["NCCL_MAX_NCHANNELS"] = fmt::format("{}", draws_.between(1, 16)); }
  if (draws_.one_in(4)) { environment["NCCL_PXN_DISABLE"] = "1"; }
  if (draws_.one_in(4)) { environment["NCCL_CROSS_NIC"] = draws_.one_of({"0", "1", "2"}); }
  return {{"environment", std::move(environment)}};
}

Json RandomWorkload::software() {
  Json software = Json::object();
  if (draws_.one_in(2)) {  // the last three are newer, older and more than anybody has heard of
    software["nccl"] = draws_.one_of({"2.18", "2.21.5", "2.27", "2.30.3", "2.99", "1.3", "99.7.1"});
  }
  if (draws_.one_in(2)) {
    software["transport"] =
        draws_.one_in(8) ? kUnknown : draws_.one_of({"ib", "roce", "efa", "efa-host", "cxi", "gib", "tcpx", "tcpxo"});
  }
  if (draws_.one_in(3)) { software["launch"] = draws_.one_of({"process_per_gpu", "process_per_node"}); }
  if (draws_.one_in(12)) { software["pool"] = kUnknown; }
  return software;
}

std::string RandomWorkload::framework() {
  if (draws_.one_in(8)) { return kUnknown; }
  return draws_.one_of({"megatron-core", "megatron-lm-2023", "megatron-lm-2021", "nemo-24.09", "nemo-25.02",
                        "nemo-25.04", "megatron-bridge", "pytorch-ddp", "pytorch-compiled", "fsdp1", "fsdp2",
                        "torchtitan", "deepspeed-zero-1", "deepspeed-zero-2", "deepspeed-zero-3", "maxtext",
                        "nanotron"});
}

/// Parts whose product divides the number of GPUs; the rest of them hold copies.
Json RandomWorkload::plan(unsigned gpus) {
  Json plan = Json::object();
  unsigned left = gpus;
  for (const char* part : {"tensor", "pipeline"}) {
    if (left % 2 != 0 || draws_.one_in(2)) { continue; }
    plan[part] = 2;
    left /= 2;
  }
  if (plan.contains("tensor") && draws_.one_in(2)) { plan["sequence_parallel"] = true; }
  if (plan.contains("pipeline")) {
    plan["schedule"] = draws_.one_of({"gpipe", "1f1b", "zb_h1", "interleaved"});
    if (plan["schedule"] == "interleaved") { plan["virtual_stages"] = 2; }
  }
  const bool defaults = draws_.one_in(2);
  if (defaults) { plan["framework"] = framework(); }
  if (left > 1 && (!defaults || draws_.one_in(3))) {
    plan["sharding"] = draws_.one_of({"none", "optimizer", "gradients", "parameters"});
    plan["overlap_gradients"] = draws_.one_in(2);
  }
  return plan;
}

Json RandomWorkload::training(unsigned gpus) {
  const unsigned hidden = 64 * draws_.between(2, 16);
  Json model{
      {"layers", 4}, {"hidden", hidden}, {"vocabulary", 1024}, {"ffn", 4 * hidden}, {"attention", {{"heads", 4}}}};
  const unsigned batches = draws_.between(1, 4);
  Json json{{"model", std::move(model)},
            {"global_batch", 2 * gpus * batches},
            {"micro_batch", draws_.between(1, 2)},
            {"sequence", 128U << draws_.below(4)},
            {"parallel", plan(gpus)}};
  if (draws_.one_in(2)) {  // else what measured steps tell
    json["compute"] = {{"gemm", {{"share", 0.7}, {"depth", 250}}}, {"attention", 0.5}, {"memory", 0.85}};
  }
  if (draws_.one_in(4)) {
    json["measured"] = fmt::format("{}ns", 1000000 * draws_.between(1, 500));
    json["measured_with"] = {{"software", draws_.one_of({"dgx-cloud-recipes", "made up"})},
                             {"framework", draws_.one_of({"nemo", "torch", "made up"})},
                             {"release", draws_.one_of({"25.02", "99.99"})}};
  }
  return json;
}

Json RandomWorkload::trace(const std::string& traces) {
  const std::string file = draws_.one_of(
      {"stages.json", "ring.goal", "ring.bin", "transformer.*.et", "ddp.*.json", "moe.simai.txt", "layers.astra.txt"});
  Json json{{"files", traces + "/" + file}};
  if (file == "layers.astra.txt") {
    json["unit"] = "1us";
    json["ranks"] = 4;
    json["model_ranks"] = 2;
  } else if (draws_.one_in(3)) {
    json["compute_scale"] = draws_.one_of({0.5, 2.0});
  }
  return json;
}

}  // namespace athanor::fuzz
