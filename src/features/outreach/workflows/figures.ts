/**
 * The counts of workflows. Each has a subject, which is a step, a transition, or '' for the workflow:
 *
 *   step         completed, failed, skipped: executions; `took <bucket>`: completed ones by duration
 *   transition   taken
 *   ''           heldBack: starts that re-entry rules refused; tooManyStarts: starts over the limit;
 *                automatic: received mail of machines, which started nothing;
 *                chainTooDeep: starts whose chain was too deep; chainDelayed: starts of chains that
 *                waited for a place in a minute
 */

import { eachOf, jsonItem } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** A change of a count: the subject, the figure, and the number to add. */
export type FigureChange = [subject: string, figure: string, by: number]

const addEach = statement(
  () => sql`insert into workflow_figures (workflow_id, subject, figure, count)
    select ${parameter('workflowId')}, ${jsonItem(sql`row.value`, 0)},
      ${jsonItem(sql`row.value`, 1)}, ${jsonItem(sql`row.value`, 2)}
    from ${eachOf(parameter('changes'))} as row where true
    on conflict (workflow_id, subject, figure) do update set count = count + excluded.count`,
)

export async function addFigures(
  tx: Tx,
  workflowId: string,
  changes: readonly FigureChange[],
): Promise<void> {
  if (changes.length === 0) return
  await tx.execute(addEach, { workflowId, changes: JSON.stringify(changes) })
}

/**
 * Returns the bucket of a duration in ms: the highest power of 2 ^ (1/4) that the duration reaches,
 * so that a bucket is 19% wide.
 */
export function durationBucket(ms: number): number {
  return ms < 1 ? 0 : Math.floor(4 * Math.log2(ms)) + 1
}

/** Returns the middle of a bucket in ms. */
export function bucketMs(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / 4))
}
