/** The messages that the SMTP sink of the sandbox received instead of the internet. */
import { notFound } from '../../../base/errors.ts'
import { count, desc, eq, lte, max } from '../../../store/drizzle.ts'
import { sandboxMessages } from '../../../store/schema/service.ts'
import type { Base } from '../../ground/base.ts'
import { beginsWith } from './address-start.ts'

export type SandboxMessage = {
  id: number
  receivedAt: number
  /** The From field, decoded. */
  sender: string
  recipient: string
  subject: string
}

/** Resolves when the message is durable. */
export async function insertSandboxMessage(
  { store, now }: Pick<Base, 'store' | 'now'>,
  message: { sender: string; recipient: string; subject: string; raw: Buffer },
): Promise<void> {
  await store.write(async (tx) => {
    await tx.insert(sandboxMessages).values({ ...message, receivedAt: now() })
  })
}

type Selection = {
  limit: number
  /** An address, or its beginning; all messages if absent. */
  to?: string | undefined
}

/** Newest first. `total`: how many there are without the limit. */
export async function listSandboxMessages(
  { store }: Pick<Base, 'store'>,
  { limit, to }: Selection,
): Promise<{ messages: SandboxMessage[]; total: number }> {
  const { id, receivedAt, sender, recipient, subject } = sandboxMessages
  const isWanted = beginsWith(recipient, to ?? '')
  const messages = await store.scan
    .select({ id, receivedAt, sender, recipient, subject })
    .from(sandboxMessages)
    .where(isWanted)
    .orderBy(desc(id))
    .limit(limit)
    .all()
  const [counted] = await store.scan
    .select({ total: count() })
    .from(sandboxMessages)
    .where(isWanted)
    .all()
  return { messages, total: counted?.total ?? 0 }
}

/** The raw message. @throws AppError RESOURCE_NOT_FOUND */
export async function getSandboxMessage(
  { store }: Pick<Base, 'store'>,
  id: number,
): Promise<Buffer> {
  const row = await store.read
    .select()
    .from(sandboxMessages)
    .where(eq(sandboxMessages.id, id))
    .get()
  if (row === undefined) {
    throw notFound('sandbox message', id, `There is no sandbox message ${id}.`)
  }
  return row.raw
}

/** Deletes all messages but the newest `keep`. */
export async function deleteExpiredSandboxMessages(
  { store }: Pick<Base, 'store'>,
  keep: number,
): Promise<void> {
  await store.write(async (tx) => {
    const newest = await tx
      .select({ id: max(sandboxMessages.id) })
      .from(sandboxMessages)
      .get()
    await tx.delete(sandboxMessages).where(lte(sandboxMessages.id, (newest?.id ?? 0) - keep))
  })
}
