/**
 * Fills the search index in the background. Triggers write the number of each contact that was
 * created, deleted or given another address to `contact_search_backlog`. A batch indexes the present
 * addresses of these contacts and deletes their numbers from the backlog in one transaction. A search
 * is always correct, because it reads the contacts in the backlog directly.
 *
 * An entry costs 10 to 20 us, so batches are small, with pauses in between for other writes:
 * the longer a batch waited for other writes, the longer the pause. FTS5 keeps the entries of each
 * batch as a segment, and a search reads every segment; small steps merge them.
 */
import { describeError } from '../../../../base/errors.ts'
import { unseen } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { lookAfterWrites } from '../../../../store/look-after-writes.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import { withRest } from '../../../../work/pace.ts'
import type { Base } from '../../../ground/base.ts'
import { deleteEntries, insertEntries, mergeSegments } from './search.sqlite.ts'

type Deps = Pick<Base, 'store' | 'log'>

/** The number of contacts in a batch, which takes 2 to 4 ms. */
const BATCH = 200
/**
 * The pause after a batch, in multiples of the batch's duration: 20 to 30 ms if no other writes
 * wait.
 */
const REST_TIMES = 4
/** The wait between a write and a look at the backlog, and between a failure and the next try. */
const IDLE_MS = 500

const findBacklog = statement(() => sql`select 1 from contact_search_backlog limit 1`)

const lastOfBatch = statement<{ number: number }>(
  () => sql`select max(number) as number from
    (select number from contact_search_backlog order by number limit ${unseen(sql`${BATCH}`)})
    having max(number) is not null`,
)

const deleteFromBacklog = statement(
  () => sql`delete from contact_search_backlog where number <= ${parameter('last')}`,
)

/** `onIdle`: called each time the backlog is empty. */
export function startSearchIndexer(
  deps: Deps,
  { idleMs = IDLE_MS, onIdle }: { idleMs?: number; onIdle?: () => void } = {},
): Loop {
  return startLoop({
    async run({ signal }) {
      const found = await withRest(() => tryBatch(deps), { times: REST_TIMES, signal })
      if (found === 'work') return 0
      onIdle?.()
      return found === 'failure' ? idleMs : undefined
    },
    wakes: [(wake) => lookAfterWrites(deps.store, idleMs, wake)],
    keepsAlive: false,
  })
}

/** A failure is only logged: without the index, searches are slower but correct. */
async function tryBatch({ store, log }: Deps): Promise<'work' | 'nothing' | 'failure'> {
  try {
    const entry = await store.read.find(findBacklog)
    if (entry === undefined || !(await indexBatch({ store }))) return 'nothing'
    await store.write((tx) => tx.execute(mergeSegments))
    return 'work'
  } catch (error) {
    log.warn({ error: describeError(error) }, 'the search index could not be updated')
    return 'failure'
  }
}

/** Indexes the next contacts of the backlog. Returns false when it was empty. */
export async function indexBatch({ store }: Pick<Deps, 'store'>): Promise<boolean> {
  return store.write(async (tx: Tx) => {
    const last = await tx.find(lastOfBatch)
    if (last === undefined) return false
    await tx.execute(deleteEntries, { last: last.number })
    await tx.execute(insertEntries, { last: last.number })
    await tx.execute(deleteFromBacklog, { last: last.number })
    return true
  })
}
