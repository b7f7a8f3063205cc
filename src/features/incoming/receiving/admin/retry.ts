/** Parses failed messages again: each alone, with its counts of attempts and interruptions at 0. */
import { AppError } from '../../../../base/errors.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { inboundMessageNotFound } from './get.ts'

type Retried = { state: string; hasRaw: number }
type Deps = Pick<Base, 'store' | 'inboundNotifier'>

const findState = statement<Retried>(
  () => sql`select state, raw is not null as "hasRaw" from inbound_messages
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
 * A message that waits after an interruption is due at once.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (already processed, or its octets are deleted);
 *   after an error no message is retried
 */
export async function retryInboundMessages(
  { store, inboundNotifier }: Deps,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await retry(tx, id)
    tx.afterCommit(() => inboundNotifier.notify('changed'))
  })
}

/** Retries every failed message that has its octets. Returns their number. */
export async function retryFailedInboundMessages({
  store,
  inboundNotifier,
}: Deps): Promise<number> {
  return store.write(async (tx) => {
    tx.afterCommit(() => inboundNotifier.notify('changed'))
    return tx.execute(retryAll, {})
  })
}

async function retry(tx: Tx, id: string): Promise<void> {
  const message = await tx.find(findState, { id })
  if (message === undefined) {
    throw inboundMessageNotFound(id)
  }
  if (message.state === 'processed') {
    throw new AppError('CONFLICT', `Inbound message ${id} is processed: there is nothing to retry.`)
  }
  if (message.hasRaw === 0) {
    throw new AppError('CONFLICT', `The text of inbound message ${id} has been deleted.`)
  }
  await tx.execute(retryOne, { id })
}
