import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, Server, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createCounters } from '../../src/base/counters.ts'
import { createChallenges } from '../../src/features/operation/acme/challenges.ts'
import { startChallengeListeners } from '../../src/http/server/challenge-listener.ts'
import { readSources } from '../architecture-rules.ts'
import { type Program, startProgram } from './program.ts'

/** More than any listener takes from one address, but for the sink of the sandbox. */
const CROWD = 520
/** Fewer than wait to be accepted at once. */
const WAVE = 130
const PIPELINED = 20_000
/** The input that Node reads ahead, and what is parsed before a connection is left. */
const MAX_READ_BYTES = 512 * 1024

/** A port that the program listens on, and its side of the connections. */
type Listener = {
  server: Server
  port: number
  isHttp: boolean
  /** By the client's port, which a later client may have again. */
  sockets: Map<number, Socket>
  /** How many connections it has had. */
  count(): number
}

let program: Program
let challenges: Awaited<ReturnType<typeof startChallengeListeners>>
let listeners: Listener[] = []
const dialed = new Set<Socket>()

/** All servers that `act` lets listen. */
async function listenersOf(act: () => Promise<void>): Promise<Listener[]> {
  const found: Listener[] = []
  const { listen } = Server.prototype
  Server.prototype.listen = function (this: Server, ...args: Parameters<typeof listen>) {
    const sockets = new Map<number, Socket>()
    let count = 0
    this.on('connection', (socket: Socket) => {
      count += 1
      sockets.set(socket.remotePort ?? 0, socket)
    })
    const isHttp = this instanceof HttpServer
    found.push({ server: this, port: 0, isHttp, sockets, count: () => count })
    return listen.apply(this, args)
  } as typeof listen
  await act()
  Server.prototype.listen = listen
  return found
    .filter(({ server }) => server.listening)
    .map((each) => ({ ...each, port: (each.server.address() as AddressInfo).port }))
}

function dial({ port }: Listener): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  dialed.add(socket)
  return socket
}

/** The server's side of the client's connection. */
async function acceptedOf({ sockets }: Listener, client: Socket): Promise<Socket> {
  await once(client, 'connect')
  const { localPort = 0 } = client
  while (!sockets.has(localPort)) await setImmediate()
  return sockets.get(localPort) as Socket
}

/** Lets the loop turn until `isDone`, or until nothing has changed for long. */
async function untilQuiet(read: () => unknown, isDone: () => boolean): Promise<void> {
  let last = read()
  for (let quiet = 0; quiet < 2_000 && !isDone(); quiet += 1) {
    await setImmediate()
    if (read() === last) continue
    last = read()
    quiet = 0
  }
}

before(async () => {
  const acmeChallenges = createChallenges()
  program = await startProgram({
    ...{ PILLARBOX_DELIVERY__MODE: 'sandbox', PILLARBOX_INBOUND__LISTEN: '127.0.0.1:0' },
    ...{ PILLARBOX_SUBMISSION__LISTEN: '127.0.0.1:0' },
    PILLARBOX_HTTP__MAX_CONNECTIONS_PER_ADDRESS: '60',
  })
  await program.stop()
  listeners = await listenersOf(async () => {
    await program.start()
    challenges = await startChallengeListeners({
      ...{ acmeChallenges, counters: createCounters(), now: Date.now },
      config: {
        baseUrl: 'https://mail.example.test',
        acme: { listen: [{ host: '127.0.0.1', port: 0, isTls: false }] },
      } as never,
    })
  })
})

after(async () => {
  for (const socket of dialed) socket.destroy()
  await challenges.stop()
  await program.close()
})

describe('S36: every address that the program listens on', () => {
  it('is found: HTTP, challenges, mail from outside, submission, the sandbox', () => {
    assert.equal(listeners.filter(({ isHttp }) => isHttp).length, 2)
    assert.equal(listeners.filter(({ isHttp }) => !isHttp).length, 3)
  })

  it('stops reading from a client that takes no answers', async () => {
    for (const listener of listeners) {
      const client = dial(listener).pause()
      const accepted = await acceptedOf(listener, client)
      const line = listener.isHttp ? 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' : 'NOOP\r\n'
      client.write(line.repeat(PIPELINED))
      await untilQuiet(
        () => accepted.bytesRead,
        () => accepted.destroyed || accepted.bytesRead > MAX_READ_BYTES,
      )
      assert.ok(accepted.bytesRead <= MAX_READ_BYTES, `${listener.port}: ${accepted.bytesRead}`)
      assert.ok(accepted.writableLength <= MAX_READ_BYTES, `${accepted.writableLength}`)
      client.destroy()
    }
  })

  it('refuses a line without an end', async () => {
    for (const listener of listeners) {
      const client = dial(listener)
      let answer = ''
      client.on('data', (bytes: Buffer) => {
        answer += bytes.toString('latin1')
      })
      const accepted = await acceptedOf(listener, client)
      client.write('a'.repeat(4 * 1024 * 1024))
      await untilQuiet(
        () => accepted.bytesRead + answer.length,
        () => accepted.destroyed,
      )
      assert.match(answer, /^(HTTP\/1\.1 4|[45])\d\d /m, String(listener.port))
      client.destroy()
    }
  })

  it('takes a limited number of connections from one address', async () => {
    for (const listener of listeners) {
      const before = listener.count()
      const open = () => [...listener.sockets.values()].filter(({ destroyed }) => !destroyed).length
      const clients: Socket[] = []
      while (clients.length < CROWD) {
        const wave = Array.from({ length: WAVE }, () => dial(listener).resume())
        clients.push(...wave)
        const isSeen = ({ localPort = 0 }: Socket) => listener.sockets.has(localPort)
        while (!wave.every((each) => each.destroyed || isSeen(each))) await setImmediate()
      }
      await untilQuiet(listener.count, () => listener.count() - before === clients.length)
      await untilQuiet(open, () => open() <= 500)
      assert.equal(listener.count() - before, clients.length)
      assert.ok(open() <= 500, `${listener.port}: ${open()}`)
      for (const client of clients) client.destroy()
      await untilQuiet(open, () => open() === 0)
    }
  })

  it('has a time for each part of a request', () => {
    for (const { server } of listeners) {
      if (!(server instanceof HttpServer)) continue
      const { headersTimeout, requestTimeout, keepAliveTimeout } = server
      for (const limitMs of [headersTimeout, requestTimeout, keepAliveTimeout]) {
        assert.ok(limitMs > 0 && limitMs <= 120_000, String(limitMs))
      }
      assert.ok(headersTimeout <= 60_000)
    }
  })

  it('is made by one of the two files with the guards', () => {
    const makes =
      /\bcreate(?:Secure|TlsS|S)erver\b[^'`]*from 'node:(?:http|https|http2|net|tls)'|\b(?:SMTPServer|Server)\b(?=[^;]*?\} from '(?:smtp-server|node:)')/
    const files = [...readSources()].filter(([, text]) =>
      [...text.matchAll(/^import (?!type)[^;]*?from '[^']+'/gm)].some(([statement]) =>
        makes.test(statement.replace(/\btype \w+/g, '')),
      ),
    )
    assert.deepEqual(files.map(([file]) => file).sort(), [
      // Holds an address for a moment, and serves nothing.
      'config/certificates/late-opening.ts',
      'http/server/guarded-server.ts',
      'inbound/guarded-server.ts',
    ])
  })
})
