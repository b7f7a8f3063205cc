/** Followers of stored events for tests of the kit, and events without meaning. */
import { appendEvents } from '../../src/features/ground/events/append.ts'
import { createCursors, followedRows } from '../../src/features/ground/events/followed-rows.ts'
import { unseen } from '../../src/store/dialect.ts'
import { asc, eq, gt } from '../../src/store/drizzle.ts'
import { type EventRow, eventFollowers, events } from '../../src/store/schema/events.ts'
import { parameter, statement } from '../../src/store/statement.ts'
import type { Store } from '../../src/store/store.ts'
import { type FollowerOptions, startFollower } from '../../src/work/follower.ts'
import type { FollowerHandler } from '../../src/work/follower-handlers.ts'
import { START, type TestCore } from '../core.ts'

export type EventHandler = FollowerHandler<EventRow>
export type Followed = Pick<TestCore, 'store' | 'log' | 'now'>

const listAfter = statement((db) =>
  db
    .select()
    .from(events)
    .where(gt(events.seq, parameter('seq')))
    .orderBy(asc(events.seq))
    .limit(unseen(parameter('limit'))),
)

export function followEvents(
  core: Followed,
  handlers: readonly EventHandler[],
  options: Partial<Omit<FollowerOptions<EventRow>, 'handlers'>> = {},
) {
  return startFollower(core, {
    name: 'events',
    rows: followedRows(core.store, 'events', listAfter),
    cursors: createCursors(core),
    handlers,
    ...options,
  })
}

export async function addEvents(core: Pick<TestCore, 'store'>, ...names: string[]): Promise<void> {
  const event = { projectId: 'p', contactId: null, emailId: null, data: null, at: START }
  await core.store.write((tx) =>
    appendEvents(
      tx,
      names.map((name) => ({ ...event, name })),
    ),
  )
}

export function cursorsOf({ store }: { store: Store }, name: string) {
  return store.read.select().from(eventFollowers).where(eq(eventFollowers.name, name))
}
