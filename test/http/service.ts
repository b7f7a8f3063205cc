/** A server with a real database and HTTP listener; delivery and DNS are not there. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createCertificates } from '../../src/config/certificates/watch.ts'
import type { Config } from '../../src/config/config.ts'
import { createKeyring } from '../../src/config/keyring.ts'
import { createCounters } from '../../src/counters.ts'
import { createProject } from '../../src/features/accounts/projects.ts'
import { createUser } from '../../src/features/accounts/users.ts'
import type { Core } from '../../src/features/core.ts'
import { createDirectory } from '../../src/features/directory.ts'
import { createFuse } from '../../src/features/messages/outcome/fuse.ts'
import { createKnownDomains } from '../../src/features/messages/outcome/known-domains.ts'
import { createQueueNotifier } from '../../src/features/messages/queue/notifier.ts'
import { createThrottle } from '../../src/features/messages/queue/throttle.ts'
import { createNotifier } from '../../src/features/notifier.ts'
import type { RequestLogEntry } from '../../src/features/requests/log.ts'
import { createSharedRuns } from '../../src/features/shared-runs.ts'
import { startHitLog } from '../../src/features/tracking/hit-log.ts'
import { createDomainLists } from '../../src/features/verification/domain-lists/domain-lists.ts'
import { createHealth } from '../../src/health.ts'
import { type HttpServer, startHttp } from '../../src/http/server/server.ts'
import { silentLog } from '../../src/log.ts'
import { roomyDisk } from '../../src/store/files/disk.ts'
import { openStore } from '../../src/store/store.ts'

export type TestProject = { id: string; secret: string; public: string }

export type Service = {
  url: string
  core: Core
  /** What the request log was told. */
  requests: RequestLogEntry[]
  makeProject(name: string): Promise<TestProject>
  stopHttp(graceMs: number): Promise<void>
  stop(): Promise<void>
}

export type ServiceOptions = {
  http?: Partial<Config['http']>
  limits?: Partial<Config['limits']>
  resolver?: Partial<Core['resolver']>
  publicFetch?: Core['publicFetch']
  topicArns?: readonly string[]
}

export const defaultLimits: Config['limits'] = {
  apiRequestsPerMinute: 0,
  recipientsPerRequest: 1000,
  emailsPerSecond: 0,
  attachmentsMaxCount: 10,
  attachmentsMaxBytes: 10 * 1024 * 1024,
  messageMaxBytes: 40 * 1024 * 1024,
  submissionRecipients: 5,
  minFreeBytes: 0,
  idempotencyHours: 24,
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-http-'))
  const log = silentLog()
  const store = await openStore({ path: path.join(folder, 'a.db'), log, watch: false })
  const keyring = createKeyring('a secret of tests')
  const config = configOf(folder, options)
  const health = createHealth()
  const certificates = createCertificates({ config, health, log, now: Date.now }, 20)
  const hits = startHitLog({ store, config, now: Date.now, log }, { visitMs: 0 })
  const base = { config, store, now: Date.now, log }
  const figures = { health, counters: createCounters(), certificates, disk: { ...roomyDisk } }
  const core: Core = {
    ...base,
    ...figures,
    fuse: createFuse({ ...base, ...figures }),
    knownDomains: createKnownDomains(),
    keyring,
    directory: createDirectory({ store, keyring }),
    resolver: (options.resolver ?? {}) as Core['resolver'],
    verifier: {
      dns: (options.resolver ?? {}) as Core['resolver'],
      listDns: (options.resolver ?? {}) as Core['resolver'],
      listLimiter: { take: (work) => work() },
      lists: createDomainLists({ dataDir: folder, now: Date.now, log }),
      stop: () => undefined,
    },
    publicFetch: options.publicFetch ?? nobody,
    outbound: {
      preview: async () => [],
      inFlight: () => 0,
      sites: () => [],
    } as unknown as Core['outbound'],
    claims: new Map(),
    queueNotifier: createQueueNotifier(),
    inboundNotifier: createNotifier(),
    jobNotifier: createNotifier(),
    sharedRuns: createSharedRuns(),
    hits,
    throttle: createThrottle(0, Date.now),
  }
  const requests: RequestLogEntry[] = []
  const close = async () => {
    certificates.stop()
    await hits.stop()
    await store.close()
    await rm(folder, { recursive: true })
  }
  const http = await startOr(close, { core, requests })
  return {
    url: http.url,
    core,
    requests,
    makeProject: async (name) => {
      const ownerEmail = `${name}@example.test`
      await createUser(core, { email: ownerEmail })
      return createProject(core, { name, ownerEmail })
    },
    stopHttp: http.stop,
    stop: async () => {
      await http.stop(0)
      await close()
    },
  }
}

async function startOr(
  close: () => Promise<void>,
  { core, requests }: Pick<Service, 'core' | 'requests'>,
): Promise<HttpServer> {
  try {
    return await startHttp({ core, requestLog: { record: (entry) => requests.push(entry) } })
  } catch (error) {
    await close()
    throw error
  }
}

const nobody: Core['publicFetch'] = async () => ({
  ok: false,
  isRefused: true,
  error: 'nobody is asked here',
})

function configOf(folder: string, { http, limits, topicArns = [] }: ServiceOptions): Config {
  return {
    baseUrl: 'http://localhost:8080',
    dataDir: folder,
    http: {
      listen: { host: '127.0.0.1', port: 0, isTls: false },
      trustedProxies: [],
      metricsAllow: ['127.0.0.0/8', '::1/128'],
      maxConnections: 1000,
      maxConnectionsPerAddress: 100,
      tls: null,
      ...http,
    },
    delivery: {
      mode: 'direct',
      hostname: 'mx.pillarbox.test',
      returnPathDomain: 'bounce.mx.pillarbox.test',
      giveUpAfter: { transactional: 86_400_000, workflow: 86_400_000, campaign: 259_200_000 },
    },
    dns: { servers: [], canary: [] },
    sns: { topicArns },
    limits: { ...defaultLimits, ...limits },
    retention: { bodyDays: 90, requestLogDays: 30, sandboxMessages: 1000 },
  } as unknown as Config
}
