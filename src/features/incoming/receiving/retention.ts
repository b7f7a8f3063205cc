/**
 * Deletes expired received messages. Rows with octets (mail, and messages that could not be parsed)
 * are kept for `retention.body_days`; rows of reports and unsubscriptions too, but at most for 30
 * days. Pending rows and held ones stay. The emails that were made from messages are rows of their own and
 * remain.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { listOf, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { type Pace, sweepPages } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { RETENTION_ROWS, toBatches } from '../../mail/messages/retention.ts'

type Deps = Pick<Base, 'store' | 'config' | 'now'>
type Aged = { number: number; at: number; bytes: number; isShort: number }

const REPORT_DAYS = 30
const PAGE = 500
const PACE: Pace = { rows: RETENTION_ROWS, rest: 'event loop' }

/** `isShort`: the row has the shorter retention. `bytes`: size of the octets that go with it. */
export const listAgedMessages = statement<Aged>(
  () => sql`select ${rowNumber()} as number, received_at as at,
      case when raw is null then 0 else size_bytes end as bytes,
      state = 'processed' and (raw is null or kind = 'other') as isShort
    from inbound_messages where state not in ('pending', 'held') and received_at < ${parameter('before')}
      and (received_at, ${rowNumber()}) > (${parameter('at')}, ${parameter('number')})
    order by received_at, ${rowNumber()} limit ${PAGE}`,
)

const deleteRows = statement(
  () => sql`delete from inbound_messages
    where ${rowNumber()} in ${listOf(parameter('numbers'))}`,
)

/** Returns the number of deleted rows. */
export async function deleteExpiredInboundMessages(deps: Deps): Promise<number> {
  return sweepPages<Aged, number>(
    deps,
    { pace: PACE, heavyFor: 'retention' },
    {
      from: 0,
      pages: listExpired(deps),
      change: async (tx, rows, total) => {
        const numbers = JSON.stringify(rows.map(({ number }) => number))
        return total + (await tx.execute(deleteRows, { numbers }))
      },
    },
  )
}

/** Yields expired messages, so many at a time as one transaction may delete. */
async function* listExpired({ store, config, now }: Deps): AsyncGenerator<Aged[]> {
  const mailBefore = now() - config.retention.bodyDays * DAY_MS
  const reportsBefore = Math.max(mailBefore, now() - REPORT_DAYS * DAY_MS)
  let position = { at: Number.MIN_SAFE_INTEGER, number: 0 }
  for (;;) {
    const page = await store.scan.list(listAgedMessages, { before: reportsBefore, ...position })
    yield* toBatches(page.filter(({ at, isShort }) => isShort === 1 || at < mailBefore))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    position = last
  }
}
