/** Reads one received message of any project, with its octets, for operators. */
import { type AppError, notFound } from '../../../errors.ts'
import { zeroLinks } from '../../../mail/parse/zero-links.ts'
import { eq } from '../../../store/drizzle.ts'
import { type InboundMessage, inboundMessages } from '../../../store/schema/inbound.ts'
import type { Base } from '../../base.ts'
import { readRaw } from '../raw.ts'

export type { InboundMessage } from '../../../store/schema/inbound.ts'

/** @throws AppError RESOURCE_NOT_FOUND */
export async function getInboundMessage(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<InboundMessage> {
  const row = await store.read
    .select()
    .from(inboundMessages)
    .where(eq(inboundMessages.id, id))
    .get()
  if (row === undefined) throw inboundMessageNotFound(id)
  // A message that is not read yet, or cannot be, is as it came in.
  const raw = await readRaw(store, row)
  return { ...row, raw: raw && zeroLinks(raw) }
}

export function inboundMessageNotFound(id: string): AppError {
  return notFound('inbound message', id, `There is no inbound message ${id}.`)
}
