// A master and its workers in SimGrid, as lean as SimGrid can be for this: small stacks, no traces, no cross traffic. Workers
// have speeds of their own and come within the first hour; each asks, is sent a task's input over its own line, runs it, and
// sends the output, until there are no tasks left.
// usage: simgrid WORKERS TASKS_A_WORKER; prints tasks, seconds of the run alone, and bytes of memory a worker.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

static const double RUN_SECONDS = 3600;
// Until then they come to be, which is not counted.
static const double BEGIN_SECONDS = 1;
static const double INPUT_BYTES = 10e6;
static const double OUTPUT_BYTES = 1e6;
static const double LATENCY_SECONDS = 0.01;
static const double LINE_BYTES_PER_S = 10e6;
static int NONE = 0;
static int TASK = 1;

static long resident_bytes() {
  long pages = 0;
  long resident = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::exit(1);
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

static void master(sg::Mailbox* desk, long tasks, long workers) {
  // Results come side by side, not one after the other.
  desk->set_receiver(sg::Actor::self());
  for (long left = tasks, away = 0; away < workers;) {
    auto* asker = desk->get<sg::Mailbox>();
    if (left > 0) left--;
    else away++;
    asker->put_init(left > 0 || away == 0 ? &TASK : &NONE, left > 0 || away == 0 ? INPUT_BYTES : 0)->detach();
  }
}

static void worker(sg::Mailbox* desk, sg::Mailbox* own, double from) {
  sg::this_actor::sleep_until(from);
  for (double bytes = 0;; bytes = OUTPUT_BYTES) {
    desk->put(own, bytes);
    if (own->get<int>() == &NONE) return;
    sg::this_actor::execute(RUN_SECONDS);
  }
}

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  if (argc != 3) return 2;
  const long workers = std::atol(argv[1]);
  const long tasks = workers * std::atol(argv[2]);
  sg::Engine::set_config("network/crosstraffic:0");
  sg::Engine::set_config("contexts/stack-size:16");
  sg::Engine::set_config("contexts/guard-size:0");
  const long before = resident_bytes();
  auto* zone = sg::create_star_zone("zone");
  auto* desk = sg::Mailbox::by_name("desk");
  auto* center = zone->create_host("master", 1.0)->seal();
  zone->add_route(center->get_netpoint(), nullptr, nullptr, nullptr, std::vector<sg::LinkInRoute>{}, true);
  sg::Actor::create("master", center, master, desk, tasks, workers);
  std::mt19937_64 dice(1);
  std::uniform_real_distribution<double> begins(0, RUN_SECONDS);
  std::lognormal_distribution<double> speeds(0, 0.5);
  for (long index = 0; index < workers; index++) {
    const std::string name = "w" + std::to_string(index);
    auto* host = zone->create_host(name, speeds(dice))->seal();
    auto* line = zone->create_split_duplex_link(name, LINE_BYTES_PER_S)->set_latency(LATENCY_SECONDS)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg::LinkInRoute(line, sg::LinkInRoute::Direction::UP)}, true);
    sg::Actor::create(name, host, worker, desk, sg::Mailbox::by_name(name), BEGIN_SECONDS + begins(dice));
  }
  zone->seal();
  engine.run_until(BEGIN_SECONDS / 2);
  const long bytes = (resident_bytes() - before) / workers;
  const auto began = std::chrono::steady_clock::now();
  engine.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("{\"tasks\":%ld,\"seconds\":%.6f,\"bytes\":%ld,\"virtual\":%.0f}\n", tasks, seconds, bytes, sg::Engine::get_clock());
  return 0;
}
