/** The cursor after a page of events, in the API: `<createdAt>_<seq>`, or the id of an event. */
import { MINUTE_MS } from '../../../base/clock.ts'
import { unknownCursor } from '../../../base/errors.ts'
import { indexedBy, type NamedIndex } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { idTime, isUuid } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import type { EventCursor } from './select-page.ts'
import { isListed, UNLISTED_EVENTS } from './unlisted.ts'

/**
 * Events have no index by id. An id contains the time at which it was made. This is usually the
 * time of the event, and rarely earlier by more than `SLACK_MS`. The event is among the newest up
 * to that time.
 */
const SLACK_MS = MINUTE_MS
const MAX_SCANNED = 10_000

export const findCursorById = statement<EventCursor>(
  () =>
    sql`select created_at as at, seq from (${sql.join(
      [
        before('events_listed', isListed),
        ...UNLISTED_EVENTS.map((name) => before('events_named', sql.raw(`name = '${name}'`))),
      ],
      sql` union all `,
    )}) where id = ${parameter('id')} limit 1`,
)

function before(index: NamedIndex, isMeant: SQL): SQL {
  return sql`select * from (select id, created_at, seq from events ${indexedBy(index)}
    where project_id = ${parameter('projectId')} and ${isMeant}
      and created_at <= ${parameter('until')}
    order by created_at desc limit ${MAX_SCANNED})`
}

export function formatEventCursor({ at, seq }: EventCursor): string {
  return `${at}_${seq}`
}

/** @throws AppError VALIDATION_ERROR for an unknown cursor */
export async function findEventCursor(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  cursor: string | undefined,
): Promise<EventCursor | undefined> {
  if (cursor === undefined) return undefined
  const [, at, seq] = /^(\d{1,15})_(\d{1,15})$/.exec(cursor) ?? []
  if (at !== undefined && seq !== undefined) return { at: Number(at), seq: Number(seq) }
  const until = isUuid(cursor) && cursor[14] === '7' ? idTime(cursor) + SLACK_MS : undefined
  const found =
    until === undefined
      ? undefined
      : await store.scan.find(findCursorById, { projectId, until, id: cursor })
  if (found !== undefined) return found
  throw unknownCursor()
}
