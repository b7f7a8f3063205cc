/**
 * The fate of a project's mail that waits to be sent:
 *
 *   sent    the project is enabled
 *   held    it was disabled for its reputation less than 72 hours ago
 *   over    it was disabled for its reputation and not enabled in time: its mail fails, except that of
 *           campaigns, which stays with them until they are resumed or cancelled
 *   failed  it was disabled for another reason, is being reset, or was deleted: all its mail fails
 */
import { HOUR_MS } from '../../../../base/clock.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import { isParked, isPaused } from '../../../../store/shelves.ts'
import { statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

export type MailFate = 'sent' | 'held' | 'over' | 'failed'

/** The columns of a project that decide the fate of its mail. */
type ProjectStanding = Pick<
  Project,
  'isDisabled' | 'disabledReason' | 'disabledAt' | 'resetSince' | 'deletedAt'
>

/** The errors of emails whose project may not send. */
export const DISABLED = 'the project is disabled'

export const NOT_ENABLED_IN_TIME = 'the project was disabled and not enabled within 72 hours'

const HOLD_HOURS = 72

/** `endsAt`: when the mail fails, except mail of campaigns (epoch ms). */
export type PausedProject = {
  projectId: string
  name: string
  disabledAt: number
  emails: number
  endsAt: number
}

export const listPaused = statement<Omit<PausedProject, 'endsAt'>>(
  () => sql`select projects.id as "projectId", projects.name as name,
      projects.disabled_at as "disabledAt", count(*) as emails
    from projects
    join emails ${indexedBy('emails_parked')} on emails.project_id = projects.id
    where is_disabled = 1 and disabled_reason = 'EMAIL_REPUTATION' and reset_since is null
      and projects.deleted_at is null and ${isParked} and ${isPaused}
    group by projects.id, projects.name, projects.disabled_at
    order by projects.disabled_at desc`,
)

/** `at`: epoch ms. */
export function fateOf(project: ProjectStanding, at: number): MailFate {
  const { isDisabled, disabledReason, resetSince, deletedAt } = project
  if (!isDisabled) return 'sent'
  if (disabledReason !== 'EMAIL_REPUTATION' || resetSince !== null || deletedAt !== null) {
    return 'failed'
  }
  return at < holdEndOf(project) ? 'held' : 'over'
}

/** When the mail of a project that was disabled for its reputation fails (epoch ms). */
export function holdEndOf({ disabledAt }: Pick<ProjectStanding, 'disabledAt'>): number {
  return (disabledAt ?? 0) + HOLD_HOURS * HOUR_MS
}

/**
 * Lists the projects that were disabled for their reputation and whose mail waits, for operators; the latest first.
 */
export async function listPausedProjects({ store }: Pick<Base, 'store'>): Promise<PausedProject[]> {
  const rows = await store.scan.list(listPaused)
  return rows.map((row) => ({ ...row, endsAt: holdEndOf(row) }))
}
