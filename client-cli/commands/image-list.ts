import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { formatBytes, formatDuration, formatTable } from '../output/text.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.addHelpText('after', examples('talko image list', 'talko image list -o json'))
  run(async (context: Context) => {
    const { io } = context
    const { Home } = await import('../live/home.ts')
    const { listBook } = await import('../client/names.ts')
    const home = Home.at(context.home)
    const images = listBook(await home.names(), (await home.project(context.project)).project, 'image')
    if (io.json) io.outJson(images.map(({ name, root, bytes, atMs, source }) => ({ name, id: root, bytes, atMs, source })))
    else
      for (const line of formatTable(
        ['NAME', 'SIZE', 'IMPORTED', 'ID'],
        images.map(({ name, root, bytes, atMs }) => [name, formatBytes(bytes), `${formatDuration(io.nowMs - atMs)} ago`, root])
      ))
        io.out(line)
    return undefined
  })
}
