/**
 * What an operation may cost: a line of `table.ts`, made of what was measured. Counts are of all that `count`
 * operations caused, and exact. Allocation is not, and messages with results are not in it: see `compare.ts`.
 */
import type { Measured } from './measured-app.ts'

export type Budget = {
  /** How many operations the figures are of. */
  count: number
  /** Executions by statement; `, read`: on the connection beside the one that writes. */
  statements: Record<string, number>
  /** Those of triggers included. */
  rowsChanged: number
  commits: number
  /** B-trees that the statements of a name open for writing, their triggers' included. */
  opened: Record<string, readonly string[]>
  /** Pages of the write-ahead log by B-tree. */
  pages: Record<string, number>
  /** By the main thread, without an optimizing compiler: more than in production. */
  allocatedKilobytes: number
  /** Between the main thread and others, by way and type; without those that bring results. */
  messages: Record<string, number>
}

export const RESULTS = 'from a thread: results'

export function toBudget(count: number, measured: Measured): Budget {
  const { statements, rowsChanged, commits, opened, pages } = measured
  const { [RESULTS]: _, ...messages } = measured.messages
  return {
    ...{ count, statements: sorted(statements), rowsChanged, commits },
    ...{ opened: sorted(opened), pages: sorted(pages) },
    allocatedKilobytes: Math.round(measured.allocatedBytes / 1_024),
    messages: sorted(messages),
  }
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))
}
