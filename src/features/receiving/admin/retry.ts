/** Reading again what could not be read, alone and as if for the first time. */
import { AppError } from '../../../errors.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'

type Known = { state: string; hasText: number }
type Deps = Pick<Base, 'store' | 'inboundNotifier'>

const findKnown = statement<Known>(
  () => sql`select state, raw is not null as "hasText" from inbound_messages
    where id = ${parameter('id')}`,
)

const renewed = sql`state = 'pending', is_suspect = 1, attempts = 0, interruptions = 0,
  due_at = 0, error = null, processed_at = null`

const retryOne = statement(
  () => sql`update inbound_messages set ${renewed} where id = ${parameter('id')}`,
)

const retryAll = statement(
  () => sql`update inbound_messages set ${renewed} where state = 'failed' and raw is not null`,
)

/**
 * Of what waits after an interruption, it is read at once.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (read already, or its text is gone); nothing is done
 *   then
 */
export async function retryInboundMessages(
  { store, inboundNotifier }: Deps,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await retry(tx, id)
    tx.afterCommit(() => inboundNotifier.notify())
  })
}

/** All that failed and whose text is kept; how many. */
export async function retryFailedInboundMessages({
  store,
  inboundNotifier,
}: Deps): Promise<number> {
  return store.write(async (tx) => {
    tx.afterCommit(() => inboundNotifier.notify())
    return tx.execute(retryAll, {})
  })
}

async function retry(tx: Tx, id: string): Promise<void> {
  const known = await tx.find(findKnown, { id })
  if (known === undefined) {
    throw new AppError('RESOURCE_NOT_FOUND', `There is no inbound message ${id}.`)
  }
  if (known.state === 'processed') {
    throw new AppError('CONFLICT', `Inbound message ${id} was read: there is nothing to retry.`)
  }
  if (known.hasText === 0) {
    throw new AppError('CONFLICT', `The text of inbound message ${id} is gone.`)
  }
  await tx.execute(retryOne, { id })
}
