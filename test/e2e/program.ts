/**
 * The whole program in this process: its HTTP listener, database, queue and delivery threads are
 * the real ones, and so are its commands; large queries run in the main thread; the DNS and the receivers of mail are fakes that every
 * test makes its own domains in.
 */
import assert from 'node:assert/strict'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, startApp } from '../../src/app.ts'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { prepareDataDir } from '../../src/config/secret.ts'
import { type OpenCore, openCore } from '../../src/core/open-core.ts'
import { insertDomain } from '../../src/features/mail/domains/domains.ts'
import { type DomainKeys, makeDomainKeys } from '../../src/features/mail/domains/keys.ts'
import { type DnsRecord, describeRecords } from '../../src/features/mail/domains/records.ts'
import {
  type EmailHistory,
  loadEmailHistory,
} from '../../src/features/mail/messages/explain/email-history.ts'
import { makeKeys } from '../../src/features/tenancy/accounts/projects/keys.ts'
import { insertProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { insertUser } from '../../src/features/tenancy/accounts/users/users.ts'
import { takeServeLock } from '../../src/store/files/serve-lock.ts'
import { createInlineThreads } from '../../src/store/read/thread.ts'
import { copyDatabase } from '../database-template.ts'
import { type FakeDns, startDnsServer } from '../fakes/dns-server.ts'
import { type Sink, type SinkOptions, startSink } from '../fakes/smtp-sink.ts'
import { type Outcome, runAt } from '../fakes/terminal.ts'
import { PATIENCE_MS } from '../patience.ts'

type Answer = { status: number; body: unknown }
type EmailState = EmailHistory['email']['state']

export type Program = {
  dns: FakeDns
  project: { id: string; secret: string }
  /** The DNS records that the sender domain `example.test` needs. */
  records: DnsRecord[]
  /** Beside the server, as a command opens it. */
  core: OpenCore
  /** Of the API; another one after each start. */
  url(): string
  /** Where it listens for mail from outside. */
  inboundPort(): number
  /** The ports of `submission.listen`, as bound. */
  submissionPorts(): number[]
  /** A domain whose MX is a new sink. */
  receive(domain: string, options?: SinkOptions): Promise<Sink>
  call(method: string, route: string, body?: unknown): Promise<Answer>
  /** Sends with a sender and texts of its own where the request has none; the emails' ids. */
  send(request: Record<string, unknown>): Promise<string[]>
  /** Runs a command to its end. */
  run(...argv: string[]): Promise<Outcome>
  /** The JSON that it prints. */
  command(...argv: string[]): Promise<unknown>
  /** Resolves when the email has come to one of these states. */
  untilState(id: string, ...states: EmailState[]): Promise<EmailHistory>
  /** With other `settings` than before, if there are some. */
  start(settings?: Record<string, string>): Promise<void>
  stop(): Promise<void>
  /** Stops, and removes everything. */
  close(): Promise<void>
  /** As `close`; `folder` gets what is on its disk, for the starts of others. */
  closeInto(folder: string): Promise<Origin>
}

/** What a program has left. */
export type Origin = Pick<Program, 'project' | 'records'> & { folder: string }

/**
 * Started, but for one that has an origin; `settings` as the environment has them, over those of tests.
 * The log is silent if absent.
 */
export async function startProgram(
  settings: Record<string, string> = {},
  log = silentLog(),
  origin?: Origin,
): Promise<Program> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-e2e-'))
  const dns = await startDnsServer()
  const sinks = [await startSink({ host: '127.0.0.2' })]
  const port = sinks[0]?.port ?? 0
  let lastHost = 2
  const env = {
    PILLARBOX_DATA_DIR: folder,
    PILLARBOX_SECRET: 'one secret for all tests of a process',
    PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
    PILLARBOX_DELIVERY__MODE: 'direct',
    PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
    PILLARBOX_DELIVERY__PORT: String(port),
    PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
    PILLARBOX_DNS__SERVERS: JSON.stringify([dns.address]),
    PILLARBOX_LIMITS__API_REQUESTS_PER_MINUTE: '0',
    ...settings,
  }
  const load = (more: Record<string, string> = {}) =>
    loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env: { ...env, ...more } })
  const config = load()
  // A server has run here before: the lock's file is there, and who has the database open is welcome.
  await prepareDataDir(config)
  if (origin === undefined) await copyDatabase(config.database.file)
  else await cp(origin.folder, folder, { recursive: true })
  const lock = await takeServeLock(config.database.file, { log })
  lock.release()
  const core = await openCore(config, { log })
  const { project, records } = origin ?? (await makeProject(core))
  let app: App | undefined

  async function start(more?: Record<string, string>): Promise<void> {
    app = await startApp(load(more), { log, createThread: createInlineThreads() })
  }

  async function stop(): Promise<void> {
    const running = app
    app = undefined
    await running?.stop()
  }

  const url = () => app?.ready.http ?? ''
  const inboundPort = () => Number(app?.ready.inbound?.[0]?.split(':').at(-1))
  const submissionPorts = () =>
    (app?.ready.submission ?? []).map((place) => Number(place.slice(place.lastIndexOf(':') + 1)))

  async function receive(domain: string, options: SinkOptions = {}): Promise<Sink> {
    const host = `127.0.0.${++lastHost}`
    const sink = await startSink({ host, port, ...options })
    sinks.push(sink)
    dns.set(domain, { MX: [[10, `mx.${domain}`]] })
    dns.set(`mx.${domain}`, { A: [host] })
    return sink
  }

  async function call(method: string, route: string, body?: unknown): Promise<Answer> {
    const response = await fetch(new URL(route, url()), {
      method,
      headers: {
        authorization: `Bearer ${project.secret}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }

  async function send(request: Record<string, unknown>): Promise<string[]> {
    const texts = 'template' in request ? {} : { subject: 'Hello', body: '<p>Hello</p>' }
    const answer = await call('POST', '/v1/send', {
      from: 'shop@example.test',
      ...texts,
      ...request,
    })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const { data } = answer.body as { data: { emails: { email: string }[] } }
    return data.emails.map(({ email }) => email)
  }

  const run = (...argv: string[]) => untilAnswered(() => runAt({ cwd: folder, env }, ...argv))

  async function command(...argv: string[]): Promise<unknown> {
    const { status, out, err } = await run(...argv, '--json')
    assert.equal(status, 0, err)
    return JSON.parse(out)
  }

  async function closeInto(kept: string): Promise<Origin> {
    await stop()
    await core.close()
    await cp(folder, kept, { recursive: true })
    await remove()
    return { project, records, folder: kept }
  }

  async function close(): Promise<void> {
    await stop()
    await core.close()
    await remove()
  }

  async function remove(): Promise<void> {
    await Promise.all([dns.stop(), ...sinks.map((sink) => sink.stop())])
    await rm(folder, { recursive: true })
  }

  if (origin === undefined) await start()
  return {
    dns,
    project,
    records,
    core,
    url,
    inboundPort,
    submissionPorts,
    receive,
    call,
    send,
    run,
    command,
    untilState: (id, ...states) => untilState(core, id, states),
    start,
    stop,
    close,
    closeInto,
  }
}

/** The first and the longest pause between two questions. */
const PAUSES_MS = [4, 40] as const

/** Asks until there is an answer, less and less often: questions take the processor from the answer. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const [first, longest] = PAUSES_MS
  const giveUpAt = performance.now() + PATIENCE_MS
  for (let pauseMs: number = first; ; pauseMs = Math.min(longest, pauseMs * 1.5)) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > giveUpAt) assert.fail('it never came')
    await sleep(pauseMs)
  }
}

/**
 * Runs a command until its server answers: it waits for two seconds, and on a busy machine a server that
 * is well needs longer.
 */
export function untilAnswered(run: () => Promise<Outcome>): Promise<Outcome> {
  const silence = /[Tt]he server (?:did not answer within 2 s|does not answer)/
  return eventually(async () => {
    const outcome = await run()
    return silence.test(outcome.out + outcome.err) ? undefined : outcome
  })
}

async function untilState(core: OpenCore, id: string, states: EmailState[]): Promise<EmailHistory> {
  let last: EmailHistory | undefined
  try {
    return await eventually(async () => {
      last = await loadEmailHistory(core, id)
      return states.includes(last.email.state) ? last : undefined
    })
  } catch (error) {
    throw new Error(`not ${states.join(' or ')}: ${JSON.stringify(last)}`, { cause: error })
  }
}

/** Made once: an RSA key takes its time, and all programs here have the same secret. */
let madeKeys: Promise<DomainKeys> | undefined

async function makeProject(core: OpenCore) {
  const keys = makeKeys()
  madeKeys ??= makeDomainKeys(core)
  const domainKeys = await madeKeys
  const at = core.now()
  return core.store.write(async (tx) => {
    const owner = {
      address: 'owner@people.test',
      passwordHash: '',
      isSandbox: false,
      isProven: true,
      at,
    }
    const ownerId = await insertUser(tx, owner)
    const projectId = await insertProject(tx, {
      ...{ name: 'Shop', ownerId, keys, areKeysSandbox: false, at },
    })
    const domain = await insertDomain(tx, {
      ...{ projectId, domain: 'example.test', keys: domainKeys, isTrusted: true, at },
    })
    return {
      project: { id: projectId, secret: keys.secretKey },
      records: describeRecords(domain, core.config.delivery.hostname),
    }
  })
}
