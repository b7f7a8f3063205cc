/**
 * Watches the DNS servers for all resolvers: whether their denials are believed (`canary.ts`) and
 * which of them are silent (`silence.ts`). Each change is one log line; while something is wrong
 * `/health` reports it.
 */
import type { Now } from '../../base/clock.ts'
import type { Health } from '../../base/health.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import type { DnsAnswer, DnsQuestion, DnsWatch } from './answer.ts'
import { createDnsCanary } from './canary.ts'
import { createResolver } from './resolver.ts'
import { createDnsSilence } from './silence.ts'

type WatchOptions = {
  dns: Config['dns']
  now: Now
  log: Log
  health: Health
  /** For tests. */
  timeoutMs?: number
  recheckMs?: number
}

const UNBELIEVED_MS = 5_000
const TIMEOUT_MS = 2_000
/** Every working server answers a query for this name. */
const ANY_NAME = 'localhost'

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
