/** Deletes deliveries that have ended: successes after 7 days, failures after 30. */
import { DAY_MS } from '../../../../base/clock.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { WebhookStatus } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'

const SUCCESS_MS = 7 * DAY_MS
const FAILURE_MS = 30 * DAY_MS
const PAGE = 2_000
const BATCH = 200

type Aged = { number: number; status: WebhookStatus; createdAt: number; completedAt: number | null }

/** In the order of the rows, which is that of their creation. */
export const listAged = statement<Aged>(
  () => sql`select number, status, created_at as "createdAt", completed_at as "completedAt"
    from webhook_deliveries where number > ${parameter('after')} order by number limit ${PAGE}`,
)

const deleteRows = statement(
  () => sql`delete from webhook_deliveries where number in ${listOf(parameter('numbers'))}`,
)

/** Returns the number of deleted rows. */
export async function deleteExpiredDeliveries(
  { store, now }: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<number> {
  const at = now()
  let after = 0
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const page = await store.scan.list(listAged, { after })
    const numbers = page.filter((row) => isExpired(row, at)).map(({ number }) => number)
    for (let start = 0; start < numbers.length; start += BATCH) {
      const batch = JSON.stringify(numbers.slice(start, start + BATCH))
      const write = (tx: Tx) => tx.execute(deleteRows, { numbers: batch })
      total += await store.write(write, { heavyFor: 'retention' })
      await new Promise((resolve) => setImmediate(resolve))
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE || last.createdAt > at - SUCCESS_MS) return total
    after = last.number
  }
}

function isExpired({ status, completedAt }: Aged, at: number): boolean {
  if (completedAt === null || status === 'PENDING') return false
  return completedAt < at - (status === 'SUCCEEDED' ? SUCCESS_MS : FAILURE_MS)
}
