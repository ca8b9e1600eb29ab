#include "topologies/generators/direct/slim_fly.hpp"

#include <set>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/topologies/direct/direct_laws.hpp"
#include "topologies/generators/direct/galois_field.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

constexpr std::uint32_t kFields[] = {2,  3,  4,  5,  7,  8,  9,   11,  13,  16,  17,
                                     25, 27, 32, 49, 64, 81, 121, 125, 128, 243, 256};
constexpr std::uint32_t kSlimFlies[] = {3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 32};

/// Cables of a router to others: (3 q - delta) / 2.
std::uint32_t degree(std::uint32_t q) {
  const int delta = q % 4 == 3 ? -1 : static_cast<int>(q % 4);
  return static_cast<std::uint32_t>((3 * static_cast<int>(q) - delta) / 2);
}

std::string refused(std::uint32_t q) {
  try {
    check_slim_fly(q);
  } catch (const ScenarioError& error) { return describe(error.problems()[0]); }
  return "";
}

/// Whether every router is within two hops of `from`.
bool all_within_two(const SlimFly& graph, std::uint32_t from) {
  std::set<std::uint32_t> met{from};
  for (std::uint32_t port = 0; port < graph.ports(from); ++port) {
    const std::uint32_t next = graph.neighbour(from, port);
    met.insert(next);
    for (std::uint32_t on = 0; on < graph.ports(next); ++on) { met.insert(graph.neighbour(next, on)); }
  }
  return met.size() == graph.routers();
}

}  // namespace

TEST_CASE("finite fields obey their laws: sums, products, inverses, distribution, and powers that meet all elements") {
  for (const std::uint32_t q : kFields) {
    CAPTURE(q);
    const GaloisField field(q);
    std::set<std::uint32_t> powers;
    for (std::uint32_t exponent = 0; exponent + 1 < q; ++exponent) { powers.insert(field.power(exponent)); }
    CHECK(powers.size() == q - 1);
    CHECK(powers.count(0) == 0);
    bool holds = true;
    for (std::uint32_t a = 0; a < q; ++a) {
      holds = holds && field.add(a, 0) == a && field.multiply(a, 1) == a && field.subtract(a, a) == 0;
      for (std::uint32_t b = 0; b < q; b += 1 + q / 40) {
        holds = holds && field.add(a, b) == field.add(b, a) && field.subtract(field.add(a, b), b) == a;
        holds = holds && (b == 0 || field.multiply(field.divide(a, b), b) == a);
        const std::uint32_t c = (a * 7 + b * 3 + 1) % q;
        holds = holds && field.multiply(c, field.add(a, b)) == field.add(field.multiply(c, a), field.multiply(c, b));
      }
    }
    CHECK(holds);
  }
}

TEST_CASE("prime powers are told from other numbers") {
  for (std::uint32_t q = 0; q < 300; ++q) {
    std::uint32_t primes = 0;
    for (std::uint32_t p = 2; p <= q; ++p) {
      bool prime = q % p == 0;
      for (std::uint32_t d = 2; d * d <= p; ++d) { prime = prime && p % d != 0; }
      primes += prime ? 1 : 0;
    }
    CHECK(prime_base(q).has_value() == (primes == 1));
  }
}

TEST_CASE("a Slim Fly has 2 q^2 routers of (3 q - delta) / 2 cables each, all within two hops") {
  for (const std::uint32_t q : kSlimFlies) {
    CAPTURE(q);
    const SlimFly graph(q);
    CHECK(graph.routers() == 2 * q * q);
    CHECK(graph.ports(0) == degree(q));
    CHECK(broken_cables(graph) == "");
    for (std::uint32_t router = 0; router < graph.routers(); router += q <= 9 ? 1 : q * q / 8) {
      std::set<std::uint32_t> others;
      for (std::uint32_t port = 0; port < graph.ports(router); ++port) { others.insert(graph.neighbour(router, port)); }
      CHECK(others.size() == degree(q));
      CHECK(all_within_two(graph, router));
    }
  }
}

TEST_CASE("a Slim Fly with hosts has the cables, diameter and halves of its closed forms, and shortest ways") {
  for (const std::uint32_t q : {3U, 4U, 5U, 7U, 8U, 9U}) {
    const std::uint32_t n = 2 * q * q;
    const Cluster cluster = slim_fly(hosts(n), q, switches(1));
    CAPTURE(cluster.description);
    CHECK(inner_cables(cluster, false) == n * degree(q) / 2);
    CHECK(longest_route(cluster) == 4);
    CHECK(bisection(cluster) == q * (q * q + q % 2) / 2);
    CHECK(broken_routes(cluster, 200) == "");
    CHECK(balanced_hosts_per_router(q) == (degree(q) + 1) / 2);
  }
}

TEST_CASE("valiant ways of a Slim Fly take four hops at most and come nowhere twice") {
  const Cluster cluster = slim_fly(hosts(50), 5, switches(1), {Routing::valiant, 4});
  CHECK(broken_ways(cluster, 10) == "");
  CHECK(longest_route(cluster, 10) == 6);
  std::set<VertexId> met;
  for (std::uint64_t flow = 0; flow < 1000; ++flow) {
    for (const LinkId link : route(cluster, VertexId{0}, VertexId{30}, flow)) {
      met.insert(cluster.fabric->target(link));
    }
  }
  CHECK(met.size() == 50 + 1);
}

TEST_CASE("what is no prime power, or two more than a multiple of four, is refused with its neighbours that fit") {
  CHECK(refused(5) == "");
  CHECK(refused(6).find("and 6 is none; use q = 5 (50 routers) or 7 (98 routers)") != std::string::npos);
  CHECK(refused(2).find("use q = 3 (18 routers)") != std::string::npos);
  CHECK(refused(0).find("use q = 3") != std::string::npos);
  CHECK(refused(12).find("use q = 11 (242 routers) or 13 (338 routers)") != std::string::npos);
  CHECK(refused(1000).find("use q = 256 (131072 routers)") != std::string::npos);
}
