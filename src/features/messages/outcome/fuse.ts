/**
 * The fuse of mass bounces. Verdicts of our own that suppress more than `delivery.fuse_per_minute`
 * addresses within a minute, and over 20% of what was tried in that minute, are more likely a fault
 * of ours (a blind resolver, a block that reads like "no such user") than so many dead addresses.
 * From then on suppressions are held, until an operator has confirmed or undone all that are.
 *
 * What happened in the last minute is counted in memory; whether the fuse has blown is told by the
 * rows, so that a restart mends nothing.
 */
import { formatInstant, MINUTE_MS } from '../../../clock.ts'
import { describeError } from '../../../errors.ts'
import { sql } from '../../../store/drizzle.ts'
import type { HeldCause } from '../../../store/schema/words.ts'
import { statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'

export type Fuse = {
  /** So many emails were tried; those that found no way are not counted. */
  tried(count: number): void
  /**
   * Whether the suppression that this email leads to has to wait. Asking twice counts once. The fuse
   * has blown when one is held on disk: whoever asks may yet roll back.
   */
  trips(emailId: string): boolean
  /** To be called when a suppression is held on disk. */
  recordHeld(cause: HeldCause): void
  /** Reads what is held, as after the work of an operator. */
  refresh(): Promise<void>
  /** The same while something is held, as far as is known. Never rejects. */
  check(): Promise<void>
  stop(): void
}

type Deps = Pick<Base, 'config' | 'store' | 'health' | 'counters' | 'now' | 'log'>
type Held = { count: number; since: number }

const CHECK_MS = 15_000
const MAX_SHARE = 0.2

const findHeld = statement<{ count: number; since: number | null }>(
  () => sql`select count(*) as count, min(created_at) as since from held_suppressions
    where cause = 'fuse'`,
)

/** Knows of nothing that is held before its first `refresh`. */
export function createFuse(deps: Deps): Fuse {
  const { config, store, health, counters, now, log } = deps
  const { fusePerMinute } = config.delivery
  const minute = createMinute(now)
  let isBlown = false
  let held: Held | undefined
  let changes = 0

  function report(next: Held | undefined): void {
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
      minute.forget()
    }
    isBlown = count > 0
    report(since === null ? undefined : { count, since })
  }

  function recordHeld(cause: HeldCause): void {
    counters.add('pillarbox_suppressions_held_total', { cause })
    if (cause !== 'fuse') return
    // A refresh may have read the rows before this one was there.
    changes += 1
    isBlown = true
    const isFirst = held === undefined
    report({ count: (held?.count ?? 0) + 1, since: held?.since ?? now() })
    if (isFirst) log.warn({ fusePerMinute }, 'too many bounces in a minute: suppressions are held')
  }

  async function check(): Promise<void> {
    if (!isBlown) return
    await refresh().catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'what suppressions are held was not read')
    })
  }

  const unwatch = store.onExternalChange(() => void check())

  return {
    tried: minute.tried,
    trips(emailId) {
      if (fusePerMinute === 0) return false
      if (isBlown) return true
      const { suppressed, tried } = minute.count(emailId)
      const isTooMany = suppressed > fusePerMinute && suppressed > MAX_SHARE * tried
      if (!isTooMany) minute.suppressed(emailId)
      return isTooMany
    },
    recordHeld,
    refresh,
    check,
    stop: unwatch,
  }
}

/**
 * A fuse that knows what is held. It hears of what other processes do to it, and looks now and then:
 * a report, or a word of the project, may have decided the last that was held.
 */
export async function startFuse(deps: Deps, checkMs = CHECK_MS): Promise<Fuse> {
  const fuse = createFuse(deps)
  await fuse.refresh()
  const timer = setInterval(() => void fuse.check(), checkMs).unref()
  const stop = () => {
    clearInterval(timer)
    fuse.stop()
  }
  return { ...fuse, stop }
}

/** The minute before the first was held belongs to it: what was suppressed then can be undone too. */
function describeHeld({ count, since }: Held): string {
  const from = formatInstant(Math.floor((since - MINUTE_MS) / 1000) * 1000).replace('.000Z', 'Z')
  return (
    `Too many bounces in a minute: suppressions held: ${count} ` +
    '(pillarbox suppressions list --held). Were the bounces right? Then type ' +
    `"pillarbox suppressions confirm --since ${from}", else ` +
    `"pillarbox suppressions undo --since ${from}".`
  )
}

/** What happened within the last minute. */
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
    /** One entry a second. */
    tried(count: number): void {
      const at = Math.floor(now() / 1000) * 1000
      const last = tries.at(-1)
      if (last?.at === at) last.count += count
      else {
        prune()
        tries.push({ at, count })
      }
    },
    suppressed: (emailId: string) => void emails.set(emailId, now()),
    /** With this email's. */
    count(emailId: string) {
      prune()
      const suppressed = emails.size + (emails.has(emailId) ? 0 : 1)
      return { suppressed, tried: tries.reduce((sum, { count }) => sum + count, 0) }
    },
    forget(): void {
      emails.clear()
    },
  }
}
