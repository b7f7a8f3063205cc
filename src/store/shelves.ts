/**
 * `emails.shelf`: where lists other than the queue find an email. It is null for mail of no campaign that waits
 * or is being sent, and for all mail that has arrived, so that a claim, and a delivery of mail of no campaign,
 * write no index but those of the queue.
 * Whoever writes a state or status that has a shelf writes the shelf in the same transaction; `shelfNow` is
 * what it must be.
 *
 * | shelf                   | emails                                                                  |
 * |-------------------------|-------------------------------------------------------------------------|
 * | held                    | state held                                                              |
 * | paused, pausedUntried   | state paused; with and without an attempt that counts                   |
 * | bounced to suppressed   | by status, whatever the state                                           |
 * | queued, deferred        | of campaigns only: in that state, or claimed from it and being sent     |
 */
import { type SQL, sql } from './drizzle.ts'

/** The numbers are in the terms of indexes. */
export const SHELF = {
  held: 1,
  paused: 2,
  pausedUntried: 3,
  bounced: 4,
  complained: 5,
  failed: 6,
  suppressed: 7,
  queued: 8,
  deferred: 9,
} as const

export type Shelf = keyof typeof SHELF

/** Statuses of emails that did not reach their recipient, or were complained about. */
export const BAD_ENDS = {
  BOUNCED: 'bounced',
  COMPLAINED: 'complained',
  FAILED: 'failed',
  SUPPRESSED: 'suppressed',
} as const satisfies Record<string, Shelf>

/**
 * Whether nobody claims the email, because its domain is held or it was put aside; the condition of the
 * index `emails_parked`.
 */
export const isParked = sql.raw(`shelf <= ${SHELF.pausedUntried}`)

/** The condition of the index `emails_ends`. */
export const isBadEnd = sql.raw(`shelf between ${SHELF.bounced} and ${SHELF.suppressed}`)

export const isPaused = onShelves('paused', 'pausedUntried')

/** Shelves of campaigns whose emails wait or are being sent. */
export const UNFINISHED_SHELVES = ['held', 'paused', 'pausedUntried', 'queued', 'deferred'] as const

/** Whether the email belongs to a campaign and waits or is being sent. */
export const isUnfinishedOfCampaign = onShelves(...UNFINISHED_SHELVES)

/** A condition without parameters, because SQLite does not match a parameter with the term of an index. */
export function onShelves(...shelves: readonly Shelf[]): SQL {
  const numbers = shelves.map((shelf) => SHELF[shelf])
  return sql.raw(
    numbers.length === 1 ? `shelf = ${numbers[0]}` : `shelf in (${numbers.join(', ')})`,
  )
}

/** The shelf of an email after an attempt that did not deliver it. */
export function shelfAfterAttempt(
  { state, status }: { state: string; status: string },
  isOfCampaign: boolean,
): number | null {
  if (Object.hasOwn(BAD_ENDS, status)) return SHELF[BAD_ENDS[status as keyof typeof BAD_ENDS]]
  return isOfCampaign && state === 'deferred' ? SHELF.deferred : null
}

/**
 * The shelf of an email that is not in a final state. `state`: its new state. `attempts`: its new number of
 * attempts.
 */
export function shelfInState(state: SQL, attempts: SQL = sql.raw('emails.attempt_count')): SQL {
  const { held, queued, deferred } = SHELF
  const ofCampaign = (shelf: number) =>
    sql.raw(`case when emails.campaign_id is not null then ${shelf} end`)
  return sql`case ${state} when 'held' then ${sql.raw(String(held))}
    when 'paused' then ${shelfOfPaused(attempts)}
    when 'queued' then ${ofCampaign(queued)} when 'deferred' then ${ofCampaign(deferred)} end`
}

/** The shelf of an email that is put aside. `attempts`: its new number of attempts. */
export function shelfOfPaused(attempts: SQL = sql.raw('emails.attempt_count')): SQL {
  const { paused, pausedUntried } = SHELF
  return sql`case when ${attempts} > 0 then ${sql.raw(`${paused} else ${pausedUntried} end`)}`
}

/**
 * The shelf that an email must have, by the rest of its row. An email of a campaign keeps its shelf while
 * it is being sent.
 */
export const shelfNow: SQL = sql`case emails.status ${sql.raw(
  Object.entries(BAD_ENDS)
    .map(([status, shelf]) => `when '${status}' then ${SHELF[shelf]}`)
    .join(' '),
)} else ${shelfInState(sql.raw('emails.state'))} end`
