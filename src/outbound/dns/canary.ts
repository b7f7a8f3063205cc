/**
 * Decides whether to believe the DNS servers when they deny that a domain exists, has a record, or
 * accepts mail. A server without an upstream, or a captive network, denies everything. If such
 * denials were believed, all mail would bounce.
 *
 * A denial is believed while a canary resolves: any one of the well-known mail domains of
 * `dns.canary`. One check runs at a time. While denials are rare, a result is valid for ten
 * seconds. Before the first result, and while more than 20% of the last 50 domains are denied, the
 * check runs after each denial, so that no older result counts. Servers that are not believed are
 * checked again by a timer.
 */
import type { Now } from '../../base/clock.ts'
import type { DnsAnswer, MxRecord } from './answer.ts'
import type { Resolver } from './resolver.ts'

type DnsCanary = {
  /** Must be called for every domain that is looked up. */
  record(domain: string, isDenied: boolean): void
  /** Whether a denial that has just arrived may be believed. Never rejects. */
  isBelieved(): Promise<boolean>
  stop(): void
}

type CanaryOptions = {
  /** Domains, in A-labels; at least one. */
  names: readonly string[]
  /** Queries the servers without cache and without this check. */
  dns: Pick<Resolver, 'mx' | 'a'>
  now: Now
  /**
   * Called on every change. `denials`: why each canary does not resolve; null = one resolves again.
   */
  changed(denials: readonly string[] | null): void
  /** The time between checks while the servers are not believed. */
  recheckMs?: number
}

const MAX_RECENT = 50
const MAX_DENIED_SHARE = 0.2
const TRUSTED_MS = 10_000
const UNTRUSTED_MS = 5_000
const RECHECK_MS = 15_000

export function createDnsCanary(options: CanaryOptions): DnsCanary {
  const { names, now, changed, recheckMs = RECHECK_MS } = options
  const recent = createRecent()
  let known: { isTrusted: boolean; at: number } | undefined
  let running: Promise<boolean> | undefined
  let next: Promise<boolean> | undefined
  let first = 0
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function isValid(): boolean {
    if (known === undefined) return false
    const trustedMs = recent.deniedShare() > MAX_DENIED_SHARE ? 0 : TRUSTED_MS
    const age = now() - known.at
    // A clock that was set back must not make the result valid for longer.
    return age >= 0 && age < (known.isTrusted ? trustedMs : UNTRUSTED_MS)
  }

  /** The running check began before the denial arrived, so the result of the next check counts. */
  function askAfter(): Promise<boolean> {
    if (running === undefined) return begin()
    next ??= running.then(() => {
      next = undefined
      return begin()
    })
    return next
  }

  function begin(): Promise<boolean> {
    running = ask().finally(() => {
      running = undefined
    })
    return running
  }

  /** Starts with a different name each time, in case a server caches the answer of one. */
  async function ask(): Promise<boolean> {
    const [name = '', ...others] = [...names.slice(first), ...names.slice(0, first)]
    first = (first + 1) % names.length
    const denials = [await findDenial(options.dns, name)]
    if (denials[0] !== null) {
      denials.push(...(await Promise.all(others.map((other) => findDenial(options.dns, other)))))
    }
    const isTrusted = denials.includes(null)
    settle(isTrusted ? null : denials.filter((denial) => denial !== null))
    return isTrusted
  }

  function settle(denials: readonly string[] | null): void {
    const isTrusted = denials === null
    const wasTrusted = known?.isTrusted ?? true
    known = { isTrusted, at: now() }
    clearTimeout(timer)
    if (isStopped) return
    if (isTrusted !== wasTrusted) changed(denials)
    if (!isTrusted) timer = setTimeout(() => void askAfter(), recheckMs).unref()
  }

  return {
    record: recent.record,
    isBelieved: async () => (isValid() ? known?.isTrusted === true : askAfter()),
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Returns why a canary does not resolve; null if it does. */
async function findDenial(dns: Pick<Resolver, 'mx' | 'a'>, name: string): Promise<string | null> {
  const mx = await dns.mx(name, { isFresh: true })
  if (mx.kind !== 'nodata') return hasMx(mx) ? null : `${name}: ${describe(mx)}`
  const a = await dns.a(name, { isFresh: true })
  return a.kind === 'found' ? null : `${name}: ${describe(a)}`
}

function hasMx(answer: DnsAnswer<MxRecord>): boolean {
  return answer.kind === 'found' && answer.records.some(({ host }) => host !== '')
}

function describe(answer: DnsAnswer<unknown>): string {
  switch (answer.kind) {
    case 'failed':
      return answer.error
    case 'nxdomain':
      return 'no such domain'
    case 'nodata':
      return 'no record'
    case 'found':
      return 'null MX'
  }
}

/** The last domains that were looked up, without duplicates. */
function createRecent() {
  const domains = new Map<string, boolean>()
  return {
    record(domain: string, isDenied: boolean): void {
      domains.delete(domain)
      domains.set(domain, isDenied)
      const [oldest] = domains.keys()
      if (domains.size > MAX_RECENT && oldest !== undefined) domains.delete(oldest)
    },
    deniedShare(): number {
      let denied = 0
      for (const isDenied of domains.values()) if (isDenied) denied += 1
      return domains.size === 0 ? 0 : denied / domains.size
    },
  }
}
