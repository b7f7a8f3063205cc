/** The projects that were disabled for their reputation and whose mail waits, for operators. */
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { isParked, isPaused } from '../../../../store/shelves.ts'
import { statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { holdEndOf } from './mail-fate.ts'

/** `endsAt`: when the mail fails, but for that of campaigns (epoch ms). */
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

/** The latest first. */
export async function listPausedProjects({ store }: Pick<Base, 'store'>): Promise<PausedProject[]> {
  const rows = await store.scan.list(listPaused)
  return rows.map((row) => ({ ...row, endsAt: holdEndOf(row) }))
}
