/** The messages that the SMTP sink of the sandbox received instead of the internet. */
import { notFound } from '../../../base/errors.ts'
import { count, desc, eq, sql } from '../../../store/drizzle.ts'
import { sandboxMessages } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { type SweepPace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { beginsWith } from './queue/queue-list.ts'

export type SandboxMessage = {
  id: number
  receivedAt: number
  /** The From field of the message, decoded. */
  sender: string
  recipient: string
  subject: string
}

/** The first batch is small, because a raw message may be large. */
const PACE: SweepPace = { first: 20, max: 500, batchMs: 8, rest: { times: 2 } }

const deleteOldest = statement(
  () => sql`delete from sandbox_messages where id in (select id from sandbox_messages
    where id <= (select max(id) from sandbox_messages) - ${parameter('keep')}
    order by id limit ${parameter('limit')})`,
)

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
  /**
   * Selects messages to an address, or to addresses that begin with this text; all messages if
   * absent.
   */
  to?: string | undefined
}

/** Lists messages, newest first. `total`: the number of messages without the limit. */
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

/** Loads the raw message. @throws AppError RESOURCE_NOT_FOUND */
export async function loadSandboxMessage(
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

/** Deletes all messages but the newest `keep`. Returns how many. */
export function deleteExpiredSandboxMessages(
  deps: Pick<Base, 'store'>,
  keep: number,
): Promise<number> {
  const rules = { pace: PACE, heavyFor: 'retention', until: 'short' as const }
  return sweep(deps, rules, (tx, limit) => tx.execute(deleteOldest, { keep, limit }))
}
