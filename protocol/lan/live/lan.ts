/** Asking and answering in the local network. All of it may fail: then there is nobody. */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import type { PeerIdString } from '../../ids.ts'
import { verifyRecord } from '../../record/record.ts'
import { isLanAsker, LAN_GROUP, LAN_PORT, lanAnswer, lanAsk, lanRecord } from '../messages.ts'

/** A packet may be lost: asked so often, so far apart. */
const ASKS = 3
const ASK_MS = 400
/** Answers in one second, to all. */
const ANSWERS_PER_SECOND = 50

/** Answers for a project until the answer is called. */
export function serveLan(project: PeerIdString, record: () => Uint8Array): () => void {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  let second = 0
  let answered = 0
  socket.on('error', () => undefined)
  socket.on('message', (ask, { address, port }) => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) answered = 0
    second = now
    if (answered >= ANSWERS_PER_SECOND || !isLanAsker(address, port)) return
    // Its record is signed for who asks for it alone.
    if (lanAnswer(ask, project, new Uint8Array(0)) === undefined) return
    answered += 1
    const answer = lanAnswer(ask, project, record())
    if (answer !== undefined) socket.send(answer, port, address, () => undefined)
  })
  socket.bind(LAN_PORT, () => {
    for (const address of interfaces()) quietly(() => socket.addMembership(LAN_GROUP, address))
  })
  socket.unref()
  return () => quietly(() => socket.close())
}

/** The record of a project that is in this network; undefined when nobody answers. Everybody there hears the question: what the project has not signed is no answer. */
export async function findOnLan(project: PeerIdString, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const id = new Uint8Array(randomBytes(16))
  const ask = lanAsk(project, id)
  const found = Promise.withResolvers<Uint8Array | undefined>()
  const stop = (): void => found.resolve(undefined)
  // One for each: a packet leaves some time after it was handed over, by the interface that its socket has then.
  const sockets = interfaces().map((address) => {
    const socket = createSocket({ type: 'udp4' })
    socket.on('error', () => undefined)
    socket.on('message', (answer) => {
      const record = lanRecord(answer, id)
      if (record !== undefined && isSigned(record, project)) found.resolve(record)
    })
    socket.bind(0, () => quietly(() => socket.setMulticastInterface(address)))
    return socket
  })
  let left = ASKS
  let timer: NodeJS.Timeout | undefined
  const again = (): void => {
    if (left-- === 0) {
      stop()
      return
    }
    for (const socket of sockets) quietly(() => socket.send(ask, LAN_PORT, LAN_GROUP, () => undefined))
    timer = setTimeout(again, ASK_MS)
  }
  signal.addEventListener('abort', stop, { once: true })
  timer = setTimeout(again, 0)
  try {
    return await found.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    for (const socket of sockets) quietly(() => socket.close())
  }
}

function isSigned(record: Uint8Array, project: PeerIdString): boolean {
  try {
    verifyRecord(record, { project, nowMs: Date.now() })
    return true
  } catch {
    return false
  }
}

/** IPv4 addresses of this machine that a network of its own may be behind. */
function interfaces(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address))
}

function quietly(act: () => void): void {
  try {
    act()
  } catch {
    return
  }
}
