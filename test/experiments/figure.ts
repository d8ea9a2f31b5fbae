/** The experiment `local` on this machine: one node with its process executor, and tasks that sleep. */
import { idealMs, LOCAL, LOCAL_SLOTS, LOCAL_TASKS, type TimeFigure, type TimePoint } from '../../sim/experiments/figures.ts'
import { spanMs } from '../../sim/experiments/play.ts'
import { liveNetwork } from './live.ts'

export async function liveFigure(tell: (line: string) => void): Promise<TimeFigure> {
  const points: TimePoint[] = []
  for (const clients of LOCAL_SLOTS) {
    const ideal = idealMs(LOCAL_TASKS, clients, LOCAL.taskMs)
    tell(`${LOCAL_TASKS} tasks on ${clients} slots, ${ideal / 1000} s at best`)
    const network = await liveNetwork(1, clients)
    try {
      const runMs = Array.from({ length: LOCAL_TASKS }, () => LOCAL.taskMs)
      const tasks = await network.run({ quorum: 1, submissions: [{ atMs: 0, runMs }] })
      points.push({ clients, tasks: tasks.filter(({ ready }) => ready).length, ms: spanMs(tasks), idealMs: ideal })
    } finally {
      await network.close()
    }
  }
  return { kind: 'time', ...LOCAL, title: `${LOCAL.title}: live, with real processes`, points }
}
