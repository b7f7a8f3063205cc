/**
 * Contacts against what was acknowledged: those that only their own requests change have the last
 * acknowledged state, or that of a later request without an answer; each row of an acknowledged
 * import is there; who unsubscribed is not subscribed.
 */
import { MAX_FINISHED_JOBS } from '../../../src/work/jobs/job-row.ts'
import type { ContactRecord, ContactState, History, ImportRecord } from '../history/history.ts'
import type { Finding, LedgerRow } from './finding.ts'
import type { ContactRow, JobRow } from './rows.ts'

const OWN_DOMAIN = '@people.test'

type ContactHistory = Pick<History, 'contacts' | 'imports' | 'unsubscriptions' | 'erased'>

export function judgeContacts(
  history: ContactHistory,
  { contacts, jobs }: { contacts: readonly ContactRow[]; jobs: readonly JobRow[] },
): LedgerRow[] {
  const main = contacts.filter(({ project }) => project === 'main')
  const rows = Map.groupBy(main, ({ email }) => email)
  const records = [...history.contacts.values()]
  const erasedRows = new Set(
    contacts.filter(({ project }) => project === 'erasures').map(({ email }) => email),
  )
  const unsubscribed = history.unsubscriptions.filter(({ outcome }) => outcome === 'acknowledged')
  const deleted = [...history.erased].filter(([, outcome]) => outcome === 'acknowledged')
  return [
    {
      name: 'changes of contacts',
      count: records.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      findings: [
        ...records.flatMap((record) => judgeContact(record, rows.get(record.email) ?? [])),
        ...main
          .filter(({ email }) => email.endsWith(OWN_DOMAIN) && !history.contacts.has(email))
          .map(({ email }) => ({ id: email, text: 'nobody created it' })),
      ],
    },
    {
      name: 'imported contacts',
      count: history.imports.reduce((sum, { emails }) => sum + emails.length, 0),
      findings: history.imports.flatMap((each) => judgeImport(each, rows, jobs)),
    },
    {
      name: 'unsubscriptions',
      count: unsubscribed.length,
      findings: unsubscribed
        .filter(({ email }) => rows.get(email)?.some(({ subscribed }) => subscribed))
        .map(({ email }) => ({ id: email, text: 'unsubscribed, and still subscribed' })),
    },
    {
      name: 'contacts deleted with their mail',
      count: deleted.length,
      findings: deleted
        .filter(([email]) => erasedRows.has(email))
        .map(([email]) => ({ id: email, text: 'deleted, and still there' })),
    },
  ]
}

function judgeContact({ email, possible }: ContactRecord, rows: readonly ContactRow[]): Finding[] {
  if (rows.length > 1) return [{ id: email, text: `stored ${rows.length} times` }]
  const state = stateOf(rows[0])
  if (possible.some((each) => isSame(each, state))) return []
  const texts = possible.map((each) => JSON.stringify(each)).join(' or ')
  return [{ id: email, text: `is ${JSON.stringify(state)}, and should be ${texts}` }]
}

function stateOf(row: ContactRow | undefined): ContactState {
  if (row === undefined) return null
  return { subscribed: row.subscribed, revision: Number(row.data.revision) }
}

function isSame(a: ContactState, b: ContactState): boolean {
  return a?.revision === b?.revision && a?.subscribed === b?.subscribed
}

/** Without an answer, the file was taken as a whole or not at all. */
function judgeImport(
  { number, outcome, jobId, emails }: ImportRecord,
  rows: Map<string, ContactRow[]>,
  jobs: readonly JobRow[],
): Finding[] {
  const missing = emails.filter(
    (email) => rows.get(email)?.filter(({ data }) => data.batch === `b${number}`).length !== 1,
  )
  if (outcome !== 'acknowledged') {
    const isWhole = missing.length === 0 || missing.length === emails.length
    return isWhole ? [] : [{ id: `b${number}`, text: 'imported in part' }]
  }
  const state = jobs.find(({ id }) => id === jobId)?.state ?? stateOfDeleted(jobs)
  return [
    ...missing.map((email) => ({ id: email, text: `import ${number} does not have it once` })),
    ...(state === 'completed' ? [] : [{ id: jobId, text: `import ${number} is ${state}` }]),
  ]
}

/** The server keeps the newest jobs that are completed. */
function stateOfDeleted(jobs: readonly JobRow[]): JobRow['state'] | undefined {
  const kept = jobs.filter(({ kind, state }) => kind === 'import' && state === 'completed')
  return kept.length >= MAX_FINISHED_JOBS.completed ? 'completed' : undefined
}
