/** A long line, for kernels that cannot delay packets: `delay-line.ts PORT TARGET MS` carries every connection to TARGET (`address:port`), what either side says arriving MS later. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Bytes on the way in one direction before the sender has to wait: more than 200 ms of a fast line. */
const ON_THE_WAY_MAX = 8 * 1024 * 1024

const [port, target, ms] = process.argv.slice(2)
const [address, targetPort] = (target ?? '').split(':')
if (port === undefined || address === undefined || targetPort === undefined || ms === undefined) throw new Error('which port, target and delay?')

function carry(from: Socket, to: Socket): void {
  let onTheWay = 0
  from.on('data', (data) => {
    onTheWay += data.length
    if (onTheWay > ON_THE_WAY_MAX) from.pause()
    setTimeout(() => {
      onTheWay -= data.length
      if (!to.destroyed) to.write(data)
      from.resume()
    }, Number(ms))
  })
  from.on('end', () => setTimeout(() => to.end(), Number(ms)))
  from.on('error', () => to.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), Number(ms)))
}

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ host: address, port: Number(targetPort), allowHalfOpen: true })
  near.setNoDelay()
  far.setNoDelay()
  carry(near, far)
  carry(far, near)
})
server.listen(Number(port))
await once(server, 'listening')
console.log('ready')
