/** Figures that the server keeps against a recount, jobs, and the integrity of the database. */
import type { History } from '../history/history.ts'
import type { LedgerRow } from './finding.ts'
import type { Count, JobRow } from './rows.ts'

export function judgeCounts(
  { surprises }: Pick<History, 'surprises'>,
  {
    counts,
    jobs,
    integrity,
  }: { counts: readonly Count[]; jobs: readonly JobRow[]; integrity: readonly string[] },
): LedgerRow[] {
  return [
    {
      name: 'figures equal a recount',
      count: counts.length,
      findings: counts
        .filter(({ kept, recounted }) => kept !== recounted)
        .map(({ name, kept, recounted }) => ({
          id: name,
          text: `the server says ${kept}, the rows ${recounted}`,
        })),
    },
    {
      name: 'background jobs',
      count: jobs.length,
      findings: jobs
        .filter(({ state }) => state === 'failed')
        .map(({ id, kind, error }) => ({ id, text: `${kind} failed: ${error}` })),
    },
    {
      name: 'integrity of the database',
      count: 1,
      findings: integrity.map((text) => ({ id: 'database', text })),
    },
    {
      name: 'answers that nobody expects',
      count: surprises.length,
      findings: surprises.map(({ what, status, text, at }) => ({
        id: what,
        text: `${status} at ${new Date(at).toISOString()}: ${text}`,
      })),
    },
  ]
}
