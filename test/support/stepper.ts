/**
 * A program of so many steps that leaves a snapshot after each, goes on from the one it is given, and writes every step down
 * where a test can count them: who computed what. It steps on when the test lets it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Stepper {
  readonly command: readonly string[]
  /** Steps that were computed, in order: the node's name and the step. */
  steps(): readonly { readonly node: string; readonly step: number }[]
  /** It may go on to this step, and no further. */
  allow(step: number): void
}

/** Its files are named after `name` in `folder`. `then`: what it does when it was asked to end (TERM). */
export function stepper(folder: string, name: string, { steps, onTerm = '' }: { readonly steps: number; readonly onTerm?: string }): Stepper {
  const log = join(folder, `${name}.steps`)
  const gate = join(folder, `${name}.gate`)
  const script = `
${onTerm === '' ? '' : `trap '${onTerm}' TERM`}
node=$(basename "$(dirname "$(dirname "$HOME")")")
step=0
[ -n "$TALKO_RESUME" ] && step=$(cat "$TALKO_RESUME")
while [ $step -lt ${steps} ]; do
  while [ ! -e ${gate}.$((step + 1)) ]; do sleep 0.05; done
  step=$((step + 1))
  echo "$node $step" >> ${log}
  if [ -n "$TALKO_CHECKPOINT" ]; then
    echo $step > "$TALKO_CHECKPOINT/next" && mv "$TALKO_CHECKPOINT/next" "$TALKO_CHECKPOINT/$step"
  fi
done
echo "all $step steps" > result`
  return {
    command: ['sh', '-c', script],
    steps: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .trim()
            .split('\n')
            .map((line) => {
              const [node = '', step = ''] = line.split(' ')
              return { node, step: Number(step) }
            })
        : [],
    allow(step) {
      for (let at = 1; at <= step; at++) if (!existsSync(`${gate}.${at}`)) appendFileSync(`${gate}.${at}`, '')
    }
  }
}
