/** Makes rows of counts from sums: each sum is in a quarter and in a day, and sums of one row are added. */
import { QUARTER_MS, QUARTERS_KEPT_MS, SPANS, startOf } from '../buckets.ts'

/** `startsAt`: the quarter. `subject`: 0 for counts of all. */
type SubjectSum = {
  projectId: string
  kind: string
  startsAt: number
  stream: string
  subject: number
  counts: Readonly<Record<string, number>>
}

/** The columns of a row; those of its counts have their names. */
type CountRow = Record<string, string | number>

/** `at`: now. Quarters that are old enough to be deleted are left out. */
export function rowsOf(sums: readonly SubjectSum[], at: number): CountRow[] {
  const rows = new Map<string, CountRow>()
  for (const sum of sums) {
    for (const span of SPANS) {
      if (span === QUARTER_MS && sum.startsAt < at - QUARTERS_KEPT_MS) continue
      addTo(rows, sum, span)
    }
  }
  return [...rows.values()]
}

function addTo(rows: Map<string, CountRow>, { counts, ...sum }: SubjectSum, span: number): void {
  const startsAt = startOf(span, sum.startsAt)
  const key = `${sum.projectId} ${sum.kind} ${span} ${startsAt} ${sum.stream} ${sum.subject}`
  const row = rows.get(key)
  if (row === undefined) rows.set(key, { ...sum, ...counts, span, startsAt })
  else for (const name in counts) row[name] = Number(row[name]) + (counts[name] ?? 0)
}
