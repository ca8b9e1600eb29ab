#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

const std::string kDrawn = R"("requests": {"arrivals": "poisson", "rate": 40, "count": 400,
                              "prompt": {"mean": 600, "sigma": 0.5}, "output": 20})";

/// Llama 3.1 8B on two DGX H100.
std::string pools(const std::string& inner, const std::string& keys = "", const std::string& requests = kDrawn) {
  return fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 2, "fabric": {{"kind": "rail_optimized",
                        "switch": "QM9700"}}}},
                        "serving": {{"model": "Llama-3.1-8B", {}, "pools": {{{}}}{}}}}})",
                     requests, inner, keys);
}

std::string both(const std::string& prefill, const std::string& decode) {
  return fmt::format(R"("prefill": {{{}}}, "decode": {{{}}})", prefill, decode);
}

const std::string kTwo = both(R"("replicas": 2, "tensor": 2)", R"("replicas": 3, "tensor": 4)");
const std::string kLimits = R"(, "limits": {"ttft": "100ms", "tpot": "8ms"})";

}  // namespace

TEST_CASE("pools of replicas serve what is asked, and results say what moved between them") {
  const Folder folder;
  const nlohmann::json row = result_of(folder, pools(kTwo, kLimits));
  CHECK(row["gpus"] == 16);
  CHECK(row["replicas"] == 5);
  CHECK(row["prefill_replicas"] == 2);
  CHECK(row["decode_replicas"] == 3);
  CHECK(row["prefill_tensor"] == 2);
  CHECK(row["tensor"] == 4);
  CHECK(row["requests"] == 400);
  const double prompts = row["prompt_tokens_per_s"].get<double>() * row["duration_s"].get<double>();
  CHECK(row["kv_sent_gb"].get<double>() == doctest::Approx(prompts * 131'072 * 1e-9));
  CHECK(row["kv_wait_s_mean"] >= row["kv_transfer_s_mean"]);
  CHECK(row["prefill_busy"] > 0);
  CHECK(row["latency_s_mean"].get<double>() ==
        doctest::Approx(row["ttft_s_mean"].get<double>() + 19 * row["tpot_s_mean"].get<double>()));
}

TEST_CASE("every key of pools has an effect") {
  const Folder folder;
  const auto latency = [&](const std::string& inner, const std::string& keys = "") {
    return result_of(folder, pools(inner, keys))["latency_s_mean"].get<double>();
  };
  const double plain = latency(kTwo);
  CHECK(latency(kTwo + R"(, "transfer": {"overhead": "3ms"})") > plain + 1e-3);
  CHECK(latency(kTwo + R"(, "transfer": {"pieces": 32})") < plain);
  CHECK(latency(both(R"("replicas": 1, "tensor": 2)", R"("replicas": 3, "tensor": 4)")) != plain);
  CHECK(latency(both(R"("replicas": 2, "tensor": 4)", R"("replicas": 2, "tensor": 4)")) < plain);
  CHECK(latency(both(R"("replicas": 2, "tensor": 2, "batching": {"max_batched_tokens": 256})",
                     R"("replicas": 3, "tensor": 4)")) != plain);
  CHECK(latency(both(R"("replicas": 2, "tensor": 2)",
                     R"("replicas": 3, "tensor": 4, "batching": {"max_running": 1})")) > plain);
  CHECK(latency(kTwo, R"(, "balance": "least_load")") != plain);
}

TEST_CASE("the best division of the GPUs is what a search among them finds") {
  const Folder folder;
  const std::string limits = R"(, "limits": {"ttft": "40ms", "tpot": "6ms"})";
  const nlohmann::json best =
      result_of(folder, pools(both(R"("tensor": 4)", R"("tensor": 4)") + R"(, "search": true)", limits));
  CHECK(best["divisions"].size() == 3);
  double most = 0;
  for (const int prefill : {1, 2, 3}) {
    const std::string given = both(fmt::format(R"("tensor": 4, "replicas": {})", prefill),
                                   fmt::format(R"("tensor": 4, "replicas": {})", 4 - prefill));
    const nlohmann::json row = result_of(folder, pools(given, limits));
    most = std::max(most, row["within_limits"].get<double>());
    if (best["prefill_replicas"] == prefill) { CHECK(row["latency_s_mean"] == best["latency_s_mean"]); }
  }
  CHECK(best["within_limits"] == most);
}

TEST_CASE("pools that cannot be are refused, with what to do instead") {
  const Folder folder;
  const auto problem = [&](const std::string& inner, const std::string& keys = "") {
    return problem_of(folder, pools(inner, keys));
  };
  CHECK(problem(both("", R"("replicas": 1)"))["code"] == "missing-key");
  CHECK(problem(kTwo + R"(, "search": true)", kLimits)["code"] == "conflict");
  CHECK(problem(both("", "") + R"(, "search": true)")["code"] == "no-limits");
  CHECK(problem(kTwo, R"(, "tensor": 2)")["code"] == "no-effect");
  CHECK(problem(kTwo, R"(, "replicas": 2)")["pointer"] == "/serving/replicas");
  const std::string own = R"("replicas": 1, "batching": {"page": 32})";
  CHECK(problem(both(own, own), R"(, "batching": {"page": 64})")["code"] == "no-effect");
  CHECK(problem(both(R"("replicas": 9, "tensor": 2)", R"("replicas": 1)"))["code"] == "too-many-ranks");
  CHECK(problem(both(R"("replicas": 1, "tensor": 32)", R"("replicas": 1)"))["pointer"] ==
        "/serving/pools/prefill/tensor");
  const nlohmann::json pieces = problem(kTwo + R"(, "transfer": {"pieces": 33})");
  CHECK(pieces["code"] == "out-of-range");
  CHECK(pieces["pointer"] == "/serving/pools/transfer/pieces");
  CHECK(pieces["hint"] == "write at most 32");
  CHECK(problem(kTwo + R"(, "transfers": {})")["code"] == "unknown-key");
  const std::string measured =
      R"({"cluster": {"node": "DGX-H100", "nodes": 1}, "serving": {"model": "Llama-3.1-8B", )" + kDrawn +
      R"(, "measured": {"kv_transfer_s_mean": 1}}})";
  CHECK(problem_of(folder, measured)["code"] == "no-effect");
}

TEST_CASE("GPUs draw their most while replicas are busy, and nodes and switches what the scenario says") {
  const Folder folder;
  const std::string costs = R"(, "costs": {"gpu_w": 600, "gpu_idle_w": 100, "node_w": 1000, "switch_w": 50,
                                           "pue": 1.25})";
  const nlohmann::json row = result_of(folder, pools(kTwo, costs));
  const double time = row["duration_s"];
  const double busy = (4 * row["prefill_busy"].get<double>() + 12 * row["decode_busy"].get<double>()) / 16;
  CHECK(row["gpu_energy_j"].get<double>() == doctest::Approx(time * 16 * (100 + 500 * busy)));
  CHECK(row["node_energy_j"].get<double>() == doctest::Approx(time * 2 * 1000));
  const double sum =
      row["gpu_energy_j"].get<double>() + row["node_energy_j"].get<double>() + row["switch_energy_j"].get<double>();
  CHECK(row["energy_j"].get<double>() == doctest::Approx(1.25 * sum));
  const double tokens = row["output_tokens_per_s"].get<double>() * time;
  CHECK(row["tokens_per_j"].get<double>() == doctest::Approx(tokens / row["energy_j"].get<double>()));
  CHECK(result_of(folder, pools(kTwo))["gpu_energy_j"] > 0);  // by the preset's figures
  CHECK(problem_of(folder, pools(kTwo, R"(, "costs": {"tokens": 1000})"))["code"] == "no-effect");
}

TEST_CASE("where nothing is drawn seeds are refused, and a limit of later tokens where there is none") {
  const Folder folder;
  const auto code = [&](const std::string& keys, const std::string& outside) {
    return problem_of(folder, R"({"cluster": {"node": "DGX-H100", "nodes": 1}, "serving": {"model": "Llama-3.1-8B", )" +
                                  keys + "}" + outside + "}")["code"];
  };
  const std::string once = R"("requests": {"arrivals": "at_once", "count": 8, "prompt": 100, "output": 1})";
  CHECK(code(once, R"(, "seeds": 3)") == "no-effect");
  CHECK(code(once + R"(, "limits": {"tpot": "1s"})", "") == "no-effect");
  CHECK(code(once, R"(, "nccl": {"version": "2.19"})") == "no-effect");
}
