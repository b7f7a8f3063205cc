/**
 * Template faults: written to the email, logged and counted. A fault never fails a send, so it would
 * go unnoticed otherwise.
 */
import { eq } from '../../../store/drizzle.ts'
import { emails, type StoredFault } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import type { AttemptRecord } from './attempt-row.ts'

const writeFaults = statement((db) =>
  db
    .update(emails)
    .set({ templateFaults: parameter('faults') })
    .where(eq(emails.id, parameter('id'))),
)

/** Writes the faults of the records that have any. */
export async function recordFaults(
  deps: Pick<Base, 'counters' | 'log'>,
  tx: Tx,
  records: readonly AttemptRecord[],
): Promise<void> {
  const faulty = records.filter(({ faults }) => faults.length > 0)
  if (faulty.length === 0) return
  const rows = faulty.map(({ email, faults }) => ({ id: email.id, faults: faults.map(toStored) }))
  await tx.executeEach(writeFaults, rows)
  tx.afterCommit(() => {
    for (const record of faulty) logFaults(deps, record)
  })
}

function logFaults({ counters, log }: Pick<Base, 'counters' | 'log'>, record: AttemptRecord): void {
  const { id: email, projectId: project } = record.email
  for (const { part, line, column, message: error } of record.faults) {
    counters.add('pillarbox_template_faults_total', { part })
    log.warn({ email, project, part, line, column, error }, 'an email has a fault in its template')
  }
}

function toStored({ part, line, column, message }: StoredFault): StoredFault {
  return { part, line, column, message }
}
