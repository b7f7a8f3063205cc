/** The stored cursors of followers: all rows up to the number are handled. */
import { eq } from '../../../store/drizzle.ts'
import { eventFollowers } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { type FollowedTable, newestSeq } from './followed-rows.ts'
import type { FollowerName } from './followers.ts'

type CursorOptions = {
  name: FollowerName
  table: FollowedTable
  beginsAt: 'oldest' | 'newest'
}

const find = statement((db) =>
  db
    .select({ seq: eventFollowers.seq })
    .from(eventFollowers)
    .where(eq(eventFollowers.name, parameter('name'))),
)

const save = statement((db) =>
  db
    .insert(eventFollowers)
    .values({ name: parameter('name'), seq: parameter('seq'), updatedAt: parameter('at') })
    .onConflictDoUpdate({
      target: eventFollowers.name,
      set: { seq: parameter('seq'), updatedAt: parameter('at') },
    }),
)

/** A new follower that starts with the newest row saves its cursor at once. */
export async function loadCursor(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { name, table, beginsAt }: CursorOptions,
): Promise<number> {
  const known = await store.read.find(find, { name })
  if (known !== undefined || beginsAt === 'oldest') return known?.seq ?? 0
  return store.write(async (tx) => {
    const seq = await newestSeq(tx, table)
    await saveCursor(tx, { name, seq, at: now() })
    return seq
  })
}

export async function saveCursor(
  tx: Tx,
  cursor: { name: FollowerName; seq: number; at: number },
): Promise<void> {
  await tx.execute(save, cursor)
}
