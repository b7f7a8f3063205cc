/** Finds projects with mail that nobody claims, so that the shelves of each can be sought in `emails_parked`. */
import { indexedBy } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { isParked, isPaused } from '../../../store/shelves.ts'

/**
 * Their ids, by a seek for each project. To read all of the index would look at every email that an operator
 * holds.
 */
export function parkedProjects(): SQL {
  return sql`with recursive parked (id) as (
      select min(project_id) from emails ${indexedBy('emails_parked')} where ${isParked}
      union all
      select (select min(project_id) from emails ${indexedBy('emails_parked')}
        where ${isParked} and project_id > parked.id)
      from parked where parked.id is not null
    )
    select id from parked where id is not null`
}

/** The term of mail that was put aside, of all projects; the statement names `emails_parked`. */
export function isPausedOfAny(): SQL {
  return sql`project_id in (${parkedProjects()}) and ${isParked} and ${isPaused}`
}
