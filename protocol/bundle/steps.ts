/**
 * Commands that one run executes in order: one after the other in the same container or process and the same folder, until one
 * ends with another status than 0, which is the run's. A manifest knows one command; this is one that a shell reads. So nodes
 * and projects that never heard of it run it alike, and its id says all that it does.
 *
 * Where there are several, the log is marked, so that each one's part can be cut out of it (`cutSteps`):
 *
 * ```
 * ==> talko step 2/3: test            on stdout and stderr, before what it prints
 * <== talko step 2/3: exit 1, 12 s    on stderr alone: a time on stdout would keep results from agreeing
 * ```
 *
 * `{TALKO_IN}` in a word is the folder of the inputs: `/in`, or `$TALKO_IN` on a bare machine.
 */

export interface Step {
  readonly name: string
  readonly command: readonly string[]
}

/** What is in the log of a step. Text, since it is for people. */
export interface StepLog {
  /** From 1. */
  readonly number: number
  readonly name: string
  readonly stdout: string
  readonly stderr: string
  /** Undefined while it runs, or where a limit ended the run. */
  readonly exitCode?: number
  /** In whole seconds; undefined where the image has no clock to ask. */
  readonly seconds?: number
}

export const STEPS_MAX = 64
/** Stands for the folder of the inputs in a word of a step. */
export const INPUTS_HOLE = '{TALKO_IN}'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const SELF = 'talko-steps-1'

/**
 * Never changed: bundles that have it are known by it, and their ids are those of what was decided. POSIX, with no program of
 * the image but `date`, which may be missing. Its variables must not hide one that a step is given.
 */
const SCRIPT = `talko_steps=$1 talko_step=0 talko_gap= talko_in=\${TALKO_IN:-/in}
shift
talko_now() { date +%s 2>/dev/null || echo 0; }
trap 'kill -TERM "$talko_child" 2>/dev/null' TERM INT
while [ "$talko_step" -lt "$talko_steps" ]; do
  talko_step=$((talko_step + 1)) talko_name=$1 talko_words=$2 talko_word=0 talko_line=
  shift 2
  while [ "$talko_word" -lt "$talko_words" ]; do
    talko_word=$((talko_word + 1)) talko_text= talko_rest=$1
    shift
    while :; do
      case $talko_rest in
      *'{TALKO_IN}'*) talko_text=$talko_text\${talko_rest%%'{TALKO_IN}'*}$talko_in talko_rest=\${talko_rest#*'{TALKO_IN}'} ;;
      *) break ;;
      esac
    done
    eval "talko_word_$talko_word=\\$talko_text\\$talko_rest"
    talko_line="$talko_line \\"\\$talko_word_$talko_word\\""
  done
  if [ "$talko_steps" -gt 1 ]; then
    printf "$talko_gap==> talko step %s/%s: %s\\n" "$talko_step" "$talko_steps" "$talko_name"
    printf "$talko_gap==> talko step %s/%s: %s\\n" "$talko_step" "$talko_steps" "$talko_name" >&2
    talko_gap='\\n'
  fi
  talko_from=$(talko_now)
  (eval "exec $talko_line") </dev/null &
  talko_child=$!
  while :; do
    wait "$talko_child"
    talko_code=$?
    kill -0 "$talko_child" 2>/dev/null || break
  done
  talko_to=$(talko_now)
  if [ "$talko_steps" -gt 1 ]; then
    talko_took=
    [ "$talko_from" -gt 0 ] && [ "$talko_to" -ge "$talko_from" ] && talko_took=", $((talko_to - talko_from)) s"
    printf '\\n<== talko step %s/%s: exit %s%s\\n' "$talko_step" "$talko_steps" "$talko_code" "$talko_took" >&2
  fi
  [ "$talko_code" -eq 0 ] || exit "$talko_code"
done
`

/** The one command that runs them. Throws RangeError for what cannot be run so. */
export function commandOfSteps(steps: readonly Step[]): string[] {
  const fault = stepsFault(steps)
  if (fault !== undefined) throw new RangeError(fault)
  return ['/bin/sh', '-c', SCRIPT, SELF, String(steps.length), ...steps.flatMap(({ name, command }) => [name, String(command.length), ...command])]
}

/** Why they cannot be run in order; undefined when they can. */
export function stepsFault(steps: readonly Step[]): string | undefined {
  if (steps.length === 0 || steps.length > STEPS_MAX) return `1 to ${STEPS_MAX} commands can be run in order, not ${steps.length}`
  const names = new Set<string>()
  for (const { name, command } of steps) {
    if (!NAME.test(name)) return `the name of a command is letters, digits and . _ -, not ${JSON.stringify(name.slice(0, 64))}`
    if (names.has(name)) return `two commands are named ${name}`
    names.add(name)
    if (command.length === 0 || command[0] === '') return `command ${name} is empty`
  }
  return undefined
}

/** What such a command runs; undefined for any other. Takes whatever a manifest holds. */
export function stepsOfCommand(command: readonly string[]): readonly Step[] | undefined {
  const [shell, option, script, self, count, ...rest] = command
  if (shell !== '/bin/sh' || option !== '-c' || script !== SCRIPT || self !== SELF) return undefined
  const steps: Step[] = []
  let at = 0
  while (at < rest.length) {
    const name = rest[at] ?? ''
    const words = Number(rest[at + 1])
    if (!Number.isSafeInteger(words) || words < 1 || at + 2 + words > rest.length) return undefined
    steps.push({ name, command: rest.slice(at + 2, at + 2 + words) })
    at += 2 + words
  }
  return String(steps.length) === count && stepsFault(steps) === undefined ? steps : undefined
}

const BEGIN = /(?:^|\n)==> talko step (\d{1,2})\/(\d{1,2}): ([^\n]*)\n/g
const END = /\n<== talko step (\d{1,2})\/(\d{1,2}): exit (\d{1,3})(?:, (\d{1,9}) s)?\n/g

/** The log of each step that began, in order. What a step prints is its own: marks that are not the next ones of these steps are text. */
export function cutSteps(steps: readonly Step[], { stdout, stderr }: { readonly stdout: string; readonly stderr: string }): StepLog[] {
  if (steps.length < 2) return []
  const printed = partsOf(steps, stdout)
  return partsOf(steps, stderr).map((part, at) => {
    const { text, exitCode, seconds } = endOf(part, at + 1, steps.length)
    return {
      number: at + 1,
      name: steps[at]?.name ?? '',
      stdout: printed[at] ?? '',
      stderr: text,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(seconds === undefined ? {} : { seconds })
    }
  })
}

/** Between one mark and the next. */
function partsOf(steps: readonly Step[], log: string): string[] {
  const parts: string[] = []
  let from = -1
  for (const match of log.matchAll(BEGIN)) {
    const next = parts.length + Number(from >= 0) + 1
    if (Number(match[1]) !== next || Number(match[2]) !== steps.length || match[3] !== steps[next - 1]?.name) continue
    if (from >= 0) parts.push(log.slice(from, match.index))
    from = match.index + match[0].length
  }
  return from < 0 ? parts : [...parts, log.slice(from)]
}

/** The last such mark is the step's: what comes before it, it printed itself. */
function endOf(part: string, number: number, count: number): { readonly text: string; readonly exitCode?: number; readonly seconds?: number } {
  const match = [...`\n${part}`.matchAll(END)].findLast(([, of, all]) => Number(of) === number && Number(all) === count)
  if (match === undefined) return { text: part }
  const [, , , code, seconds] = match
  return { text: part.slice(0, Math.max(0, match.index - 1)), exitCode: Number(code), ...(seconds === undefined ? {} : { seconds: Number(seconds) }) }
}
