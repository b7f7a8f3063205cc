/** Reads one received message of any project, with its octets, for operators. */
import { type AppError, notFound } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type InboundMessage, inboundMessages } from '../../../../store/schema/inbound.ts'
import type { Base } from '../../../ground/base.ts'
import { readRaw } from '../raw.ts'
import { shownOctets } from '../shown-octets.ts'

/** `isWithheld`: its octets are there, but cannot be shown without the links that they may quote. */
export type ShownMessage = InboundMessage & { isWithheld: boolean }

/** `raw`: null if deleted or withheld. @throws AppError RESOURCE_NOT_FOUND */
export async function getInboundMessage(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<ShownMessage> {
  const row = await store.read
    .select()
    .from(inboundMessages)
    .where(eq(inboundMessages.id, id))
    .get()
  if (row === undefined) throw inboundMessageNotFound(id)
  const raw = await readRaw(store, row)
  const shown = raw === null ? null : shownOctets(raw)
  return { ...row, raw: shown ?? null, isWithheld: shown === undefined }
}

export function inboundMessageNotFound(id: string): AppError {
  return notFound('inbound message', id, `There is no inbound message ${id}.`)
}
