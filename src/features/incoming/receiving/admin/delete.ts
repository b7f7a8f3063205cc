import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { inboundMessages } from '../../../../store/schema/inbound.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { discardChunks } from '../../../ground/chunks.ts'
import { inboundMessageNotFound } from './get.ts'

/**
 * Deletes received messages. They no longer count towards the limit of stored mail. Emails made
 * from them stay.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (still pending); after an error nothing is deleted
 */
export async function deleteInboundMessages(
  { store }: Pick<Base, 'store'>,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await deleteOne(tx, id)
  })
  for (const id of ids) await discardChunks(store, id)
}

async function deleteOne(tx: Tx, id: string): Promise<void> {
  const hasId = eq(inboundMessages.id, id)
  const { state } = inboundMessages
  const row = await tx.select({ state }).from(inboundMessages).where(hasId).get()
  if (row === undefined) {
    throw inboundMessageNotFound(id)
  }
  if (row.state === 'pending') {
    throw new AppError('CONFLICT', `Inbound message ${id} is still waiting to be read.`)
  }
  await tx.delete(inboundMessages).where(hasId)
}
