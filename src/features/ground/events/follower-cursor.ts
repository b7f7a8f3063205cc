/** The stored cursors of followers: all rows up to the number are handled. */
import { eachOf, jsonItem } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { eventFollowers } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Cursors } from '../../../work/follower-handlers.ts'
import type { Base } from '../base.ts'

const list = statement((db) =>
  db.select({ name: eventFollowers.name, seq: eventFollowers.seq }).from(eventFollowers),
)

/**
 * `cursors`: pairs of a name and a number. Without `where true`, SQLite would read `on conflict` as the
 * `on` of a join.
 */
const save = statement(
  () => sql`insert into event_followers (name, seq, updated_at)
    select ${jsonItem(sql`row.value`, 0)}, ${jsonItem(sql`row.value`, 1)}, ${parameter('at')}
    from ${eachOf(parameter('cursors'))} as row where true
    on conflict (name) do update set seq = excluded.seq, updated_at = excluded.updated_at`,
)

export function createCursors({ store, now }: Pick<Base, 'store' | 'now'>): Cursors {
  return {
    async load() {
      const rows = await store.read.list(list)
      return new Map(rows.map(({ name, seq }) => [name, seq]))
    },
    async save(tx, cursors) {
      const pairs = cursors.map(({ name, seq }) => [name, seq])
      await tx.execute(save, { cursors: JSON.stringify(pairs), at: now() })
    },
  }
}
