/**
 * Two guards against suppressions that are this server's own fault.
 *
 * The fuse: if verdicts of this server would suppress more than `delivery.fuse_per_minute` addresses within a minute,
 * and over 20% of the emails tried in that minute, a fault of this server (a broken resolver, a block that reads like
 * "no such user") is more likely than so many invalid addresses. The fuse blows: suppressions are held until an operator
 * has confirmed or undone all of them. The events of the last minute are counted in memory. Whether the fuse has blown
 * depends on the rows of held suppressions, so a restart does not reset it.
 *
 * Known domains: recipient domains that seem to exist, because an attempt reached a mail server, or was deferred. If DNS
 * denies such a domain later, this may be a temporary mistake. Each domain is written once; a cache of written domains
 * saves the insert for further mail.
 */
import { formatInstant, MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { createLru } from '../../../../base/lru.ts'
import type { AttemptOutcome } from '../../../../outbound/attempt.ts'
import { eachOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { HeldCause } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { runEvery } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'

export type Fuse = {
  /** Counts emails that were tried; emails that reached no server are not counted. */
  countTried(count: number): void
  /**
   * Whether the suppression of this email's address must be held. Repeated calls count once. The
   * fuse blows only when a held suppression is durable, because the caller may roll back.
   */
  mustHold(emailId: string): boolean
  /** Call it when a held suppression is durable. */
  recordHeld(cause: HeldCause): void
  /** Reads the held suppressions again, for example after an operator's command. */
  refresh(): Promise<void>
  /** Calls `refresh` if the fuse has blown. Never rejects. */
  check(): Promise<void>
  stop(): void
}

type Deps = Pick<Base, 'config' | 'store' | 'health' | 'counters' | 'now' | 'log'>

type HeldCount = { count: number; since: number }

const CHECK_MS = 15_000

const MAX_SHARE = 0.2

const findHeld = statement<{ count: number; since: number | null }>(
  () => sql`select count(*) as count, min(created_at) as since from held_suppressions
    where cause = 'fuse'`,
)

export type KnownDomains = {
  /** Lists the domains that are not in the cache, each once. */
  listNew(seen: readonly AttemptedEmail[]): string[]
  add(domains: readonly string[]): void
}

type AttemptedEmail = {
  email: { recipientDomain: string }
  outcome: Pick<AttemptOutcome, 'host' | 'result'>
}

const MAX_CACHED = 20_000

const insertDomains = statement(
  () => sql`insert into known_domains (domain, created_at)
    select value, ${parameter('at')} from ${eachOf(parameter('domains'))} where true
    on conflict do nothing`,
)

const findDomain = statement<{ domain: string }>(
  () => sql`select domain from known_domains where domain = ${parameter('domain')}`,
)

/** Returns a fuse that has not read the held suppressions yet: call `refresh` first. */
export function createFuse(deps: Deps): Fuse {
  const { config, store, health, counters, now, log } = deps
  const { fusePerMinute } = config.delivery
  const minute = createMinute(now)
  let isBlown = false
  let held: HeldCount | undefined
  let changes = 0

  function setHeld(next: HeldCount | undefined): void {
    held = next
    health.set('suppressions', held === undefined ? null : describeHeld(held))
  }

  async function refresh(): Promise<void> {
    const before = changes
    const found = await store.scan.find(findHeld)
    if (changes !== before) return refresh()
    const { count = 0, since = null } = found ?? {}
    if (isBlown && count === 0) {
      log.info('no suppression is held any more')
      minute.clearSuppressed()
    }
    isBlown = count > 0
    setHeld(since === null ? undefined : { count, since })
  }

  function recordHeld(cause: HeldCause): void {
    counters.add('pillarbox_suppressions_held_total', { cause })
    if (cause !== 'fuse') return
    // A refresh under way may have read the rows before this one was inserted, so its result is
    // void.
    changes += 1
    isBlown = true
    const isFirst = held === undefined
    setHeld({ count: (held?.count ?? 0) + 1, since: held?.since ?? now() })
    if (isFirst) log.warn({ fusePerMinute }, 'too many bounces in a minute: suppressions are held')
  }

  async function check(): Promise<void> {
    if (!isBlown) return
    await refresh().catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'the held suppressions could not be read')
    })
  }

  const unwatch = store.onExternalChange(() => void check())

  return {
    countTried: minute.addTried,
    mustHold(emailId) {
      if (fusePerMinute === 0) return false
      if (isBlown) return true
      const { suppressed, tried } = minute.count(emailId)
      const isTooMany = suppressed > fusePerMinute && suppressed > MAX_SHARE * tried
      if (!isTooMany) minute.addSuppressed(emailId)
      return isTooMany
    },
    recordHeld,
    refresh,
    check,
    stop: unwatch,
  }
}

/**
 * A fuse that has read the held suppressions. It reads them again when another process changes the
 * database, and every `checkMs`: a report or an API call may have deleted the last one.
 */
export async function startFuse(deps: Deps, checkMs = CHECK_MS): Promise<Fuse> {
  const fuse = createFuse(deps)
  await fuse.refresh()
  const loop = runEvery(checkMs, fuse.check)
  const stop = () => {
    void loop.stop()
    fuse.stop()
  }
  return { ...fuse, stop }
}

export function createKnownDomains(): KnownDomains {
  const cached = createLru<true>(MAX_CACHED)
  return {
    listNew(seen) {
      const found = new Set<string>()
      for (const { email, outcome } of seen) {
        const { recipientDomain: domain } = email
        if (showsDomainExists(outcome) && cached.get(domain) === undefined) found.add(domain)
      }
      return [...found]
    },
    add(domains) {
      for (const domain of domains) cached.set(domain, true)
    },
  }
}

export async function insertKnownDomains(
  { knownDomains }: { knownDomains: KnownDomains },
  tx: Tx,
  { seen, at }: { seen: readonly AttemptedEmail[]; at: number },
): Promise<void> {
  const domains = knownDomains.listNew(seen)
  if (domains.length === 0) return
  await tx.execute(insertDomains, { domains: JSON.stringify(domains), at })
  tx.afterCommit(() => knownDomains.add(domains))
}

export async function isKnownDomain(tx: Tx, domain: string): Promise<boolean> {
  return (await tx.find(findDomain, { domain })) !== undefined
}

/**
 * The suggested `--since` is a minute before the first held suppression, so that the addresses
 * suppressed in that minute can be undone too.
 */
function describeHeld({ count, since }: HeldCount): string {
  const from = formatInstant(Math.floor((since - MINUTE_MS) / 1000) * 1000).replace('.000Z', 'Z')
  return (
    `Too many bounces in a minute; suppressions held: ${count} ` +
    '(pillarbox suppressions list --held). If the bounces are right, run ' +
    `"pillarbox suppressions confirm --since ${from}", otherwise ` +
    `"pillarbox suppressions undo --since ${from}".`
  )
}

/** Counts the tries and suppressions of the last minute. */
function createMinute(now: Base['now']) {
  let tries: { at: number; count: number }[] = []
  const emails = new Map<string, number>()

  function prune(): void {
    const after = now() - MINUTE_MS
    tries = tries.filter(({ at }) => at > after)
    for (const [id, at] of emails) {
      if (at > after) return
      emails.delete(id)
    }
  }

  return {
    /** Adds to the count of the current second. */
    addTried(count: number): void {
      const at = Math.floor(now() / 1000) * 1000
      const last = tries.at(-1)
      if (last?.at === at) last.count += count
      else {
        prune()
        tries.push({ at, count })
      }
    },
    addSuppressed: (emailId: string) => void emails.set(emailId, now()),
    /** Returns the counts of the last minute, with the suppression of this email. */
    count(emailId: string) {
      prune()
      const suppressed = emails.size + (emails.has(emailId) ? 0 : 1)
      return { suppressed, tried: tries.reduce((sum, { count }) => sum + count, 0) }
    },
    clearSuppressed(): void {
      emails.clear()
    },
  }
}

/**
 * Whether an attempt shows that the recipient domain exists. A smarthost accepts mail for any
 * domain, so relayed mail proves nothing.
 */
function showsDomainExists({ host, result }: AttemptedEmail['outcome']): boolean {
  if (result === 'relayed') return false
  return host !== null || result === 'deferred'
}
