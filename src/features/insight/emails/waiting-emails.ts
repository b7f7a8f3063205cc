/**
 * Finds a project's emails that wait or are being sent by the indexes of the queue, as long as they are few: among
 * millions of emails that arrived, a list would look at all of these. No index has the emails of a project by state,
 * because it would cost each send.
 */
import { WAITING_STATES } from '../../../records/words.ts'
import { indexedBy, listOf, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { QueueState } from '../../../store/schema/words.ts'
import { isParked, onShelves } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

const WAITING: readonly QueueState[] = WAITING_STATES

/** The most emails of a project that are found by the indexes of the queue. */
const MAX_FOUND = 1_000
/** The most entries of each of the two indexes, which have mail of all projects, that one look reads. */
const MAX_READ = 50_000

const TOO_MANY = -1

/**
 * Lists row numbers, or TOO_MANY. `emails_ready` covers its part; the emails in flight and those that are put aside
 * are read.
 */
export const listWaiting = statement<{ number: number }>(
  () => sql`with ready as (
      select ${rowNumber()} as number, project_id, state from emails ${indexedBy('emails_ready')}
      where due_at is not null limit ${sql.raw(String(MAX_READ + 1))}
    ), leased as (
      select ${rowNumber()} as number, project_id, state from emails ${indexedBy('emails_leased')}
      where lease_until is not null limit ${sql.raw(String(MAX_READ + 1))}
    ), parked as (
      select ${rowNumber()} as number, project_id, state from emails ${indexedBy('emails_parked')}
      where project_id = ${parameter('projectId')} and ${isParked}
        and ${onShelves('held', 'paused', 'pausedUntried')} limit ${sql.raw(String(MAX_FOUND + 1))}
    ), found as (
      select number, project_id, state from ready union all
      select number, project_id, state from leased union all
      select number, project_id, state from parked
    )
    select ${sql.raw(String(TOO_MANY))} as number
      where (select count(*) from ready) > ${sql.raw(String(MAX_READ))}
        or (select count(*) from leased) > ${sql.raw(String(MAX_READ))}
        or (select count(*) from parked) > ${sql.raw(String(MAX_FOUND))}
    union all
    select number from (select distinct number from found
      where project_id = ${parameter('projectId')} and state in ${listOf(parameter('states'))}
      limit ${sql.raw(String(MAX_FOUND + 1))})`,
)

/** Whether all of these states are states of mail that waits or is being sent. */
export function areWaiting(states: readonly QueueState[]): boolean {
  return states.length > 0 && states.every((state) => WAITING.includes(state))
}

/** Returns the row numbers of the project's emails in these states; undefined if they are too many to find. */
export async function findWaiting(
  { store }: Pick<Base, 'store'>,
  { projectId, states }: { projectId: string; states: readonly QueueState[] },
): Promise<number[] | undefined> {
  const wanted = { projectId, states: JSON.stringify(states) }
  const numbers = (await store.scan.list(listWaiting, wanted)).map(({ number }) => number)
  const areFew = numbers.length <= MAX_FOUND && numbers[0] !== TOO_MANY
  return areFew ? numbers : undefined
}
