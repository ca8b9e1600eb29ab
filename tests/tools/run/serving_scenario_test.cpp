#include <stop_token>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/run_command_line.hpp"

using namespace athanor;

namespace {

const std::string kOnce = R"("requests": {"arrivals": "at_once", "count": 8, "prompt": 100, "output": 20})";

/// Llama 3.1 8B on GPUs of a DGX H100.
std::string serving(const std::string& keys, const std::string& model = "Llama-3.1-8B") {
  return fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}}, "serving": {{"model": "{}", {}}}}})", model,
                     keys);
}

double figure(const Folder& folder, const std::string& keys, const char* key) {
  return result_of(folder, serving(keys))[key];
}

}  // namespace

TEST_CASE("a pool of replicas serves what is asked, and results say how") {
  const Folder folder;
  const nlohmann::json row = result_of(
      folder, serving(R"("tensor": 2, "limits": {"ttft": "1s", "tpot": "1s"}, "requests": {"arrivals": "poisson",
                         "rate": 50, "count": 500, "prompt": {"mean": 300, "sigma": 0.5}, "output": 20})"));
  CHECK(row["model"] == "Llama-3.1-8B");
  CHECK(row["gpu"] == "H100-SXM-80GB");
  CHECK(row["gpus"] == 8);
  CHECK(row["tensor"] == 2);
  CHECK(row["replicas"] == 4);
  CHECK(row["precision"] == "bf16");
  CHECK(row["kv_precision"] == "bf16");
  CHECK(row["requests"] == 500);
  CHECK(row["within_limits"] == 1);
  CHECK(row["goodput_requests_per_s"] == row["requests_per_s"]);
  CHECK(row["output_tokens_per_s"].get<double>() == doctest::Approx(20 * row["requests_per_s"].get<double>()));
  CHECK(row["preemptions"] == 0);
  CHECK(row["latency_s_mean"].get<double>() ==
        doctest::Approx(row["ttft_s_mean"].get<double>() + 19 * row["tpot_s_mean"].get<double>()));
  CHECK(row["notes"].size() == 4);
}

TEST_CASE("a token of a model on one GPU takes what reading its weights takes, and the host's overhead") {
  const Folder folder;
  const std::string alone =
      R"("replicas": 1, "requests": {"arrivals": "at_once", "count": 1, "prompt": 1, "output": 3})";
  const double with = figure(folder, alone + R"(, "overhead": "2ms")", "tpot_s_mean");
  const double without = figure(folder, alone + R"(, "overhead": "0s")", "tpot_s_mean");
  CHECK(with - without == doctest::Approx(2e-3));
  const double reading = 2 * (8.030e9 - 128'256 * 4096.0) / (3.35e12 * 0.9);
  CHECK(without > reading);
  CHECK(without < reading * 1.25);  // kernels have an overhead of 2 us each
  const double half = figure(folder, alone + R"(, "overhead": "0s", "stream_share": 0.45)", "tpot_s_mean");
  CHECK(half - without == doctest::Approx(reading).epsilon(0.01));
}

TEST_CASE("every key of how requests are put together has an effect") {
  const Folder folder;
  const std::string many =
      R"("replicas": 2, "requests": {"arrivals": "at_once", "count": 300, "prompt": 900, "output": 50})";
  const auto time = [&](const std::string& keys) { return figure(folder, many + keys, "latency_s_mean"); };
  const double plain = time("");
  for (const char* keys : {R"("max_running": 8)", R"("max_batched_tokens": 1000)",
                           R"("max_batched_tokens": 1000, "chunked_prefill": false)"}) {
    CHECK(time(fmt::format(R"(, "batching": {{{}}})", keys)) != plain);
  }
  CHECK(time(R"(, "memory_share": 0.25)") != plain);
  CHECK(time(R"(, "precision": "fp8")") < plain);
  CHECK(time(R"(, "kv_precision": "fp8")") < plain);
  CHECK(figure(folder, many + R"(, "batching": {"page": 64})", "kv_pages") < figure(folder, many, "kv_pages"));
  const std::string full = many + R"(, "memory_share": 0.25)";
  CHECK(figure(folder, full, "preemptions") > 0);
  CHECK(figure(folder, full + R"(, "batching": {"reserve_output": true})", "preemptions") == 0);
}

TEST_CASE("recorded requests are served, and drawn ones differ with the seed") {
  const Folder folder;
  folder.write("azure.csv",
               "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n"
               "2023-11-16 18:15:50.99,396,109\n");
  const nlohmann::json row = result_of(folder, serving(R"("requests": {"arrivals": "trace", "file": "azure.csv"})"));
  CHECK(row["requests"] == 2);
  const std::string drawn =
      serving(R"("requests": {"arrivals": "poisson", "rate": 5, "duration": "10s", "prompt": 100, "output": 20})");
  CHECK(result_of(folder, drawn, {"--seed", "1"}) != result_of(folder, drawn, {"--seed", "2"}));
  const nlohmann::json several = result_of(folder, drawn, {"--set", "/seeds=5"});
  CHECK(several["seeds"] == 5);
  CHECK(several["latency_s_mean_p5"] <= several["latency_s_mean"]);
}

TEST_CASE("what cannot be served is refused, with what to do instead") {
  const Folder folder;
  const auto code = [&](const std::string& text) { return problem_of(folder, text)["code"]; };
  CHECK(code(serving(kOnce + R"(, "tensor": 3)")) == "cannot-serve");
  CHECK(code(serving(kOnce, "Mistral-7B")) == "cannot-serve");
  CHECK(code(serving(kOnce + R"(, "tensor": 8)", "DeepSeek-V3")) == "out-of-memory");
  CHECK(code(serving(kOnce + R"(, "replicas": 9)")) == "too-many-ranks");
  CHECK(code(serving(kOnce + R"(, "tensor": 16)")) == "too-many-ranks");
  CHECK(code(serving(kOnce + R"(, "precision": "fp8", "gpu": "A100-SXM-80GB")")) == "no-such-precision");
  CHECK(code(serving(kOnce + R"(, "pipeline": 2)")) == "unknown-key");
  CHECK(code(serving(kOnce + R"(, "max_error": 0.1)")) == "no-effect");
  for (const char* key : {"launch", "pass_overhead"}) {
    CHECK(code(serving(fmt::format(R"({}, "compute": {{"{}": "1us"}})", kOnce, key))) == "no-effect");
  }
  for (const char* key : {"interference", "straggler_growth"}) {
    CHECK(code(serving(fmt::format(R"({}, "compute": {{"{}": 0.1}})", kOnce, key))) == "no-effect");
  }
  CHECK(code(serving(kOnce + R"(, "compute": {"gemm": {"waves": 1}})")) == "no-effect");
  CHECK(code(serving(kOnce + R"(, "batching": {"max_running": 100, "max_batched_tokens": 50})")) == "out-of-range");
  const nlohmann::json memory = problem_of(folder, serving(kOnce, "Llama-3.1-70B"));
  CHECK(memory["code"] == "out-of-memory");
  CHECK(memory["hint"] == "it fits with \"tensor\": 2");
}

TEST_CASE("requests that are none are refused") {
  const Folder folder;
  const auto code = [&](const std::string& requests) {
    return problem_of(folder, serving(R"("requests": {)" + requests + "}"))["code"];
  };
  const std::string lengths = R"("prompt": 10, "output": 10)";
  CHECK(code(R"("arrivals": "poisson", "rate": 1, )" + lengths) == "missing-key");
  CHECK(code(R"("arrivals": "poisson", "rate": 1, "count": 5, "duration": "1s", )" + lengths) == "conflict");
  CHECK(code(R"("arrivals": "poisson", "rate": 1000000, "duration": "1h", )" + lengths) == "too-many-requests");
  CHECK(code(R"("arrivals": "poisson", "rate": 0, "count": 5, )" + lengths) == "out-of-range");
  CHECK(code(R"("arrivals": "at_once", "count": 5, "prompt": 0, "output": 1)") == "out-of-range");
  CHECK(code(R"("arrivals": "at_once", "count": 5, "output": 1, "prompt": {"mean": 5, "least": 9, "most": 2})") ==
        "out-of-range");
  CHECK(code(R"("arrivals": "trace", "file": "nowhere.csv")") == "no-trace");
  folder.write("bad.csv", "arrival,prompt,output\n0,5,x\n");
  CHECK(code(R"("arrivals": "trace", "file": "bad.csv")") == "no-tokens");
  folder.write("long.csv", "arrival,prompt,output\n0,5000000,1\n");
  CHECK(code(R"("arrivals": "trace", "file": "long.csv")") == "request-too-long");
  CHECK(code(R"("arrivals": "at_once", "count": 1, "prompt": 5000000, "output": 1)") == "request-too-long");
  CHECK(code(R"("arrivals": "at_once", "count": 1, "output": 1,
                "prompt": {"mean": 6000000, "least": 5000000, "most": 8000000})") == "request-too-long");
  CHECK(code(R"("arrivals": "at_once", "count": 5, "output": 1, "prompt": {"mean": 5, "least": 9})") == "out-of-range");
  CHECK(code(R"("arrivals": "at_once", "count": 5, "output": 1, "prompt": {"mean": 9, "most": 5})") == "out-of-range");
  const std::string drawn = serving(
      R"("requests": {"arrivals": "at_once", "count": 50, "prompt": {"mean": 500000, "sigma": 2}, "output": 1})");
  const Ran ran = athanor_run({"run", folder.write("drawn.json", drawn)});
  CHECK(ran.code == 1);
  CHECK(ran.err.find("the KV cache of a replica has pages for") != std::string::npos);
  CHECK(ran.err.find("bound lengths by \"most\"") != std::string::npos);
  const std::string none =
      serving(R"("requests": {"arrivals": "poisson", "rate": 0.001, "duration": "1us", "prompt": 5, "output": 1})");
  CHECK(athanor_run({"run", folder.write("none.json", none)}).err.find("no request arrives") != std::string::npos);
}

TEST_CASE("hints of serving say what would be accepted") {
  const Folder folder;
  const auto hint = [&](const std::string& keys) { return problem_of(folder, serving(keys))["hint"]; };
  const std::string at_most = "make \"tensor\" at most 8, or use a larger cluster";
  CHECK(hint(kOnce + R"(, "tensor": 16)") == at_most);
  CHECK(hint(kOnce + R"(, "tensor": 16, "replicas": 1)") == at_most);
  CHECK(hint(kOnce + R"(, "tensor": 4, "replicas": 3)") == "write \"replicas\": 2, or use a larger cluster");
  CHECK(hint(kOnce + R"(, "batching": {"max_running": 8, "max_batched_tokens": 50, "chunked_prefill": false})") ==
        "write \"max_batched_tokens\": 119, or allow chunks (\"chunked_prefill\": true), or ask for fewer tokens");
  const nlohmann::json running = problem_of(folder, serving(kOnce + R"(, "batching": {"max_batched_tokens": 50})"));
  CHECK(running["message"] ==
        "256 requests, the default of \"max_running\", have a token each in an iteration of at most 50 tokens");
  CHECK(running["hint"] == "write \"max_running\": 50 or less, or make \"max_batched_tokens\" larger");
}

TEST_CASE("limits and figures that say nothing, or that no result can have, are refused") {
  const Folder folder;
  const auto code = [&](const std::string& keys) { return problem_of(folder, serving(kOnce + keys))["code"]; };
  CHECK(code(R"(, "limits": {})") == "no-effect");
  CHECK(code(R"(, "measured": {})") == "no-effect");
  const nlohmann::json share = problem_of(folder, serving(kOnce + R"(, "measured": {"within_limits": 0.9})"));
  CHECK(share["code"] == "no-effect");
  CHECK(share["pointer"] == "/serving/measured/within_limits");
  CHECK(code(R"(, "limits": {"ttft": "1s"}, "measured": {"within_limits": 1.5})") == "out-of-range");
  const std::string good = serving(kOnce + R"(, "limits": {"ttft": "1s"}, "measured": {"within_limits": 1})");
  CHECK(athanor_run({"verify", folder.write("good.json", good)}).code == 0);
}

TEST_CASE("requests of one token have no time per output token, and verifying one says so") {
  const Folder folder;
  const std::string one = R"("requests": {"arrivals": "at_once", "count": 8, "prompt": 100, "output": 1})";
  CHECK_FALSE(result_of(folder, serving(one)).contains("tpot_s_mean"));
  const std::string measured = serving(one + R"(, "measured": {"tpot_s_median": 0.01})");
  const Ran ran = athanor_run({"verify", folder.write("one.json", measured)});
  CHECK(ran.code == 3);
  CHECK(ran.err.find("has no 'tpot_s_median'") != std::string::npos);
  CHECK(ran.err.find("/serving/measured") != std::string::npos);
}

TEST_CASE("seconds to a first token are verified with their digits") {
  const Folder folder;
  const std::string text = serving(kOnce + R"(, "measured": {"ttft_s_median": 0.01234})");
  const Ran ran = athanor_run({"verify", folder.write("first.json", text)});
  CHECK(ran.out.find(" 0.01234 ") != std::string::npos);
}

TEST_CASE("a compute profile that was fitted on other GPUs is said to be extrapolated") {
  const Folder folder;
  const auto notes = [&](const std::string& keys) { return result_of(folder, serving(kOnce + keys))["notes"].dump(); };
  const std::string told = "extrapolated: the compute profile llm-foundry-a100-bf16 was not fitted on bf16 of MI300X";
  CHECK(notes(R"(, "gpu": "MI300X", "compute": "llm-foundry-a100-bf16")").find(told) != std::string::npos);
  CHECK(notes("").find("extrapolated:") == std::string::npos);
}

TEST_CASE("serving that outlasts simulated time says what to change") {
  const Folder folder;
  const std::string text = serving(kOnce + R"(, "overhead": "1000000s")");
  const Ran ran = athanor_run({"run", folder.write("slow.json", text)});
  CHECK(ran.code == 1);
  CHECK(ran.err.find("simulated time exceeds 106 days") != std::string::npos);
  CHECK(ran.err.find("ask for fewer requests") != std::string::npos);
}

TEST_CASE("who asks a command to stop asks the simulation that is under way") {
  const Folder folder;
  std::stop_source source;
  Streams streams{.out = [](std::string_view /*text*/) {}, .err = [&](std::string_view /*text*/) {}};
  streams.stop = source.get_token();
  const std::vector<std::string> words{"run", folder.write("once.json", serving(kOnce))};
  CHECK(run_command_line(words, streams) == ExitCode::ok);
  source.request_stop();
  CHECK(run_command_line(words, streams) == ExitCode::interrupted);
}
