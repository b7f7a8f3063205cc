/** Starts the measured process, and is its clients, its DNS and the receivers of its mail and webhooks. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openConnection } from '../../src/store/connection.ts'
import { childProgram } from '../child-program.ts'
import { startDnsServer } from '../fakes/dns-server.ts'
import { type Sink, startSink } from '../fakes/smtp-sink.ts'
import type { Orders, Ready } from './measured-app.ts'
import { straceArguments } from './system-calls.ts'
import { threadClock } from './virtual-time.ts'

export const SECRET = 'the secret of the budgets, long enough for all'

/**
 * No optimizing compiler, whose time is not ours to choose, and no collection while bytes are counted: what
 * is allocated is the difference of two sizes of the heap.
 */
const FLAGS = [
  ...['--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'],
  ...['--single-threaded', '--no-opt', '--no-maglev', '--no-sparkplug', '--no-regexp-tier-up'],
  ...['--no-flush-bytecode', '--no-lazy-feedback-allocation'],
  ...['--import', threadClock],
]

/** For what follows from a group: every follower and every log has written by then. */
const SPAN_MS = 2_000

export type Request = {
  method?: string
  path: string
  /** Of a project; absent for the public. */
  secret?: string
  body?: unknown
  headers?: Record<string, string>
}
export type Answer = { status: number; body: string }

export type Server = Orders & {
  projects: Record<'shop' | 'list' | 'flow' | 'hook', { id: string; secret: string }>
  sink: Sink
  /** Webhooks that were answered. */
  hooked(): number
  hookUrl: string
  ask(request: Request): Promise<Answer>
  /** Asks all at once, in one group of writes, and waits until what follows from them is done. */
  together(requests: readonly Request[]): Promise<Answer[]>
  /** Changes the database as a command beside the server does. */
  change(script: string): void
  close(): Promise<void>
}

/** `trace`: a file for what `strace` sees (`system-calls.ts`). */
export async function startServer(trace?: string): Promise<Server> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-budgets-'))
  const dns = await startDnsServer({
    'live.test': { MX: [[10, 'mx.live.test']] },
    'gone.test': { MX: [[10, 'mx.live.test']] },
    'mx.live.test': { A: ['127.0.0.1'] },
  })
  const sink = await startSink({
    respond: ({ verb, line }) =>
      verb === 'RCPT' && line.includes('@gone.test') ? '550 5.1.1 No such user' : undefined,
  })
  const hook = await startHook()
  const child = fork(childProgram('test/budgets/server-child.ts'), {
    cwd: folder,
    execArgv: FLAGS,
    ...(trace !== undefined && {
      execPath: 'strace',
      execArgv: [...straceArguments(trace), process.execPath, ...FLAGS],
    }),
    env: {
      PATH: process.env.PATH,
      ...(process.env.TEST_PROGRAM !== undefined && { TEST_PROGRAM: process.env.TEST_PROGRAM }),
      ...{ TMPDIR: tmpdir(), NODE_NO_WARNINGS: '1', TZ: 'UTC', UV_THREADPOOL_SIZE: '1' },
      PILLARBOX_SECRET: SECRET,
      PILLARBOX_DATA_DIR: folder,
      PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
      PILLARBOX_DELIVERY__PORT: String(sink.port),
      PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
      PILLARBOX_DNS__SERVERS: JSON.stringify([dns.address]),
      PILLARBOX_LIMITS__API_REQUESTS_PER_MINUTE: '0',
      PILLARBOX_WEBHOOKS__ALLOW_PRIVATE_NETWORKS: 'true',
      PILLARBOX_LIMITS__MIN_FREE_BYTES: '0',
      PILLARBOX_SECURITY__AUTO_DISABLE: 'false',
    },
  })
  const { ready, orders } = obeying(child)
  const { url, projects } = await ready
  const agent = new Agent({ keepAlive: true })
  const [shop, list, flow, hooked] = projects
  if (!shop || !list || !flow || !hooked) throw new Error('four projects')
  const beside = openConnection({ path: path.join(folder, 'pillarbox.db'), busyTimeoutMs: 5_000 })

  async function together(requests: readonly Request[]): Promise<Answer[]> {
    const before = await orders.requests()
    await orders.closeGate()
    const answers = requests.map((each) => ask(url, agent, each))
    await orders.untilRequests(before + requests.length)
    await orders.advance(SPAN_MS)
    const answered = await Promise.all(answers)
    const refused = answered.find(({ status }) => status >= 400)
    if (refused !== undefined) throw new Error(`${refused.status} ${refused.body}`)
    return answered
  }

  return {
    ...orders,
    projects: { shop, list, flow, hook: hooked },
    sink,
    hooked: hook.count,
    hookUrl: hook.url,
    ask: (asked) => ask(url, agent, asked),
    together,
    change: (script) => beside.script(script),
    async close() {
      agent.destroy()
      beside.close()
      await orders.stop()
      child.disconnect()
      child.kill('SIGKILL')
      await Promise.all([sink.stop(), dns.stop(), hook.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function obeying(child: ChildProcess): { ready: Promise<Ready>; orders: Orders } {
  const waiting = new Map<number, PromiseWithResolvers<never>>()
  let last = 0
  const wait = (id: number) => {
    const answer = Promise.withResolvers<never>()
    waiting.set(id, answer)
    return answer.promise
  }
  const ready: Promise<Ready> = wait(0)
  child.on('message', ({ id, result, error }: { id: number; result: never; error?: string }) => {
    const answer = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) answer?.resolve(result)
    else answer?.reject(new Error(error))
  })
  child.once('exit', (status, signal) => {
    for (const { reject } of waiting.values()) {
      reject(new Error(`the measured process ended: ${status ?? signal}`))
    }
  })
  const orders = new Proxy({} as Orders, {
    get:
      (_, order) =>
      (...args: unknown[]) => {
        last += 1
        child.send({ id: last, order, args })
        return wait(last)
      },
  })
  const names = ['advance', 'untilRequests', 'begin', 'end', 'settle', 'closeGate'] as const
  const more = ['requests', 'nextWindow', 'query', 'stop'] as const
  const all = [...names, ...more].map((name) => [name, orders[name]])
  return { ready, orders: Object.fromEntries(all) as Orders }
}

function ask(url: string, agent: Agent, asked: Request): Promise<Answer> {
  const { method = asked.body === undefined ? 'GET' : 'POST', path: place, secret, body } = asked
  const content =
    body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const headers = {
    ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
    ...(content !== undefined && {
      'content-type': 'application/json',
      'content-length': content.length,
    }),
    ...asked.headers,
  }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(place, url), { method, agent, headers }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
    })
    sent.on('error', reject)
    sent.end(content)
  })
}

async function startHook() {
  let count = 0
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => {
      count += 1
      outgoing.end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    count: () => count,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
