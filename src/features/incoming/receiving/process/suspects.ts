/**
 * Suspects: messages that are parsed alone, because one of them may have ended a reader thread or
 * the process.
 *
 * | event                                                  | effect on the message                    |
 * |--------------------------------------------------------|------------------------------------------|
 * | a thread ended while it had several messages           | each is a suspect; no attempt counts     |
 * | a thread ended while it had this message alone         | one attempt                              |
 * | parsing or applying it threw                           | a suspect; one attempt                   |
 * | the process crashed while it parsed several messages   | the oldest of each line are suspects; no |
 * |                                                        | attempt counts                           |
 * | the process crashed while it parsed the message alone  | an interruption: the message waits       |
 * |                                                        | behind all others, longer each time      |
 * | the process was stopped                                | none                                     |
 *
 * After `MAX_ATTEMPTS` attempts or `MAX_INTERRUPTIONS` interruptions the message has failed and is
 * set aside for the operator. Processes crash for many reasons, so one interruption proves little;
 * the waits between ten of them add up to minutes.
 */
import { unseen } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { inboundMessages, inboundReading } from '../../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { firstOfLines, PENDING_KINDS, type PendingMessage, pendingColumns } from './lines.ts'

type Deps = Pick<Base, 'store' | 'now'>

const MAX_ATTEMPTS = 3
const MAX_INTERRUPTIONS = 10
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = FIRST_WAIT_MS * 2 ** MAX_INTERRUPTIONS

/** Finds the suspect that is due first, by the index of suspects. */
export const selectSuspect = statement((db) =>
  db
    .select(pendingColumns)
    .from(inboundMessages)
    .where(sql`state = 'pending' and is_suspect = 1`)
    .orderBy(inboundMessages.dueAt, inboundMessages.id)
    .limit(unseen(parameter('limit'))),
)

/**
 * Marks the oldest `ofLine` messages of each line, of one kind, as suspects: they may have been in
 * progress when a process crashed.
 */
export const markFirstSuspects = statement(
  () => sql`update inbound_messages set is_suspect = 1
    where id in (select id from ${firstOfLines({ from: sql`''`, share: sql`${parameter('ofLine')} - 1` })})`,
)

/**
 * Counts an interruption of the message that a process parsed alone when it crashed. Each wait is
 * twice as long as the one before.
 */
const countInterruptions = statement(
  () => sql`update inbound_messages set interruptions = interruptions + 1, begun_at = null,
      due_at = ${parameter('now')} + (${FIRST_WAIT_MS} << interruptions)
    where state = 'pending' and is_suspect = 1 and begun_at is not null`,
)

const clearBegun = statement(
  () => sql`update inbound_messages set begun_at = null
    where state = 'pending' and is_suspect = 1 and begun_at is not null`,
)

const begin = statement(
  () => sql`update inbound_messages set begun_at = ${parameter('at')}
    where id = ${parameter('id')} and state = 'pending'`,
)

const markSuspect = statement(
  () => sql`update inbound_messages set is_suspect = 1, begun_at = null,
      attempts = attempts + ${parameter('tries')}
    where id = ${parameter('id')} and state = 'pending'`,
)

/** Records that this process parses messages. `ofLine`: the most messages of a line in progress. */
export async function startParsing({ store, now }: Deps, ofLine: number): Promise<void> {
  await store.write(async (tx) => {
    const [last] = await tx.select().from(inboundReading)
    await tx.execute(countInterruptions, { now: now() })
    if (last?.isUnderWay === false) await tx.update(inboundReading).set({ isUnderWay: true })
    else for (const kind of PENDING_KINDS) await tx.execute(markFirstSuspects, { kind, ofLine })
  })
}

/** Records an orderly stop. Messages in progress stay pending, and none becomes a suspect. */
export async function endParsing({ store }: Pick<Base, 'store'>): Promise<void> {
  await store.write(async (tx) => {
    await tx.execute(clearBegun, {})
    await tx.update(inboundReading).set({ isUnderWay: false })
  })
}

export async function findNextSuspect({
  store,
}: Pick<Base, 'store'>): Promise<PendingMessage | undefined> {
  return store.read.find(selectSuspect, { limit: 1 })
}

/**
 * Returns how long the message still has to wait; 0 when the clock was set back by more than the
 * longest wait.
 */
export function remainingWaitMs({ dueAt }: PendingMessage, now: number): number {
  const waitMs = dueAt - now
  return waitMs > MAX_WAIT_MS ? 0 : Math.max(0, waitMs)
}

/** Returns why the message may not be parsed again; undefined when it may. */
export function findReasonToFail({ attempts, interruptions }: PendingMessage): string | undefined {
  if (attempts >= MAX_ATTEMPTS) return `parsing it failed ${attempts} times`
  if (interruptions < MAX_INTERRUPTIONS) return undefined
  return `the server ended ${interruptions} times while it parsed the message`
}

/** Records that the message is being parsed alone. Call it before parsing begins. */
export async function startAlone({ store, now }: Deps, id: string): Promise<void> {
  await store.write((tx) => tx.execute(begin, { id, at: now() }))
}

/** Marks a message as a suspect. `isAttempt`: the message itself caused the failure. */
export async function markAsSuspect(
  { store }: Pick<Base, 'store'>,
  { id, isAttempt }: { id: string; isAttempt: boolean },
): Promise<void> {
  await store.write((tx) => tx.execute(markSuspect, { id, tries: isAttempt ? 1 : 0 }))
}
