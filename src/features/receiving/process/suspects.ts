/**
 * Messages that are read alone, because one of them may be what ended a reader thread or the process:
 *
 * | what happened                                          | what it means for the message            |
 * |--------------------------------------------------------|------------------------------------------|
 * | a thread ended with several messages in hand           | each is a suspect; no try of any         |
 * | a thread ended with this message alone                 | one try                                  |
 * | reading it, or putting it into effect, threw           | a suspect; one try                       |
 * | the process died while messages were read together     | the oldest are suspects; no try of any   |
 * | the process died while it was read alone               | an interruption: it waits, longer every  |
 * |                                                        | time, behind all others                  |
 * | the process was stopped                                | nothing                                  |
 *
 * Three tries, or as many interruptions as `MAX_INTERRUPTIONS`, end as `failed`, kept for the
 * operator. Processes are killed for reasons of their own, so an interruption says little: only
 * waits that add up to minutes make many of them a reason.
 */
import { contains } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { inboundMessages, inboundReading } from '../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { columns, type PendingMessage } from './pending.ts'

type Deps = Pick<Base, 'store' | 'now'>

const MAX_TRIES = 3
const MAX_INTERRUPTIONS = 10
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = FIRST_WAIT_MS * 2 ** MAX_INTERRUPTIONS

/** The next to be read alone; which one is due first, its index knows. */
export const selectSuspect = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .where(sql`state = 'pending' and is_suspect = 1`)
    .orderBy(inboundMessages.dueAt, inboundMessages.id)
    .limit(1),
)

/** What a process that died may have had in hand of each lane. */
export const markFirstSuspects = statement(
  () => sql`update inbound_messages set is_suspect = 1 where id in (
    select id from inbound_messages where state = 'pending' and is_suspect = 0
      and (${contains(sql`recipients`, sql`'"for":"mailbox"'`)}) = ${parameter('isMail')}
    order by id limit ${parameter('limit')})`,
)

/** What a process that died read alone: 1, 2, 4 ... times the first wait. */
const countInterruptions = statement(
  () => sql`update inbound_messages set interruptions = interruptions + 1, begun_at = null,
      due_at = ${parameter('now')} + (${FIRST_WAIT_MS} << interruptions)
    where state = 'pending' and is_suspect = 1 and begun_at is not null`,
)

const giveBack = statement(
  () => sql`update inbound_messages set begun_at = null
    where state = 'pending' and is_suspect = 1 and begun_at is not null`,
)

const begin = statement(
  () => sql`update inbound_messages set begun_at = ${parameter('at')}
    where id = ${parameter('id')} and state = 'pending'`,
)

const suspectOne = statement(
  () => sql`update inbound_messages set is_suspect = 1, begun_at = null,
      attempts = attempts + ${parameter('tries')}
    where id = ${parameter('id')} and state = 'pending'`,
)

/** `window`: how many messages of each lane a process has in hand at most. */
export async function startParsing({ store, now }: Deps, window: number): Promise<void> {
  await store.write(async (tx) => {
    const [last] = await tx.select().from(inboundReading)
    await tx.execute(countInterruptions, { now: now() })
    if (last?.isUnderWay === false) await tx.update(inboundReading).set({ isUnderWay: true })
    else for (const isMail of [0, 1]) await tx.execute(markFirstSuspects, { isMail, limit: window })
  })
}

/** Whatever was in hand is as if it had never been taken. */
export async function endParsing({ store }: Pick<Base, 'store'>): Promise<void> {
  await store.write(async (tx) => {
    await tx.execute(giveBack, {})
    await tx.update(inboundReading).set({ isUnderWay: false })
  })
}

export async function findNextSuspect({
  store,
}: Pick<Base, 'store'>): Promise<PendingMessage | undefined> {
  return store.read.find(selectSuspect, {})
}

/** How long it has to wait; none where the clock was set back by more than the longest wait. */
export function remainingWaitMs({ dueAt }: PendingMessage, now: number): number {
  const waitMs = dueAt - now
  return waitMs > LONGEST_WAIT_MS ? 0 : Math.max(0, waitMs)
}

/** Why it is not read again; undefined when it is. */
export function findReasonToFail({ attempts, interruptions }: PendingMessage): string | undefined {
  if (attempts >= MAX_TRIES) return `reading it failed ${attempts} times`
  if (interruptions < MAX_INTERRUPTIONS) return undefined
  return `the server ended ${interruptions} times while it was read`
}

/** Durable before it is read alone. */
export async function startAlone({ store, now }: Deps, id: string): Promise<void> {
  await store.write((tx) => tx.execute(begin, { id, at: now() }))
}

/** From now on it is read alone. `isTry`: what happened was its own doing. */
export async function suspect(
  { store }: Pick<Base, 'store'>,
  { id, isTry }: { id: string; isTry: boolean },
): Promise<void> {
  await store.write((tx) => tx.execute(suspectOne, { id, tries: isTry ? 1 : 0 }))
}
