/**
 * Fills the search index behind the writes that owe it. Triggers note each contact that came, went
 * or got another address in `contact_search_backlog`; a batch enters what the contacts are now and
 * takes their numbers off the backlog in one transaction, so a crash between the two is no loss and
 * a search is right at any moment: it looks at what stands in the backlog by itself.
 *
 * An entry costs 10 to 20 us, so batches are small and far enough apart to leave the writer to
 * others: the longer a batch waited for them, the longer is the rest behind it. What batches leave
 * behind is merged in steps as small, for a search reads each piece.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { describeError } from '../../../errors.ts'
import { withRest } from '../../../jobs/pace.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { enter, forgetGone, mergePieces } from './search-index.sqlite.ts'

type Deps = Pick<Base, 'store' | 'log'>

export type SearchIndexer = { stop(): Promise<void> }

/** 2 to 4 ms. */
const BATCH = 200
/** Between two batches, of the time that the first took: 20 to 30 ms when nobody else writes. */
const REST_TIMES = 4
/** How soon the index begins with what writes owe it, and tries again what failed. */
const IDLE_MS = 500

const findOwed = statement(() => sql`select 1 from contact_search_backlog limit 1`)

const lastOfBatch = statement<{ number: number }>(
  () => sql`select max(number) as number from
    (select number from contact_search_backlog order by number limit ${BATCH})
    having max(number) is not null`,
)

const settle = statement(
  () => sql`delete from contact_search_backlog where number <= ${parameter('last')}`,
)

/** `onIdle` hears of each time that nothing is owed. */
export function startSearchIndexer(
  deps: Deps,
  { idleMs = IDLE_MS, onIdle }: { idleMs?: number; onIdle?: () => void } = {},
): SearchIndexer {
  const stopping = new AbortController()
  const { signal } = stopping
  const idle = () => delay(idleMs, undefined, { signal, ref: false }).catch(() => undefined)

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const isBehind = await withRest(() => tryBatch(deps), { times: REST_TIMES, signal })
      if (isBehind) continue
      onIdle?.()
      await idle()
    }
  }

  const ended = run()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** The search is slower without the index, and as right: nobody but the log hears of a failure. */
async function tryBatch({ store, log }: Deps): Promise<boolean> {
  try {
    const owed = await store.read.find(findOwed)
    if (owed === undefined || !(await indexBatch({ store }))) return false
    await store.write((tx) => tx.execute(mergePieces))
    return true
  } catch (error) {
    log.warn({ error: describeError(error) }, 'the search index could not be filled')
    return false
  }
}

/** Enters the next contacts of the backlog; false when there was none. */
export async function indexBatch({ store }: Pick<Deps, 'store'>): Promise<boolean> {
  return store.write(async (tx: Tx) => {
    const last = await tx.find(lastOfBatch)
    if (last === undefined) return false
    await tx.execute(forgetGone, { last: last.number })
    await tx.execute(enter, { last: last.number })
    await tx.execute(settle, { last: last.number })
    return true
  })
}
