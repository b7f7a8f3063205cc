/**
 * Sets a fence (`rows.ts`): a new generation of the database, in one transaction. From then on everything
 * that the database had is fenced in every project. Mail is put aside behind it (`messages/fenced`), and
 * delivery refuses what is claimed meanwhile, so no server ever acts behind half a fence.
 *
 * Sessions, invitations and links of one use end: an old cookie or link would be valid again in a database
 * that was brought back. The next event gets a number that is higher than any that was given before the
 * database was brought back.
 */
import { listOf, raiseLastNumber, selectLastNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { generations } from '../../../store/schema/fences.ts'
import type { FenceCause } from '../../../store/schema/words.ts'
import { onShelves } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { findKnown, isOlder, type KnownGeneration } from './generation-file.ts'
import { FENCED_UNTIL, findGeneration, findLostLogFence, SERVER } from './rows.ts'

type FenceRequest = {
  cause: FenceCause
  /** What the file `generation` knew of the database (`generation-file.ts`). */
  known?: KnownGeneration | undefined
}

/** `seq`: the last number of an event before the fence; the next event gets a higher number. */
type NewFence = { generation: number; seq: number }

/**
 * How far the numbers of events jump at a fence: more than the events that any server records
 * between a copy and the present.
 */
const SEQ_GAP = 1_000_000

const AT = parameter('at')

const findLastEvent = statement<{ seq: number }>(() => selectLastNumber('events'))

const [insertEventNumber, raiseEventNumber] = raiseLastNumber('events', parameter('seq'))
const raiseEvents = [statement(() => insertEventNumber), statement(() => raiseEventNumber)]

/**
 * If the newest email is later than now, because the clock was set back, finds the time of the
 * newest waiting email, so that all waiting mail is fenced. Null otherwise, without a search.
 */
const findMailUntil = statement<{ until: number | null }>(
  () => sql`select case
      when (select created_at from emails order by id desc limit 1) > ${AT} then (
        select max(created_at) from (
          select created_at from emails where due_at is not null
          union all select created_at from emails where lease_until is not null
          union all select created_at from emails where ${onShelves('held')}))
    end as until`,
)

const insertFences = statement(
  () => sql`insert into fences (project_id, generation, set_at, event_seq, execution_number,
      delivery_number, mail_until)
    select id, ${parameter('generation')}, ${AT}, ${parameter('eventSeq')},
      coalesce((${selectLastNumber('workflow_executions')}), 0),
      coalesce((${selectLastNumber('webhook_deliveries')}), 0), ${parameter('mailUntil')}
    from (select id from projects union all select ${SERVER})
    where true
    on conflict do update set generation = excluded.generation, set_at = excluded.set_at,
      event_seq = excluded.event_seq, execution_number = excluded.execution_number,
      delivery_number = excluded.delivery_number, mail_until = excluded.mail_until, is_settled = 0`,
)

const pauseCampaigns = statement(
  () => sql`update campaigns set paused_at = ${AT}, pause_reason = 'restored', pause_details = null,
      updated_at = ${AT}
    where campaigns.status in ('SCHEDULED', 'SENDING') and paused_at is null`,
)

/**
 * A schedule without a next firing does not fire. The release of the fence computes the next firing
 * again (`workflows/schedule`).
 */
const stopSchedules = statement(
  () => sql`update workflows set next_fire_at = null where next_fire_at is not null`,
)

/** Fences jobs. A running job loses its lease, so it cannot commit any more. */
const fenceJobs = statement(
  () => sql`update jobs set state = 'waiting', run_at = ${FENCED_UNTIL}, lease_id = null,
      lease_until = null, attempts = attempts - (state = 'active'), updated_at = ${AT}
    where state in ('waiting', 'active') and kind in ${listOf(parameter('kinds'))}`,
)

/**
 * The copy's batches may have been charged since, so they count as tried: no emails are added to them, and
 * Stripe's identifiers or the summary of its meter decide (`billing/metering/settle.ts`).
 */
const fenceBatches = statement(
  () => sql`update metering_batches set is_held = 1,
      first_tried_at = coalesce(first_tried_at, occurred_at),
      last_tried_at = coalesce(last_tried_at, occurred_at)
    where state not in ('charged', 'dropped')`,
)

const fenceReceived = statement(
  () => sql`update inbound_messages set state = 'held', begun_at = null where state = 'pending'`,
)

const endSessions = statement(() => sql`delete from sessions`)

const endLinks = statement(
  () => sql`update account_tokens set used_at = ${AT} where used_at is null`,
)

const endInvitations = statement(
  () =>
    sql`update invitations set revoked_at = ${AT} where accepted_at is null and revoked_at is null`,
)

const FENCE = [pauseCampaigns, stopSchedules, fenceJobs, fenceBatches, fenceReceived]
const END = [endSessions, endLinks, endInvitations]

/** Sets the fence. Servers may run meanwhile. */
export async function setFence(
  deps: Pick<Base, 'store' | 'now' | 'duties'>,
  request: FenceRequest,
): Promise<NewFence> {
  return deps.store.write((tx) => setIn(deps, tx, { ...request, at: deps.now() }))
}

/**
 * Sets the fence if the database still knows less than the file. Returns undefined if another process has
 * set the fence meanwhile.
 */
export async function setFenceIfOlder(
  deps: Pick<Base, 'store' | 'now' | 'duties'>,
  { cause, known }: { cause: FenceCause; known: KnownGeneration },
): Promise<NewFence | undefined> {
  return deps.store.write(async (tx) => {
    const isStill = isOlder(await findKnown(tx), known)
    return isStill ? setIn(deps, tx, { cause, known, at: deps.now() }) : undefined
  })
}

/**
 * Sets the fence for a log that was lost under a server that has run since `servedAt` (epoch ms). Returns
 * undefined if this was done already.
 */
export async function setFenceForLog(
  deps: Pick<Base, 'store' | 'now' | 'duties'>,
  { known, servedAt }: { known: KnownGeneration | undefined; servedAt: number },
): Promise<NewFence | undefined> {
  return deps.store.write(async (tx) => {
    const last = await findLostLogFence(tx)
    if (last !== undefined && last.setAt >= servedAt) return undefined
    return setIn(deps, tx, { cause: 'lost-log', known, at: deps.now() })
  })
}

async function setIn(
  { duties }: Pick<Base, 'duties'>,
  tx: Tx,
  { at, ...request }: FenceRequest & { at: number },
): Promise<NewFence> {
  const { generation, eventSeq, seq } = await beginGeneration(tx, { ...request, at })
  const mailUntil = Math.max(at, (await tx.find(findMailUntil, { at }))?.until ?? 0)
  await tx.execute(insertFences, { generation, at, eventSeq, mailUntil })
  const values = { at, kinds: JSON.stringify(duties.fencedKinds) }
  for (const fence of FENCE) await tx.execute(fence, values)
  for (const end of END) await tx.execute(end, values)
  return { generation, seq }
}

/**
 * Begins a generation in a new database whose folder had another one: numbers go on after those of the old
 * database, and nothing is fenced.
 */
export async function continueGeneration(
  { store, now }: Pick<Base, 'store' | 'now'>,
  known: NewFence,
): Promise<NewFence> {
  return store.write((tx) => beginGeneration(tx, { cause: 'start', known, at: now() }))
}

/** `eventSeq`: the last number of an event before the fence. */
async function beginGeneration(
  tx: Tx,
  { cause, known, at }: FenceRequest & { at: number },
): Promise<NewFence & { eventSeq: number }> {
  const before = (await tx.find(findLastEvent))?.seq ?? 0
  const newest = await findGeneration(tx)
  const generation = Math.max(newest?.number ?? 0, known?.generation ?? 0) + 1
  const seq = Math.max(before, known?.seq ?? 0) + SEQ_GAP
  await tx.insert(generations).values({ number: generation, cause, eventSeq: before, setAt: at })
  for (const raise of raiseEvents) await tx.execute(raise, { seq })
  return { generation, seq, eventSeq: before }
}
