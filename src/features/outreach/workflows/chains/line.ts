/**
 * The line of chains. An execution that an event of another execution starts is part of a chain. In
 * a project `MAX_CHAIN_STARTS_PER_MINUTE` of them begin in a minute. Each further execution waits
 * for a minute in which there is a place for it; its row has the time of that minute. The rows are
 * WAITING at their TRIGGER, so that a cancellation, a fence or a deletion finds them like any other
 * execution.
 *
 *   nobody waits, there is a place       it begins
 *   somebody waits, or there is none     it gets the next free place behind those who wait
 *   its minute has come                  it begins, or, after a downtime, gets another place
 *
 * The places are counted in the transaction of the turn that takes them.
 */
import { DAY_MS, MINUTE_MS } from '../../../../base/clock.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { chainStarts, type WorkflowExecution } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { MAX_CHAIN_STARTS_PER_MINUTE } from '../limits.ts'

/** An execution of a chain that has not begun. `dueAt`: 0 if it has no place yet. */
type WaitingStart = { number: number; dueAt: number }

/** The answer to a waiting execution: it begins now, or it waits until `dueAt`. */
type LinePlace = { begins: true } | { begins: false; dueAt: number }

export type ChainLine = {
  take(waiting: WaitingStart): Promise<LinePlace>
  /** Writes how many executions have begun in this minute. */
  write(): Promise<void>
}

/** The longest line: 1.4 million starts. */
const LONGEST_LINE_MS = DAY_MS

type LastPlace = { dueAt: number; taken: number }
type LineState = { begun: number; last: LastPlace | undefined; isChanged: boolean }

const findBegun = statement<{ minuteAt: number; begun: number }>(
  () => sql`select minute_at as "minuteAt", begun from chain_starts
    where project_id = ${parameter('projectId')}`,
)

const inLine = sql`workflow_executions ${indexedBy('workflow_executions_line')}
  where project_id = ${parameter('projectId')} and depth > 0 and steps_done = 0
    and status = 'WAITING'`

/**
 * Finds the last place that was given to a waiting execution, and how many have it; no row if none
 * waits. A place after `until` was given while the clock was ahead: no execution queues behind it.
 */
const findLastPlace = statement<LastPlace>(
  () => sql`select due_at as "dueAt", count(*) as taken from ${inLine}
    and due_at = (select max(due_at) from ${inLine} and due_at <= ${parameter('until')})
    and due_at > 0 group by due_at`,
)

const saveBegun = statement((db) =>
  db
    .insert(chainStarts)
    .values({
      projectId: parameter('projectId'),
      minuteAt: parameter('minuteAt'),
      begun: parameter('begun'),
    })
    .onConflictDoUpdate({
      target: chainStarts.projectId,
      set: { minuteAt: parameter('minuteAt'), begun: parameter('begun') },
    }),
)

const postpone = statement(
  () => sql`update workflow_executions set due_at = ${parameter('dueAt')}, updated_at = ${parameter('at')}
    where number = ${parameter('number')}`,
)

/** `at`: the time of the turn. Reads nothing before the first `take`. */
export function createChainLine(
  tx: Tx,
  { projectId, at }: { projectId: string; at: number },
): ChainLine {
  const minuteAt = at - (at % MINUTE_MS)
  let state: LineState | undefined

  async function load(): Promise<LineState> {
    const counted = await tx.find(findBegun, { projectId })
    const last = await tx.find(findLastPlace, { projectId, until: minuteAt + LONGEST_LINE_MS })
    const begun = counted?.minuteAt === minuteAt ? counted.begun : 0
    return { begun, last, isChanged: false }
  }

  return {
    async take({ number, dueAt }) {
      state ??= await load()
      const isNext = dueAt > 0 || state.last === undefined
      if (isNext && state.begun < MAX_CHAIN_STARTS_PER_MINUTE) {
        state.begun += 1
        state.isChanged = true
        return { begins: true }
      }
      state.last = nextPlace(state.last, minuteAt)
      await tx.execute(postpone, { number, dueAt: state.last.dueAt, at })
      return { begins: false, dueAt: state.last.dueAt }
    },
    async write() {
      if (state?.isChanged !== true) return
      await tx.execute(saveBegun, { projectId, minuteAt, begun: state.begun })
    },
  }
}

/**
 * Returns the first free place behind the last place that was given, in a later minute than
 * `minuteAt`.
 */
function nextPlace(last: LastPlace | undefined, minuteAt: number): LastPlace {
  const nextMinuteAt = minuteAt + MINUTE_MS
  if (last === undefined || last.dueAt < nextMinuteAt) return { dueAt: nextMinuteAt, taken: 1 }
  const { dueAt, taken } = last
  if (taken < MAX_CHAIN_STARTS_PER_MINUTE) return { dueAt, taken: taken + 1 }
  return { dueAt: dueAt + MINUTE_MS, taken: 1 }
}

/**
 * Whether the execution waits in the line: it has not begun. The first step, the TRIGGER, never
 * waits for anything else.
 */
export function isInLine({ status, stepsDone }: Pick<WorkflowExecution, 'status' | 'stepsDone'>) {
  return status === 'WAITING' && stepsDone === 0
}
