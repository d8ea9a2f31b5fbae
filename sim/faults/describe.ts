/** Faults in words, for the story of a failure. */
import type { Fault, FaultKind } from './case.ts'

type Words = (fault: Fault, node: string, lasts: string) => string

const WORDS: Readonly<Record<FaultKind, Words>> = {
  cut: ({ amount }, node) =>
    `the connection of ${node} breaks, ${amount % 2 === 0 ? 'as it sees it' : 'as the server sees it'}${amount % 3 > 0 ? '' : '; the other end is not told'}`,
  block_up: (_fault, node, lasts) => `nothing of ${node} reaches the server ${lasts}`,
  block_down: (_fault, node, lasts) => `nothing of the server reaches ${node} ${lasts}`,
  block: (_fault, node, lasts) => `${node} is cut off ${lasts}`,
  slow_path: ({ amount }, node, lasts) => `all to and from ${node} takes ${amount % 5_000} ms longer ${lasts}`,
  thin_line: ({ amount }, node, lasts) => `the line of ${node} carries ${thinBytesPerMs(amount)} bytes a millisecond ${lasts}`,
  forgotten: (_fault, node) => `a router forgets the connection of ${node}: nothing passes, and nobody is told`,
  crash: (_fault, node) => `${node} is killed and started again`,
  crash_at_publish: ({ forMs }, node) =>
    `${node} will be killed when it next has published what a run left, and comes back ${(forMs / 1000).toFixed(1)} s later`,
  power_loss: (_fault, node) => `the machine of ${node} loses power`,
  wipe: (_fault, node) => `${node} comes back with an empty disk`,
  stop: (_fault, node, lasts) => `${node} is stopped ${lasts}`,
  clock: ({ amount }, node) => `the clock of ${node} jumps by ${Math.round(((amount % 172_800_000) - 86_400_000) / 60_000)} minutes`,
  disk_slow: ({ amount }, node, lasts) => `the disk of ${node} takes ${amount % 2_000} ms longer ${lasts}`,
  disk_full: (_fault, node, lasts) => `the disk of ${node} is full ${lasts}`,
  disk_error: (_fault, node) => `the next write of ${node} fails`,
  bit_flip: (_fault, node) => `a bit on the disk of ${node} flips`,
  engine_hung: (_fault, node, lasts) => `the engine of ${node} does not answer ${lasts}`,
  engine_down: (_fault, node, lasts) => `the engine of ${node} is down ${lasts}`,
  runs_break: ({ amount }, node, lasts) => `${amount % 100} % of the runs of ${node} break ${lasts}`,
  withhold: (_fault, node, lasts) => `${node} does not hand over outputs ${lasts}`,
  corrupt_output: (_fault, node, lasts) => `what ${node} hands over is not what was asked for ${lasts}`,
  corrupt_input: (_fault, node, lasts) => `what ${node} gets is not what it asked for ${lasts}`,
  no_input: ({ amount }, node, lasts) => `${amount % 2 === 0 ? 'nobody' : node} gets ${amount % 2 === 0 ? '' : 'no '}inputs ${lasts}`,
  content_full: (_fault, node, lasts) => `${node} has no room for what its runs leave ${lasts}`,
  engine_restart: (_fault, node, lasts) => `the engine of ${node} is down ${lasts} and forgets who waits for its runs, which go on`,
  pause: (_fault, node, lasts) => `the owner of ${node} pauses it ${lasts}`,
  drain: (_fault, node) => `${node} is told to finish and leave`,
  quit: (_fault, node) => `${node} is told to leave at once`,
  leave: ({ amount }, node) => `${node} is told to ${amount % 2 === 0 ? 'finish and' : ''} leave, and stays away`,
  server_crash: () => 'the server is killed',
  server_power_loss: () => "the server's machine loses power",
  server_crash_at_write: ({ amount }) => `the server will be killed at its write ${1 + (amount % 40)} from now, which is ${amount % 2 === 0 ? 'kept' : 'lost'}`,
  server_stop: (_fault, _node, lasts) => `the server is stopped ${lasts}`,
  server_takeover: (_fault, _node, lasts) => `the server is stopped ${lasts}, and another takes over`,
  server_restart: () => 'the server is told to end, and is started again',
  server_disk_slow: ({ amount }, _node, lasts) => `the server's disk takes ${amount % 1_000} ms longer ${lasts}`,
  server_disk_full: (_fault, _node, lasts) => `the server's disk is full ${lasts}`,
  server_disk_error: () => 'the next write of the server fails',
  server_clock: ({ amount }) => `the server's clock goes forward by ${amount % 5_000} ms`,
  server_drift: ({ amount }) => `the server's clock goes ${driftPerMille(amount) - 1000} thousandths fast`,
  server_away: (_fault, _node, lasts) => `the server is killed and away ${lasts}`,
  block_all: (_fault, _node, lasts) => `nobody reaches the server ${lasts}`,
  kill_batch: ({ target }) => `the owner kills batch ${target}`,
  kill_task: ({ target, amount }) => `the owner kills a task of batch ${target} (${amount})`,
  hold_batch: ({ target, forMs, amount }) =>
    `the owner holds batch ${target} for ${(forMs / 1000).toFixed(1)} s${amount % 2 === 0 ? ', and what runs is taken back' : ''}`,
  hold_task: ({ target, forMs, amount }) =>
    `the owner holds a task of batch ${target} for ${(forMs / 1000).toFixed(1)} s${amount % 2 === 0 ? ', and what runs is taken back' : ''}`,
  ban_node: ({ target, forMs }) => `the administrator bans a node (${target}) for ${(forMs / 1000).toFixed(1)} s`,
  limit_client: ({ target, forMs, amount }) =>
    `the administrator lets the client of batch ${target} have ${amount % 5} replicas at once, for ${(forMs / 1000).toFixed(1)} s`,
  submit_equal: ({ target }) => `the owner submits what batch ${target} has once more, as another batch`,
  submit_again: ({ target }) => `the owner submits a part of batch ${target} again`,
  garbage: ({ target }) => `hostile ${target} sends garbage`,
  replay: ({ target }) => `hostile ${target} repeats what it and others said`,
  gap: ({ target }) => `hostile ${target} skips numbers`,
  bad_ack: ({ target }) => `hostile ${target} acknowledges what was never sent`,
  forge: ({ target }) => `hostile ${target} reports in another's name`,
  steal: ({ target }) => `hostile ${target} starts and reports what another has`,
  old_epoch: ({ target }) => `hostile ${target} asks to start under another epoch`,
  strange_field: ({ target }) => `hostile ${target} sends fields that nobody knows`,
  ungranted: ({ target }) => `hostile ${target} reports what it was not granted`,
  forget: ({ target }) => `hostile ${target} comes back and knows nothing of what it holds`,
  second_stream: ({ target }) => `hostile ${target} opens a second stream and goes on with the first`,
  hoard: ({ target }) => `hostile ${target} keeps what it is leased`,
  relay_dies: ({ target }, _node, lasts) => `relay ${target} is dead ${lasts}`,
  flood_calls: ({ target }) => `hostile ${target} hangs up and calls again, again and again`,
  flood_streams: ({ target }) => `hostile ${target} opens streams without end`,
  flood_hellos: ({ target }) => `hostile ${target} says hello again and again`,
  flood_frames: ({ target }) => `hostile ${target} says more than anybody needs to know, as fast as it can`,
  flood_requests: ({ target }) => `hostile ${target}, whom nobody knows, asks as a client does, as fast as it can`,
  flood_large: ({ target }) => `hostile ${target} says more at once than fits`,
  copy: ({ target }) => `hostile ${target} says what it overheard of others from now on`
}

/** Of a line that is thin while the fault lasts. */
export function thinBytesPerMs(amount: number): number {
  return 2 + (amount % 60)
}

/** Milliseconds of the server's clock in a thousand true ones, up to 1 % wrong. */
export function driftPerMille(amount: number): number {
  return 990 + (amount % 21)
}

export function describe(fault: Fault): string {
  return WORDS[fault.kind](fault, `node ${fault.target}`, `for ${(fault.forMs / 1000).toFixed(1)} s`)
}
