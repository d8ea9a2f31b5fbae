// A master and its workers in SimGrid, as lean as SimGrid can be for this: small stacks, no traces, no cross traffic. Workers
// have speeds of their own and come within the first hour; each asks, is sent a task's input over its own line, runs it, and
// sends the output, until there are no tasks left. The master may have a line, too, that all of it goes over: then the run can
// be ended after some seconds of real time, since each transfer that begins or ends costs as much as there are transfers.
// usage: simgrid WORKERS TASKS_A_WORKER [LINE_BYTES_PER_S SECONDS_MAX]; prints tasks that are done, inputs that came, seconds of
// the run alone, bytes of memory a worker, and how far virtual time got.
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
// Of the master's line, so that it is the only thing that is shared.
static const double OWN_LATENCY_SECONDS = 0.0001;
// Between two looks at the real clock, in virtual time.
static const double SLICE_SECONDS = 1;
static long inputs = 0;
static long done = 0;
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
    if (bytes > 0) done++;
    if (own->get<int>() == &NONE) return;
    inputs++;
    sg::this_actor::execute(RUN_SECONDS);
  }
}

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  if (argc != 3 && argc != 5) return 2;
  const long workers = std::atol(argv[1]);
  const long tasks = workers * std::atol(argv[2]);
  const double line_bytes_per_s = argc == 5 ? std::atof(argv[3]) : 0;
  const double seconds_max = argc == 5 ? std::atof(argv[4]) : 0;
  sg::Engine::set_config("network/crosstraffic:0");
  sg::Engine::set_config("contexts/stack-size:16");
  sg::Engine::set_config("contexts/guard-size:0");
  const long before = resident_bytes();
  auto* zone = sg::create_star_zone("zone");
  auto* desk = sg::Mailbox::by_name("desk");
  auto* center = zone->create_host("master", 1.0)->seal();
  std::vector<sg::LinkInRoute> route;
  if (line_bytes_per_s > 0) {
    auto* own = zone->create_split_duplex_link("own", line_bytes_per_s)->set_latency(OWN_LATENCY_SECONDS)->seal();
    route.emplace_back(own, sg::LinkInRoute::Direction::UP);
  }
  zone->add_route(center->get_netpoint(), nullptr, nullptr, nullptr, route, true);
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
  const auto passed = [&began] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  if (seconds_max == 0) engine.run();
  else
    while (done < tasks && passed() < seconds_max) engine.run_until(sg::Engine::get_clock() + SLICE_SECONDS);
  const double seconds = passed();
  std::printf("{\"tasks\":%ld,\"inputs\":%ld,\"seconds\":%.6f,\"bytes\":%ld,\"virtual\":%.3f}\n", done, inputs, seconds, bytes,
              sg::Engine::get_clock() - BEGIN_SECONDS);
  std::fflush(stdout);
  // Workers that are under way need not be ended one by one.
  std::_Exit(0);
}
