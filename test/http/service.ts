/** A server with a real database and HTTP listener; delivery and DNS are not there. */
import { tmpdir } from 'node:os'
import { after, before } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { createProject } from '../../src/features/accounts/projects.ts'
import { createUser } from '../../src/features/accounts/users.ts'
import type { Core } from '../../src/features/core.ts'
import type { RequestLogEntry } from '../../src/features/requests/log.ts'
import { createDomainLists } from '../../src/features/verification/domain-lists/domain-lists.ts'
import { type HttpServer, startHttp } from '../../src/http/server/server.ts'
import { silentLog } from '../../src/log.ts'
import { openTestCore, refuseFetch, type TestCore, type TestCoreOptions } from '../core.ts'

export type ServiceProject = { id: string; secret: string; public: string }

export type Service = {
  url: string
  core: TestCore
  /** The entries of the request log. */
  requests: RequestLogEntry[]
  makeProject(name: string): Promise<ServiceProject>
  stopHttp(graceMs: number): Promise<void>
  stop(): Promise<void>
}

type ServiceOptions = {
  http?: Partial<Config['http']>
  limits?: Partial<Config['limits']>
  resolver?: Partial<Core['resolver']>
  publicFetch?: Core['publicFetch']
  topicArns?: readonly string[]
}

/** The service stops by itself when it does not start. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const stops: (() => unknown)[] = []
  const remember = (stop?: unknown) => void stops.push(stop as () => unknown)
  const core = await openTestCore({ after: remember }, toCoreOptions(options))
  const close = async () => {
    for (const stop of stops) await stop()
  }
  const requests: RequestLogEntry[] = []
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

type StartedService = { service: Service; mine: ServiceProject; other: ServiceProject }

/** A service with two projects for the tests of a file; `started` gets them before the first test. */
export function useService(started: (all: StartedService) => void): void {
  let service: Service
  before(async () => {
    service = await startService()
    const mine = await service.makeProject('mine')
    started({ service, mine, other: await service.makeProject('other') })
  })
  after(() => service.stop())
}

function toCoreOptions(options: ServiceOptions): TestCoreOptions {
  const { http, limits, resolver = {}, publicFetch = refuseFetch, topicArns = [] } = options
  const dns = resolver as Core['resolver']
  return {
    settings: {
      PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
      PILLARBOX_HTTP__METRICS_ALLOW: '["127.0.0.0/8", "::1/128"]',
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_LIMITS__API_REQUESTS_PER_MINUTE: '0',
      PILLARBOX_LIMITS__SUBMISSION_RECIPIENTS: '5',
      PILLARBOX_LIMITS__MIN_FREE_BYTES: '0',
    },
    configure: (config) => ({
      ...config,
      http: { ...config.http, ...http },
      limits: { ...config.limits, ...limits },
      sns: { topicArns: [...topicArns] },
    }),
    parts: { resolver: dns, publicFetch, verifier: createTestVerifier(dns) },
    now: Date.now,
    certificatePollMs: 20,
  }
}

function createTestVerifier(dns: Core['resolver']): Core['verifier'] {
  const dataDir = tmpdir()
  return {
    dns,
    listDns: dns,
    listLimiter: { take: (work) => work() },
    lists: createDomainLists({ dataDir, now: Date.now, log: silentLog() }),
    stop: () => undefined,
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
