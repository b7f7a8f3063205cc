/**
 * Finds and moves the mail of projects that is affected by their being disabled or enabled.
 *
 * Mail in the queue is found by one pass over `emails_ready`, on a scan thread: no index begins with the
 * project, because it would cost each send. Other mail is found by `emails_parked`.
 */
import { indexedBy, listOf, rowNumber, unindexed } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { waitingState } from '../../../../store/email-terms.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { isParked, isPaused, onShelves, shelfInState } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { isFenced } from '../../../ground/fence/rows.ts'
import { endingColumns } from '../outcome/end-emails.ts'
import { aside, releasedColumns } from '../queue/aside.ts'
import { parkedProjects } from '../queue/waiting-mail.ts'

const standing = {
  id: projects.id,
  isDisabled: projects.isDisabled,
  disabledReason: projects.disabledReason,
  disabledAt: projects.disabledAt,
  resetSince: projects.resetSince,
  deletedAt: projects.deletedAt,
}

/** Lists disabled projects, except those that are being reset, deleted or fenced. */
export const listDisabled = statement((db) =>
  db
    .select(standing)
    .from(projects)
    .where(
      sql`is_disabled = 1 and reset_since is null and deleted_at is null
        and not ${isFenced(sql`projects.id`)}`,
    ),
)

export const findStanding = statement((db) =>
  db
    .select(standing)
    .from(projects)
    .where(sql`${projects.id} = ${parameter('projectId')}`),
)

/** Lists the row numbers of the projects' mail in the queue. `projectIds`: a JSON list. */
export const listQueuedOfProjects = statement<{ number: number; projectId: string }>(
  () => sql`select ${rowNumber()} as number, project_id as "projectId"
    from emails ${indexedBy('emails_ready')}
    where due_at is not null and project_id in ${listOf(parameter('projectIds'))}
    limit ${parameter('limit')}`,
)

/** SQLite finds the emails by their row numbers, and does not read all mail of the project. */
const isQueued = sql`${rowNumber()} in ${listOf(parameter('numbers'))}
  and ${unindexed(sql`project_id`)} = ${parameter('projectId')} and state in ('queued', 'deferred')`

/** Puts mail of the queue aside. `ofCampaigns`: 1 for mail of campaigns only, else 0. */
export const putAsideDisabled = statement((db) =>
  db
    .update(emails)
    .set(aside)
    .where(sql`${isQueued} and (campaign_id is not null or ${parameter('ofCampaigns')} = 0)`),
)

export const listEndingQueued = statement((db) =>
  db.select(endingColumns).from(emails).where(isQueued),
)

/**
 * The shelves are named one by one: with a range of shelves, SQLite would not seek by the columns
 * of the index that follow.
 */
const isParkedOfProject = sql`project_id = ${parameter('projectId')} and ${isParked}
  and ${onShelves('held', 'paused', 'pausedUntried')}`

function listParked(condition: SQL) {
  return statement((db) =>
    db
      .select(endingColumns)
      .from(emails)
      .where(
        sql`${rowNumber()} in (select ${rowNumber()} from emails ${indexedBy('emails_parked')}
          where ${isParkedOfProject} and ${condition}
          limit ${parameter('limit')})`,
      ),
  )
}

export const listAllParked = listParked(sql`true`)
/** Lists mail that was put aside, without mail of campaigns. */
export const listOwnParked = listParked(sql`campaign_id is null`)

/** Lists the enabled projects without a fence that have mail put aside. */
export const listReleasable = statement<{ projectId: string }>(
  () => sql`select parked.id as "projectId" from (${parkedProjects()}) as parked
    join projects on projects.id = parked.id and projects.is_disabled = 0
    where not ${isFenced(sql`parked.id`)} and exists (select 1 from emails ${indexedBy('emails_parked')}
      where project_id = parked.id and ${isParked} and ${isPaused} and campaign_id is null)`,
)

const isHeld = sql`exists (select 1 from holds where domain = recipient_domain)`
const releasedState = sql`case when ${isHeld} then 'held' else ${waitingState} end`

/**
 * Makes mail that was put aside due again, in the order of its acceptance, unless the project is
 * disabled or fenced. What an operator holds stays held. The give-up time moves by the time that the mail waited.
 */
export const releaseSome = statement((db) =>
  db
    .update(emails)
    .set({
      state: releasedState,
      shelf: shelfInState(releasedState),
      dueAt: sql`case when not ${isHeld} then ${emails.createdAt} end`,
      heldAt: sql`case when ${isHeld} then ${parameter('at')} end`,
      giveUpAt: sql`${emails.giveUpAt} + ${parameter('at')} - ${emails.heldAt}`,
      retryAt: null,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails ${indexedBy('emails_parked')}
          where ${isParkedOfProject} and ${isPaused} and campaign_id is null
          limit ${parameter('limit')})
        and exists (select 1 from projects
          where id = ${parameter('projectId')} and is_disabled = 0)
        and not ${isFenced(parameter('projectId'))}`,
    )
    .returning(releasedColumns),
)
