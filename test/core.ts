/**
 * What the verbs of `features/` work on, for tests: a real database with the real migrations in a
 * folder of its own, a configuration as `loadConfig` makes it, a clock that the test moves, a
 * resolver that asks a DNS server in this process. Everything ends with the test.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { createCertificates } from '../src/config/certificates/watch.ts'
import { createKeyring } from '../src/config/keyring.ts'
import { loadConfig } from '../src/config/load.ts'
import { createCounters } from '../src/counters.ts'
import { makeKeys } from '../src/features/accounts/keys.ts'
import { insertProject } from '../src/features/accounts/projects.ts'
import { insertUser } from '../src/features/accounts/users.ts'
import type { CommandCore } from '../src/features/core.ts'
import { createDirectory } from '../src/features/directory.ts'
import { insertDomain } from '../src/features/domains/add.ts'
import { type DomainKeys, makeDomainKeys } from '../src/features/domains/keys.ts'
import { createQueueNotifier } from '../src/features/messages/queue/notifier.ts'
import { createNotifier } from '../src/features/notifier.ts'
import { createSharedRuns } from '../src/features/shared-runs.ts'
import { createVerifier } from '../src/features/verification/verifier.ts'
import { createHealth } from '../src/health.ts'
import { silentLog } from '../src/log.ts'
import { type ParsedAddress, parseAddress } from '../src/mail/address/address.ts'
import { createResolver } from '../src/outbound/dns/resolver.ts'
import { createDnsWatch } from '../src/outbound/dns/watch.ts'
import { createPublicFetch } from '../src/outbound/http/public-fetch.ts'
import { roomyDisk } from '../src/store/files/disk.ts'
import { openStore } from '../src/store/store.ts'
import { type FakeDns, startDnsServer } from './fakes/dns-server.ts'

export type TestCore = CommandCore & {
  /** What `now` answers. */
  clock: { now: number }
  dns: FakeDns
}

export type TestCoreOptions = {
  /** How often the files of certificates are looked at. */
  certificateEveryMs?: number
  /** As the environment has them: `{ PILLARBOX_DELIVERY__MODE: 'direct' }`. */
  settings?: Record<string, string>
}

export type TestProject = { id: string; ownerEmail: string; secret: string; public: string }

export const START = Date.UTC(2026, 10, 21, 12)
export const HOSTNAME = 'mx.pillarbox.test'

export async function openTestCore(
  t: Pick<TestContext, 'after'>,
  { settings = {}, certificateEveryMs }: TestCoreOptions = {},
): Promise<TestCore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-core-'))
  const dns = await startDnsServer()
  const env = {
    PILLARBOX_DATA_DIR: folder,
    PILLARBOX_DELIVERY__HOSTNAME: HOSTNAME,
    PILLARBOX_DNS__SERVERS: JSON.stringify([dns.address]),
    ...settings,
  }
  const config = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
  const clock = { now: START }
  const now = () => clock.now
  const log = silentLog()
  const keyring = createKeyring('the secret of the tests')
  const store = await openStore({ path: config.database.file, log })
  const health = createHealth()
  const certificates = createCertificates({ config, health, log, now }, certificateEveryMs)
  t.after(certificates.stop)
  const figures = { health, counters: createCounters(), certificates, disk: { ...roomyDisk } }
  const { servers } = config.dns
  const watch = createDnsWatch({ dns: config.dns, now, log, health: figures.health })
  const resolver = createResolver({ servers, now, timeoutMs: 500, tries: 1, watch })
  const verifier = createVerifier({
    dnsServers: servers,
    dataDir: config.dataDir,
    now,
    log,
    watch,
    timeoutMs: 500,
  })
  t.after(async () => {
    watch.stop()
    verifier.stop()
    resolver.stop()
    await store.close()
    await dns.stop()
    await rm(folder, { recursive: true })
  })
  const directory = createDirectory({ store, keyring })
  const queueNotifier = createQueueNotifier()
  const claims = new Map()
  const inboundNotifier = createNotifier()
  const jobNotifier = createNotifier()
  const sharedRuns = createSharedRuns()
  const publicFetch = createPublicFetch({ resolver })
  const shared = {
    publicFetch,
    claims,
    queueNotifier,
    inboundNotifier,
    jobNotifier,
    sharedRuns,
    now,
    log,
    clock,
    dns,
  }
  return { config, keyring, store, directory, resolver, verifier, ...shared, ...figures }
}

let projectCount = 0

/** A project with an owner of its own. */
export async function addProject({ store, now }: TestCore, name = 'Shop'): Promise<TestProject> {
  const keys = makeKeys()
  projectCount += 1
  const ownerEmail = `owner${projectCount}@people.test`
  const at = now()
  const id = await store.write(async (tx) => {
    const user = { address: ownerEmail, passwordHash: '', isSandbox: false, at }
    const ownerId = await insertUser(tx, user)
    return insertProject(tx, { name, ownerId, keys, areKeysSandbox: false, at })
  })
  return { id, ownerEmail, secret: keys.secretKey, public: keys.publicKey }
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
  madeKeys ??= makeDomainKeys({ keyring: createKeyring('the secret of the tests') })
  return madeKeys
}
