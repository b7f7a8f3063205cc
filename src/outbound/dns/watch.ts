/**
 * Watches the DNS servers for all resolvers: whether their denials are believed (`canary.ts`) and
 * which of them are silent (`createDnsSilence`). Each change is one log line; while something is wrong
 * `/health` reports it.
 */

import { Resolver as NodeResolver } from 'node:dns/promises'
import type { Now } from '../../base/clock.ts'
import type { Health } from '../../base/health.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import type { DnsAnswer, DnsQuestion, DnsWatch } from './answer.ts'
import { createDnsCanary } from './canary.ts'
import { createResolver } from './resolver.ts'

type WatchOptions = {
  dns: Config['dns']
  now: Now
  log: Log
  health: Health
  /** The timeout of a query; for tests. */
  timeoutMs?: number
  recheckMs?: number
}

const UNBELIEVED_MS = 5_000
const TIMEOUT_MS = 2_000
/** Every working server answers a query for this name. */
const ANY_NAME = 'localhost'

type DnsSilence = {
  /** Call this when a look-up got no answer from the first server. */
  suspect(): void
  stop(): void
}

type SilenceOptions = {
  /** The DNS servers, as in `dns.servers`; empty = the system's. */
  servers: readonly string[]
  /** The domain to query. */
  name: string
  now: Now
  /** Called when one server changes, with all servers that are silent then. */
  changed(change: { server: string; isSilent: boolean; silent: readonly string[] }): void
  timeoutMs?: number
  /** The time between two rounds. A round asks each server by itself. */
  pauseMs?: number
}

const SILENCE_TIMEOUT_MS = 2_000
const TRIES = 2
const PAUSE_MS = 30_000
const SILENT_CODES = new Set(['ETIMEOUT', 'ECONNREFUSED'])

type Server = { name: string; dns: NodeResolver; isSilent: boolean }

export function createDnsWatch(options: WatchOptions): DnsWatch {
  const { now, log, timeoutMs = TIMEOUT_MS, recheckMs } = options
  const { servers, canary: names } = options.dns
  const pauses = recheckMs === undefined ? {} : { recheckMs, pauseMs: recheckMs }
  const dns = createResolver({ servers, now, timeoutMs, tries: 2, maxCached: 1 })
  const setHealthPart = createHealthParts(options.health)
  const canary = createDnsCanary({
    ...{ names, dns, now, ...pauses },
    changed(denials) {
      const canaries = denials?.join(', ')
      if (denials === null) log.info('the DNS servers are believed again')
      else log.warn({ canaries }, 'the DNS servers are not believed: no canary resolves')
      const advice = 'Check dns.servers and dns.canary.'
      setHealthPart(
        'canary',
        denials &&
          `The DNS servers resolve none of the domains of dns.canary (${canaries}), so "no such domain" is not believed, and mail to such domains waits. ${advice}`,
      )
    },
  })
  const silence = createDnsSilence({
    ...{ servers, name: names[0] ?? ANY_NAME, now, timeoutMs, ...pauses },
    changed({ server, isSilent, silent }) {
      if (isSilent) log.warn({ server }, 'a DNS server gives no answer')
      else log.info({ server }, 'a DNS server answers again')
      setHealthPart(
        'silence',
        silent.length === 0 ? null : `No answer from these DNS servers: ${silent.join(', ')}.`,
      )
    },
  })

  async function judge(question: DnsQuestion, answer: DnsAnswer<unknown>) {
    const isDenied = isDenial(question, answer)
    if (names.length === 0) return answer
    if (question.type === 'MX' && answer.kind !== 'failed') canary.record(question.name, isDenied)
    if (!isDenied || (await canary.isBelieved())) return answer
    const error = 'the denial is not believed, because no domain of dns.canary resolves either'
    return { kind: 'failed' as const, error, expiresAt: now() + UNBELIEVED_MS }
  }

  return {
    judge,
    suspect: silence.suspect,
    stop() {
      canary.stop()
      silence.stop()
      dns.stop()
    },
  }
}

/**
 * Whether the answer denies something: that a name exists, has such a record, or accepts mail. A name
 * without AAAA records and an address without PTR are normal, and no verdict rests on them alone.
 */
function isDenial({ type }: DnsQuestion, answer: DnsAnswer<unknown>): boolean {
  if (type === 'PTR') return false
  if (answer.kind === 'nxdomain') return true
  if (answer.kind === 'nodata') return type !== 'AAAA'
  if (answer.kind === 'failed' || type !== 'MX') return false
  return (answer.records as readonly { host: string }[]).every(({ host }) => host === '')
}

/** Returns a function that sets one part of the health report. */
function createHealthParts(health: Health) {
  const parts = new Map<'canary' | 'silence', string>()
  return (part: 'canary' | 'silence', reason: string | null) => {
    if (reason === null) parts.delete(part)
    else parts.set(part, reason)
    health.set('dns', parts.size === 0 ? null : [...parts.values()].join(' '))
  }
}

/**
 * Finds the DNS servers that do not answer at all. A look-up queries the next server if one is silent,
 * so without this check the only sign of a silent server would be slow mail. After a look-up without an
 * answer in time, each server is queried alone; any answer counts, even a refusal. A silent server is
 * queried by a timer until it answers.
 */
function createDnsSilence(options: SilenceOptions): DnsSilence {
  const { name, now, changed, timeoutMs = SILENCE_TIMEOUT_MS, pauseMs = PAUSE_MS } = options
  /** The servers are created at the first suspicion, because most commands never need them. */
  let servers: Server[] = []
  let isAsking = false
  let isStopped = false
  let askedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  async function check(server: Server): Promise<void> {
    const isSilent = await isSilentNow(server.dns, name)
    if (isStopped || isSilent === server.isSilent) return
    server.isSilent = isSilent
    const silent = servers.filter((one) => one.isSilent).map((one) => one.name)
    changed({ server: server.name, isSilent, silent })
  }

  async function checkAll(): Promise<void> {
    isAsking = true
    if (servers.length === 0) servers = openServers(options.servers, timeoutMs)
    askedAt = now()
    clearTimeout(timer)
    await Promise.all(servers.map(check))
    isAsking = false
    if (isStopped || servers.every(({ isSilent }) => !isSilent)) return
    timer = setTimeout(() => void checkAll(), pauseMs).unref()
  }

  return {
    suspect() {
      // A domain whose own servers are silent raises the same suspicion, so checks have pauses
      // between them.
      const hasPaused = Math.abs(now() - askedAt) >= pauseMs
      if (!isAsking && !isStopped && hasPaused) void checkAll()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
      for (const { dns } of servers) dns.cancel()
    },
  }
}

function openServers(given: readonly string[], timeoutMs: number): Server[] {
  const names = given.length > 0 ? given : new NodeResolver().getServers()
  return names.map((name) => {
    const dns = new NodeResolver({ timeout: timeoutMs, tries: TRIES })
    dns.setServers([name])
    return { name, dns, isSilent: false }
  })
}

async function isSilentNow(dns: NodeResolver, name: string): Promise<boolean> {
  try {
    await dns.resolveMx(name)
    return false
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return SILENT_CODES.has(code)
  }
}
