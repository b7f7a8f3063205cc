/**
 * `node scripts/trace/crossings.ts [ROOT]`: how many source files one send, one delivery, one bounce and one
 * step of a workflow cross, and how many layers a delivery has. The server runs in direct mode, with a DNS server
 * and a receiver of this process.
 *
 * A file is crossed when, in every run, a function of it is called more often than in each of several
 * idle times, so that timers count for nothing. The delivery is the second attempt, so that nothing of
 * the send is in it. Its layers are the files on the call stack when a delivery thread gets the task,
 * and when that thread writes MAIL.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startDnsServer } from '../../test/fakes/dns-server.ts'
import { failureReport } from '../../test/fakes/failure-report.ts'
import { startSink } from '../../test/fakes/smtp-sink.ts'
import type { Calls, Taken } from './preload.ts'

/** `step`: an event that starts a workflow, whose step sends an email. */
type Run = { send: Taken; delivery: Taken; bounce: Taken; step: Taken }

const RETRY_MS = 5_000
/** Long enough for what follows a 250 or a report to be on disk. */
const SETTLE_MS = 1_500
/** Together they are longer than a minute, the longest period of the timers that run without work. */
const IDLE_TIMES = 10
const RUNS = 2

const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..', '..'))
const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-trace-'))
const dns = await startDnsServer({
  'dest.test': { MX: [[10, 'mx.dest.test']] },
  'mx.dest.test': { A: ['127.0.0.9'] },
})
const deferred = new Set<string>()
const sink = await startSink({
  host: '127.0.0.9',
  respond: ({ verb, line }) => {
    if (verb !== 'RCPT' || !line.includes('later@') || deferred.has(line)) return undefined
    deferred.add(line)
    return '450 4.2.1 The mailbox is busy'
  },
})
const env = {
  ...process.env,
  PILLARBOX_DATA_DIR: folder,
  PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
  PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]',
  PILLARBOX_DELIVERY__MODE: 'direct',
  PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
  PILLARBOX_DELIVERY__PORT: String(sink.port),
  PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
  PILLARBOX_DELIVERY__RETRY_SCHEDULE: JSON.stringify([`${RETRY_MS}ms`]),
  PILLARBOX_DNS__SERVERS: JSON.stringify([dns.address]),
  PILLARBOX_LOG__LEVEL: 'fatal',
}
const main = path.join(root, 'src/main.ts')
const command = async (...argv: string[]): Promise<Record<string, unknown>> => {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...argv, '--json'], {
    cwd: root,
    env,
  })
  return JSON.parse(stdout)
}

await command('user', 'create', '--email', 'owner@example.test', '--password', 'a long password')
const project = await command(
  'project',
  'create',
  '--name',
  'Shop',
  '--owner',
  'owner@example.test',
)
const projectId = String(project.id)
const { records } = await command('domain', 'add', 'example.test', '--project', projectId)
for (const { type, name, value } of records as { type: string; name: string; value: string }[]) {
  if (type === 'TXT') dns.set(name, { TXT: [value] })
}
await command('domain', 'verify', 'example.test')
await command('queue', 'hold', '--domain', 'held.test')

const preload = path.join(import.meta.dirname, 'preload.ts')
const server = spawn(process.execPath, ['--import', preload, main, 'serve'], {
  cwd: root,
  env,
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
})
const ready = Promise.withResolvers<{ http: string; inbound: string[] }>()
createInterface({ input: server.stdout as NonNullable<typeof server.stdout> }).on(
  'line',
  (line) => {
    if (line.startsWith('{"event":"ready"')) ready.resolve(JSON.parse(line))
  },
)
server.once('exit', () => ready.reject(new Error('the server ended before it was ready')))
const { http, inbound } = await ready.promise

try {
  await measure()
} finally {
  server.kill('SIGTERM')
  await once(server, 'exit')
  await Promise.all([dns.stop(), sink.stop()])
  await rm(folder, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  // The first of each kind loads modules and fills caches.
  await send('later@dest.test', 'warm-up')
  await sleep(RETRY_MS + SETTLE_MS * 2)
  await report()
  await send('one@held.test', 'warm-up')
  await makeWorkflow()
  await track('warm-up@held.test')
  await sleep(SETTLE_MS)

  const idle: Calls = {}
  for (let count = 0; count < IDLE_TIMES; count += 1) {
    const { calls } = await traced(() => sleep(RETRY_MS))
    for (const [name, calledTimes] of Object.entries(calls)) {
      idle[name] = Math.max(idle[name] ?? 0, calledTimes)
    }
  }
  const runs: Run[] = []
  for (let count = 1; count <= RUNS; count += 1) runs.push(await traceRun(count))

  for (const kind of ['send', 'delivery', 'bounce', 'step'] as const) {
    const taken = runs.map((run) => run[kind])
    show(kind, taken, idle)
  }
  const stackOf = (kind: string) =>
    runs[0]?.delivery.handOvers.find((handOver) => handOver.kind === kind)?.files ?? []
  const layers = [...stackOf('to thread'), ...stackOf('to socket')]
  console.log(`layers of a delivery: ${layers.length}\n  ${layers.join('\n  ')}`)
}

async function traceRun(count: number): Promise<Run> {
  const sent = await traced(() => send(`run-${count}@held.test`, 'held'))
  await send(`run-${count}-later@dest.test`, 'traced')
  await sleep(SETTLE_MS)
  const delivered = await traced(() => sleep(RETRY_MS))
  // The thread that reads reports may have ended in the meantime.
  await report(sink.messages[0])
  await sleep(SETTLE_MS)
  const bounced = await traced(() => report())
  const stepped = await traced(() => track(`run-${count}@held.test`))
  return { send: sent, delivery: delivered, bounce: bounced, step: stepped }
}

async function traced(act: () => Promise<unknown>): Promise<Taken> {
  await take()
  await act()
  await sleep(SETTLE_MS)
  return take()
}

async function take(): Promise<Taken> {
  const answer = once(server, 'message')
  server.send('take')
  const threads = (await answer)[0] as Taken[]
  const calls: Calls = {}
  for (const thread of threads) {
    for (const [name, count] of Object.entries(thread.calls)) {
      calls[name] = (calls[name] ?? 0) + count
    }
  }
  return { calls, handOvers: threads.flatMap(({ handOvers }) => handOvers) }
}

/** The formats of `formats/` and the engine of `store/` are counted apart. */
function show(what: string, taken: readonly Taken[], idle: Calls): void {
  const names = Object.keys(taken[0]?.calls ?? {}).filter((name) =>
    taken.every(({ calls }) => (calls[name] ?? 0) > (idle[name] ?? 0)),
  )
  const files = [...new Set(names.map((name) => name.split(':')[0] ?? ''))].sort()
  const [formats, store] = ['formats/', 'store/'].map(
    (room) => files.filter((file) => file.startsWith(room)).length,
  )
  const rest = files.length - (formats ?? 0) - (store ?? 0)
  console.log(`files crossed by a ${what}: ${rest}, and ${formats} of formats/, ${store} of store/`)
  console.log(`  ${files.join('\n  ')}`)
}

/** Resolves when the email is accepted. */
async function send(to: string, subject: string): Promise<void> {
  await call('POST', '/v1/send', { to, from: 'shop@example.test', subject, body: '<p>Hello</p>' })
}

/** Resolves when the event is recorded. */
async function track(email: string): Promise<void> {
  await call('POST', '/v1/track', { event: 'signup', email })
}

/** A workflow that the event starts and that sends one email. */
async function makeWorkflow(): Promise<void> {
  const template = await call('POST', '/templates', {
    ...{ name: 'Welcome', subject: 'Welcome', body: '<p>Hello</p>' },
    ...{ from: 'shop@example.test', type: 'TRANSACTIONAL' },
  })
  const workflow = await call('POST', '/workflows', { name: 'Welcome', eventName: 'signup' })
  const place = `/workflows/${workflow.id}`
  await call('PUT', `${place}/graph`, {
    steps: [
      { id: 'trigger', type: 'TRIGGER', name: 'signup', config: { eventName: 'signup' } },
      { id: 'send', type: 'SEND_EMAIL', name: 'Welcome', templateId: idOf(template), config: {} },
    ],
    transitions: [{ fromStepId: 'trigger', toStepId: 'send' }],
  })
  await call('PATCH', place, { enabled: true })
}

/** The answer of the creation of a template has its record in an envelope. */
function idOf(answer: Record<string, unknown>): unknown {
  return answer.id ?? (answer.data as { id?: unknown } | undefined)?.id
}

async function call(
  method: string,
  place: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${http}${place}`, {
    method,
    headers: {
      authorization: `Bearer ${project.secret}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${place}: ${response.status} ${text}`)
  return text === '' ? {} : JSON.parse(text)
}

/** Brings a report of a permanent failure to the return path of a message. */
async function report(message = sink.messages.at(-1)): Promise<void> {
  if (message === undefined) throw new Error('no message was delivered')
  const [host = '', port] = (inbound[0] ?? '').split(':')
  const socket = createConnection(Number(port), host)
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]()
  const expect = async (code: string) => {
    for (;;) {
      const { value = '' } = await replies.next()
      if (value.startsWith(`${code} `)) return
      if (!value.startsWith(`${code}-`)) throw new Error(`expected ${code}, got ${value}`)
    }
  }
  const say = async (line: string, code: string) => {
    socket.write(`${line}\r\n`)
    await expect(code)
  }
  await expect('220')
  await say('EHLO mx.dest.test', '250')
  await say('MAIL FROM:<>', '250')
  await say(`RCPT TO:<${message.from}>`, '250')
  await say('DATA', '354')
  await say(`${failureReport(message.to[0] ?? '').join('\r\n')}\r\n.`, '250')
  socket.end('QUIT\r\n')
}
