/** The load of `bench:inbound`: sends bounces over persistent SMTP sessions, one at a time on each. */
import { connect, type Socket } from 'node:net'
import type { InboundLoadRequest, InboundLoadResult } from './inbound.ts'

type Replies = AsyncGenerator<string, undefined>

process.once('message', async (message) => {
  process.send?.(await run(message as InboundLoadRequest))
})

async function run(request: InboundLoadRequest): Promise<InboundLoadResult> {
  const latencies: number[] = []
  let next = 0
  let refused = 0
  const paceMs = request.perSecond === null ? 0 : (request.connections * 1_000) / request.perSecond
  const sessions = await Promise.all(
    Array.from({ length: request.connections }, () => greet(request)),
  )
  const startedAt = performance.now()

  async function worker({ socket, replies }: Session, index: number): Promise<void> {
    let dueAt = startedAt + (paceMs * index) / request.connections
    while (next < request.bounces.length) {
      const bounce = request.bounces[next++]
      if (bounce === undefined) return
      if (paceMs > 0) await pause(dueAt - performance.now())
      dueAt += paceMs
      await say(socket, replies, 'MAIL FROM:<>')
      await say(socket, replies, `RCPT TO:<${bounce.returnPath}>`)
      await say(socket, replies, 'DATA')
      const text = request.message.replaceAll('@@ID@@', bounce.id).replaceAll('@@TO@@', bounce.to)
      const sentAt = performance.now()
      const reply = await say(socket, replies, `${text}\r\n.`)
      latencies.push(performance.now() - sentAt)
      if (!reply.startsWith('250')) refused += 1
    }
  }

  await Promise.all(sessions.map(worker))
  const seconds = (performance.now() - startedAt) / 1_000
  for (const { socket } of sessions) socket.destroy()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0
  const accepted = latencies.length - refused
  return { accepted, refused, perSecond: accepted / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

type Session = { socket: Socket; replies: Replies }

async function greet({ port }: InboundLoadRequest): Promise<Session> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  const replies = readReplies(socket)
  await replies.next()
  await say(socket, replies, 'EHLO mx.example.org')
  return { socket, replies }
}

async function say(socket: Socket, replies: Replies, line: string): Promise<string> {
  socket.write(`${line}\r\n`)
  return (await replies.next()).value ?? ''
}

async function* readReplies(socket: Socket): Replies {
  let text = ''
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString('latin1')
    for (;;) {
      const [whole] = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text) ?? []
      if (whole === undefined) break
      text = text.slice(whole.length)
      yield whole
    }
  }
  return undefined
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}
