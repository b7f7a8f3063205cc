/**
 * The cursor after a page of events, in the API: a sealed one, or the id of an event. Cursors of activity
 * have the form `<createdAt>_<seq>`, which older versions used for events, too.
 */

import { MINUTE_MS } from '../../../base/clock.ts'
import { unknownCursor } from '../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../records/cursor.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { indexedBy, type NamedIndex } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { idTime, isUuid } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import type { EventCursor } from './select-page.ts'
import { isListed } from './unlisted.ts'

/**
 * Events have no index by id, but an id contains the time at which it was made. The time of the
 * event is usually the same, and rarely more than `SLACK_MS` later. So the event is among the
 * newest events up to the time in the id plus `SLACK_MS`.
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

export function formatEventCursor(deps: Pick<Base, 'keyring'>, { at, seq }: EventCursor): string {
  return sealCursor(deps, 'events', [at, seq])
}

export function formatActivityCursor({ at, seq }: EventCursor): string {
  return `${at}_${seq}`
}

/** @throws AppError VALIDATION_ERROR for an unknown cursor */
export async function findEventCursor(
  deps: Pick<Base, 'store' | 'keyring'>,
  projectId: string,
  cursor: string | undefined,
): Promise<EventCursor | undefined> {
  if (cursor === undefined) return undefined
  const [, at, seq] = /^(\d{1,15})_(\d{1,15})$/.exec(cursor) ?? []
  if (at !== undefined && seq !== undefined) return { at: Number(at), seq: Number(seq) }
  if (!isUuid(cursor)) {
    const [at, seq] = unsealCursor(deps, 'events', cursor) as [number, number]
    return { at, seq }
  }
  // Only UUIDs of version 7 contain a time.
  if (cursor[14] !== '7') throw unknownCursor()
  const until = idTime(cursor) + SLACK_MS
  const found = await deps.store.scan.find(findCursorById, { projectId, until, id: cursor })
  if (found === undefined) throw unknownCursor()
  return found
}
