/** What a run prints at its end. */
import { printTable } from '../bench/table.ts'
import type { DisruptionRecord, History } from './history/history.ts'
import type { LedgerRow } from './ledger/finding.ts'
import type { Story } from './ledger/story.ts'

/** So many findings of a row are printed. */
export const MAX_FINDINGS = 10

export function printSummary(
  history: Pick<History, 'answers' | 'disruptions'>,
  rows: readonly LedgerRow[],
): void {
  console.log(`\ndisruptions  ${listCounts(countKinds(history.disruptions))}`)
  console.log(`answers      ${listCounts(history.answers)}\n`)
  printTable([
    ['ledger', 'count', 'wrong', ''],
    ...rows.map(({ name, count, note = '', findings }) => {
      return [name, String(count), String(findings.length), `  ${note}`]
    }),
  ])
}

export function printFindings(rows: readonly LedgerRow[], stories: readonly Story[]): void {
  const byId = new Map(stories.map(({ id, lines }) => [id, lines]))
  for (const { name, findings } of rows) {
    if (findings.length === 0) continue
    console.log(`\n${name}: ${findings.length} wrong`)
    for (const { id, text } of findings.slice(0, MAX_FINDINGS)) {
      console.log(`  ${id}  ${text}`)
      for (const line of byId.get(id) ?? []) console.log(`      ${line}`)
    }
  }
}

function countKinds(disruptions: readonly DisruptionRecord[]): Record<string, number> {
  const groups = Map.groupBy(disruptions, ({ kind }) => kind)
  return Object.fromEntries([...groups].map(([kind, { length }]) => [kind, length]))
}

function listCounts(counts: Record<string, number>): string {
  const entries = Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b))
  return entries.map(([name, count]) => `${name} ${count}`).join(', ')
}
