/** Deletes deliveries that have ended: successes after 7 days, failures after 30. */
import { DAY_MS } from '../../../../base/clock.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { WebhookStatus } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type Pace, sweepPages } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'

const SUCCESS_MS = 7 * DAY_MS
const FAILURE_MS = 30 * DAY_MS
const PAGE = 2_000
const PACE: Pace = { rows: 200, rest: 'event loop' }

type Aged = { number: number; status: WebhookStatus; createdAt: number; completedAt: number | null }

/** Lists deliveries in the order of their numbers, which is that of their creation. */
export const listAgedDeliveries = statement<Aged>(
  () => sql`select number, status, created_at as "createdAt", completed_at as "completedAt"
    from webhook_deliveries where number > ${parameter('after')} order by number limit ${PAGE}`,
)

const deleteRows = statement(
  () => sql`delete from webhook_deliveries where number in ${listOf(parameter('numbers'))}`,
)

/** Returns the number of deleted rows. */
export async function deleteExpiredDeliveries(
  deps: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<number> {
  return sweepPages<number, number>(
    deps,
    { pace: PACE, heavyFor: 'retention', signal },
    {
      from: 0,
      pages: listExpired(deps),
      change: async (tx, numbers, total) =>
        total + (await tx.execute(deleteRows, { numbers: JSON.stringify(numbers) })),
    },
  )
}

/** Yields the numbers of expired deliveries, page by page; pages may be empty. */
async function* listExpired({ store, now }: Pick<Base, 'store' | 'now'>): AsyncGenerator<number[]> {
  const at = now()
  let after = 0
  for (;;) {
    const page = await store.scan.list(listAgedDeliveries, { after })
    yield page.filter((row) => isExpired(row, at)).map(({ number }) => number)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE || last.createdAt > at - SUCCESS_MS) return
    after = last.number
  }
}

function isExpired({ status, completedAt }: Aged, at: number): boolean {
  if (completedAt === null || status === 'PENDING') return false
  return completedAt < at - (status === 'SUCCEEDED' ? SUCCESS_MS : FAILURE_MS)
}
