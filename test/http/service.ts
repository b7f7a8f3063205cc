/** A server with a real database and HTTP listener; delivery and DNS are not there. */
import { tmpdir } from 'node:os'
import { after, before } from 'node:test'
import supertest from 'supertest'
import { silentLog } from '../../src/base/log.ts'
import type { Config } from '../../src/config/config.ts'
import type { Core } from '../../src/core/core.ts'
import type { RequestLogEntry } from '../../src/features/ground/requests/log.ts'
import { createDomainLists } from '../../src/features/people/verification/domain-lists.ts'
import { type HttpServer, startHttp } from '../../src/http/server/server.ts'
import {
  addProject,
  idleWebhookClient,
  openTestCore,
  refuseFetch,
  type TestCore,
  type TestCoreOptions,
  type TestProject,
} from '../core.ts'
import { watchStatuses } from './answered-statuses.ts'
import { useCheapPasswords } from './cheap-passwords.ts'
import './kept-connections.ts'

type Service = {
  url: string
  core: TestCore
  /** The entries of the request log. */
  requests: RequestLogEntry[]
  makeProject(name: string): Promise<TestProject>
  announceStop(): void
  stopHttp(graceMs: number): Promise<void>
  stop(): Promise<void>
}

type ServiceOptions = {
  /** As in the environment. */
  settings?: Record<string, string>
  http?: Partial<Config['http']>
  limits?: Partial<Config['limits']>
  accounts?: Partial<Config['accounts']>
  delivery?: Partial<Config['delivery']>
  baseUrl?: string
  now?: () => number
  resolver?: Partial<Core['resolver']>
  publicFetch?: Core['publicFetch']
  webhookClient?: Core['webhookClient']
  lastUsed?: Core['lastUsed']
  topicArns?: readonly string[]
  /** The log of the routes, in place of none. */
  log?: Core['log']
  isNew?: TestCoreOptions['isNew']
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
  const statuses = watchStatuses(core, http.url)
  return {
    url: http.url,
    core,
    requests,
    makeProject: (name) => addProject(core, name),
    announceStop: http.announceStop,
    stopHttp: http.stop,
    stop: async () => {
      await http.stop(0)
      await close()
      statuses.end()
    },
  }
}

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete'

export type StartedService = {
  service: Service
  mine: TestProject
  other: TestProject
  /** A request with the secret key of a project, which is `mine` unless given. */
  call(method: Method, path: string, by?: Pick<TestProject, 'secret'>): supertest.Test
}

/**
 * Starts a service with two projects before the tests of a file, and stops it after them.
 * The objects are empty until then: `prepare`, hooks for each test and tests may read them.
 * A second `before` of a file runs at the same time as the first, therefore `prepare`.
 */
export function useService(
  options: ServiceOptions = {},
  prepare: (started: StartedService) => unknown = () => undefined,
): StartedService {
  const service = {} as Service
  const mine = {} as TestProject
  const other = {} as TestProject
  const started: StartedService = {
    service,
    mine,
    other,
    call: (method, path, by = mine) =>
      supertest(service.url)[method](path).set('Authorization', `Bearer ${by.secret}`),
  }
  useCheapPasswords()
  before(async () => {
    Object.assign(service, await startService(options))
    Object.assign(mine, await service.makeProject('mine'))
    Object.assign(other, await service.makeProject('other'))
    await prepare(started)
  })
  after(() => service.stop())
  return started
}

const nxdomain = async () => ({ kind: 'nxdomain', expiresAt: 0 }) as const
const emptyDns = { mx: nxdomain, txt: nxdomain, a: nxdomain, aaaa: nxdomain }

function toCoreOptions(options: ServiceOptions): TestCoreOptions {
  const { http, limits, accounts, delivery, baseUrl, resolver } = options
  const { publicFetch = refuseFetch, topicArns = [], now = Date.now } = options
  const { webhookClient = idleWebhookClient, lastUsed, log, isNew } = options
  const dns = { ...emptyDns, ...resolver } as Core['resolver']
  return {
    settings: {
      PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
      PILLARBOX_HTTP__METRICS_ALLOW: '["127.0.0.0/8", "::1/128"]',
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_LIMITS__API_REQUESTS_PER_MINUTE: '0',
      PILLARBOX_LIMITS__SUBMISSION_RECIPIENTS: '5',
      PILLARBOX_LIMITS__MIN_FREE_BYTES: '0',
      ...options.settings,
    },
    configure: (config) => ({
      ...config,
      baseUrl: baseUrl ?? config.baseUrl,
      http: { ...config.http, ...http },
      limits: { ...config.limits, ...limits },
      accounts: { ...config.accounts, ...accounts },
      delivery: { ...config.delivery, ...delivery },
      sns: { topicArns: [...topicArns] },
    }),
    parts: {
      ...{ resolver: dns, publicFetch, verifier: createTestVerifier(dns), webhookClient },
      ...(lastUsed && { lastUsed }),
      ...(log && { log }),
    },
    ...{ now, certificatePollMs: 20, isNew },
  }
}

function createTestVerifier(dns: Core['resolver']): Core['verifier'] {
  const dataDir = tmpdir()
  return {
    dns,
    listDns: dns,
    turns: { take: (work) => work() },
    listTurns: { take: (work) => work() },
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
