/**
 * A core for tests, as `openCore` makes it: a real database in a folder of its own, a configuration
 * of `loadConfig`, a clock that the test moves, a resolver that asks a DNS server in this process.
 * Nothing is delivered: a test that needs outbound gives its own part. Everything ends with the test.
 */
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { MINUTE_MS } from '../src/base/clock.ts'
import { silentLog } from '../src/base/log.ts'
import type { Config } from '../src/config/config.ts'
import { createKeyring } from '../src/config/keyring.ts'
import { loadConfig } from '../src/config/load.ts'
import type { Core } from '../src/core/core.ts'
import { openCore } from '../src/core/open-core.ts'
import { insertDomain } from '../src/features/mail/domains/domains.ts'
import { type DomainKeys, makeDomainKeys } from '../src/features/mail/domains/keys.ts'
import {
  createFuse,
  createKnownDomains,
} from '../src/features/mail/messages/outcome/suppression-guards.ts'
import { createLanes } from '../src/features/mail/messages/queue/lanes.ts'
import { createThrottle } from '../src/features/mail/messages/queue/throttle.ts'
import { startHitWriter } from '../src/features/mail/tracking/hit-writer.ts'
import { createArrivals } from '../src/features/operation/doctor/arrivals.ts'
import type { Doctor } from '../src/features/operation/doctor/doctor.ts'
import { makeKeys } from '../src/features/tenancy/accounts/projects/keys.ts'
import { insertProject } from '../src/features/tenancy/accounts/projects/projects.ts'
import { insertUser } from '../src/features/tenancy/accounts/users/users.ts'
import { type ParsedAddress, parseAddress } from '../src/formats/address/address.ts'
import { buildMessage, renderMessage } from '../src/formats/compose/build-message.ts'
import { signDkim } from '../src/formats/compose/dkim.ts'
import { findInMessage } from '../src/formats/compose/message-findings.ts'
import { markdownToHtml } from '../src/formats/html/markdown-to-html.ts'
import { createTemplateCache } from '../src/formats/precomposed/template-cache.ts'
import { compileTemplate, renderTemplate } from '../src/formats/template/template.ts'
import { createWebhookClient } from '../src/outbound/http/clients.ts'
import { unwatchedDisk } from '../src/store/files/disk.ts'
import type { createThread } from '../src/store/read/thread.ts'
import { createInlineThreads } from '../src/store/read/thread.ts'
import { copyDatabase } from './database-template.ts'
import { type FakeDns, startDnsServer } from './fakes/dns-server.ts'
import { testTracker } from './formats/tracker.ts'
import { takeDatabase } from './kept-database.ts'
import { listMisplaced, unlessClosed } from './misplaced-emails.ts'

export type TestCore = Core & {
  /** The answer of `now`. */
  clock: { now: number }
  dns: FakeDns
}

export type TestCoreOptions = {
  /** As in the environment: `{ PILLARBOX_DELIVERY__MODE: 'direct' }`. */
  settings?: Record<string, string>
  /** Changes the loaded configuration beyond what settings can say. */
  configure?: (config: Config) => Config
  /** Parts in place of those of `openCore`. */
  parts?: Partial<Core>
  now?: () => number
  certificatePollMs?: number
  /** Whether to look for changes of other processes, and for lost files. */
  watch?: boolean
  /** Whether the database has no unused pages: it was not used before. */
  isNew?: boolean
  /** Makes the threads for scans from those that it would have. */
  threads?: (own: typeof createThread) => typeof createThread
}

export type TestProject = {
  id: string
  ownerId: string
  ownerAddress: string
  secret: string
  public: string
}

/** On a busy machine a request takes long. What is late would be tried again, by a clock that stands still. */
const REQUEST_MS = 10 * MINUTE_MS

export const START = Date.UTC(2026, 10, 21, 12)
export const HOSTNAME = 'mx.pillarbox.test'
export const SECRET = 'the secret of the tests, long enough for all'

export async function openTestCore(
  t: Pick<TestContext, 'after'>,
  {
    settings = {},
    configure,
    parts,
    certificatePollMs,
    watch = false,
    isNew = false,
    threads = (own) => own,
    ...options
  }: TestCoreOptions = {},
): Promise<TestCore> {
  const hasOwnSecret = settings.PILLARBOX_SECRET !== undefined
  const database = await takeDatabase({ isAlone: isNew || watch || hasOwnSecret })
  const { folder, connect } = database
  const dns = await startDnsServer()
  const env = {
    PILLARBOX_SECRET: SECRET,
    PILLARBOX_DATA_DIR: folder,
    PILLARBOX_DELIVERY__HOSTNAME: HOSTNAME,
    PILLARBOX_DNS__SERVERS: JSON.stringify([dns.address]),
    ...settings,
  }
  const loaded = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
  const config = configure?.(loaded) ?? loaded
  if (!existsSync(config.database.file)) await copyDatabase(config.database.file)
  const clock = { now: START }
  const { now = () => clock.now } = options
  const log = silentLog()
  const forTests = {
    ...{ dnsTimeoutMs: 30_000, dnsTries: 1, certificatePollMs },
    createThread: threads(createInlineThreads(connect)),
  }
  const opened = await openCore(config, { log, now, watch, connect, ...forTests })
  database.opened()
  const hits = startHitWriter(opened, { groupMs: 0 })
  const { resolver } = opened
  const webhookClient = createWebhookClient({ resolver, config, timeoutMs: REQUEST_MS })
  t.after(async () => {
    await hits.stop()
    webhookClient.closeIdle()
    const misplaced = await listMisplaced(opened.store).catch(unlessClosed)
    database.keepOpen()
    await opened.close()
    await dns.stop()
    await database.giveBack()
    assert.deepEqual(misplaced, [])
  })
  const delivering = {
    outbound: createIdleOutbound(),
    throttle: createThrottle(0, now),
    lanes: createLanes(),
    fuse: createFuse(opened),
    knownDomains: createKnownDomains(),
    hits,
    doctor: createIdleDoctor(now),
  }
  return {
    ...opened,
    disk: { ...unwatchedDisk },
    ...delivering,
    webhookClient,
    ...parts,
    clock,
    dns,
  }
}

/** An HTTP client that makes no requests. */
export const refuseFetch: Core['publicFetch'] = async () => ({
  ok: false,
  isRefused: true,
  error: 'this test makes no requests',
})

/** Answers every webhook with 200 and sends none. */
export const idleWebhookClient: Core['webhookClient'] = {
  request: async ({ url }) => {
    const answer = { status: 200, headers: {}, body: Buffer.from('ok'), isCut: false }
    return { kind: 'response', url, ...answer }
  },
  mayRequest: () => true,
  closeIdle: () => undefined,
}

/** The status of a site that nothing restricts. */
export const OPEN_SITE = {
  ...{ site: 'open.test', connections: 0, limited: null, maxConnections: 5, inFlight: 0 },
  ...{ messagesPerMinute: null, rateUntil: null, restrictedSince: null, blockedUntil: null },
  cause: null,
} satisfies ReturnType<Core['outbound']['siteStatus']>

/** Has nothing in flight and takes nothing. Messages are composed in this thread. */
function createIdleOutbound(): Core['outbound'] {
  const cache = createTemplateCache(testTracker())
  const preview: Core['outbound']['preview'] = async (sources) =>
    sources.map((source) => renderMessage(source, cache))
  const inspect: Core['outbound']['inspect'] = async (sources, rules) =>
    (await preview(sources)).map(
      (message) => message && { faults: message.faults, findings: findInMessage(message, rules) },
    )
  const sign: Core['outbound']['sign'] = async ({ source, keys }) => {
    const { octets } = buildMessage(source, cache)
    const parsed = keys.map((key) => ({ ...key, privateKey: createPrivateKey(key.privateKey) }))
    return Buffer.from(signDkim(octets, parsed, source.createdAt) + octets, 'latin1')
  }
  const renderTexts: Core['outbound']['renderTexts'] = async ({ templates, variables, at }) =>
    templates.map(
      ({ source, format }) =>
        renderTemplate(compileTemplate(source, format), variables, { at }).text,
    )
  const convertMarkdown = async (source: string) => markdownToHtml(source)
  const state = {
    siteOf: (domain: string) => domain,
    knownSiteOf: () => undefined,
    knownSites: () => [],
    capacity: () => 1_000,
    projectCapacity: () => 1_000,
    lacksConnection: () => false,
    progressOf: async () => undefined,
    inFlight: () => 0,
    threads: () => ({ running: 0, busy: 0, waiting: 0 }),
    restrictionOf: () => null,
    sites: () => [],
    siteStatus: (site: string) => ({ ...OPEN_SITE, site }),
  }
  return {
    preview,
    inspect,
    sign,
    renderTexts,
    convertMarkdown,
    ...state,
  } as unknown as Core['outbound']
}

/** Finds everything well and connects to nothing. */
function createIdleDoctor(now: () => number): Doctor {
  const checks = [
    {
      id: 'wal' as const,
      status: 'ok' as const,
      evidence: 'the write-ahead log has 0 MB',
      fix: null,
    },
  ]
  const run = () => ({ startedAt: now(), finishedAt: now(), checks })
  return {
    arrivals: createArrivals(),
    last: () => undefined,
    run: async () => run(),
    runSince: run,
    start: () => undefined,
    stop: () => undefined,
  }
}

let projectCount = 0

/** A project with an owner of its own. */
export async function addProject({ store, now }: TestCore, name = 'Shop'): Promise<TestProject> {
  const keys = makeKeys()
  projectCount += 1
  const ownerAddress = `owner${projectCount}@people.test`
  const at = now()
  const { id, ownerId } = await store.write(async (tx) => {
    const user = { address: ownerAddress, passwordHash: '', isSandbox: false, isProven: true, at }
    const ownerId = await insertUser(tx, user)
    const project = { name, ownerId, keys, areKeysSandbox: false, at }
    return { id: await insertProject(tx, project), ownerId }
  })
  return { id, ownerId, ownerAddress, secret: keys.secretKey, public: keys.publicKey }
}

/** A domain that the project may send from. Its keys are those of all such domains. */
export async function trustDomain(
  { store, now }: TestCore,
  projectId: string,
  domain: string,
): Promise<string> {
  const keys = await testKeys()
  const row = await store.write((tx) =>
    insertDomain(tx, { projectId, domain, keys, isTrusted: true, at: now() }),
  )
  return row.id
}

export function address(text: string): ParsedAddress {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new TypeError(`not an address: ${text}`)
  return parsed
}

let madeKeys: Promise<DomainKeys> | undefined

/** Sealed by the keyring of every core; made once, for an RSA key takes its time. */
function testKeys(): Promise<DomainKeys> {
  madeKeys ??= makeDomainKeys({ keyring: createKeyring(SECRET) })
  return madeKeys
}
