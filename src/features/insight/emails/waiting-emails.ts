/**
 * Finds a project's emails that wait or are being sent by the indexes of the queue, as long as they are few: among
 * millions of emails that arrived, a list would look at all of these. No index has the emails of a project by state,
 * because it would cost each send. Where mail of all projects is too much to look through, the lanes in memory say
 * where the mail of the project is.
 */
import { WAITING_STATES } from '../../../records/words.ts'
import { indexedBy, listOf, orderedJoin, rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { EmailStatus, QueueState } from '../../../store/schema/words.ts'
import { isParked, onShelves } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { Lanes } from '../../mail/messages/queue/lanes.ts'
import { eachLane, inLanes, lanesToJson } from '../../mail/messages/queue/mail-of-project.ts'

export type WaitingDeps = Pick<Base, 'store'> & { lanes: Pick<Lanes, 'ofProject'> }

const WAITING: readonly QueueState[] = WAITING_STATES
const WAITING_STATUSES: readonly EmailStatus[] = ['PENDING', 'SENDING']

/** The most emails of a project that are found by the indexes of the queue. */
const MAX_FOUND = 1_000
/** The most entries of each of the two indexes, which have mail of all projects, that one look reads. */
const MAX_READ = 50_000

const TOO_MANY = -1

/**
 * Lists row numbers, or TOO_MANY. `emails_ready` covers its part; the emails in flight and those that are put aside
 * are read.
 */
export const listWaiting = statement<{ number: number }>(() =>
  selectWaiting(
    sql`select ${rowNumber()} as number, project_id, state from emails ${indexedBy('emails_ready')}
      where due_at is not null limit ${sql.raw(String(MAX_READ + 1))}`,
  ),
)

/** As `listWaiting`, of the lanes of the project instead of all mail that is ready. */
export const listWaitingInLanes = statement<{ number: number }>(() =>
  selectWaiting(
    sql`select ${rowNumber('emails')} as number, emails.project_id, emails.state from ${eachLane}
      ${orderedJoin()} emails ${indexedBy('emails_ready')} on ${inLanes}
        and emails.state in ${listOf(parameter('states'))}
      limit ${sql.raw(String(MAX_FOUND + 1))}`,
  ),
)

function selectWaiting(ready: SQL): SQL {
  return sql`with ready as (
      ${ready}
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
      limit ${sql.raw(String(MAX_FOUND + 1))})`
}

/** Whether all of these states are states of mail that waits or is being sent. */
export function areWaiting(states: readonly QueueState[]): boolean {
  return states.length > 0 && states.every((state) => WAITING.includes(state))
}

/** As `areWaiting`, of statuses. */
export function areWaitingStatuses(statuses: readonly EmailStatus[]): boolean {
  return statuses.length > 0 && statuses.every((status) => WAITING_STATUSES.includes(status))
}

/** Returns the row numbers of the project's emails in these states; undefined if they are too many to find. */
export async function findWaiting(
  { store, lanes }: WaitingDeps,
  { projectId, states }: { projectId: string; states: readonly QueueState[] },
): Promise<number[] | undefined> {
  const wanted = { projectId, states: JSON.stringify(states) }
  const found = await store.scan.list(listWaiting, wanted)
  if (found[0]?.number !== TOO_MANY) return numbersOf(found)
  const own = [...lanes.ofProject(projectId)]
  if (own.length > MAX_FOUND) return undefined
  return numbersOf(
    await store.scan.list(listWaitingInLanes, { ...wanted, lanes: lanesToJson(own) }),
  )
}

function numbersOf(found: readonly { number: number }[]): number[] | undefined {
  const numbers = found.map(({ number }) => number)
  return numbers.length <= MAX_FOUND && numbers[0] !== TOO_MANY ? numbers : undefined
}
