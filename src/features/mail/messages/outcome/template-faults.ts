/**
 * Template faults: written to the email, logged and counted. A fault never fails a send, so it would
 * go unnoticed otherwise.
 */
import { eq } from '../../../../store/drizzle.ts'
import type { StoredFault } from '../../../../store/schema/json-values.ts'
import { type Email, emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'

/** An email, and the faults in its templates. */
type Faulty = { email: Pick<Email, 'id' | 'projectId'>; faults: readonly StoredFault[] }

const writeFaults = statement((db) =>
  db
    .update(emails)
    .set({ templateFaults: parameter('faults') })
    .where(eq(emails.id, parameter('id'))),
)

/** `faulty`: at least one email. */
export async function recordFaults(
  deps: Pick<Base, 'counters' | 'log'>,
  tx: Tx,
  faulty: readonly Faulty[],
): Promise<void> {
  const rows = faulty.map(({ email, faults }) => ({ id: email.id, faults: faults.map(toStored) }))
  await tx.executeEach(writeFaults, rows)
  tx.afterCommit(() => {
    for (const each of faulty) logFaults(deps, each)
  })
}

function logFaults(
  { counters, log }: Pick<Base, 'counters' | 'log'>,
  { email: { id: emailId, projectId }, faults }: Faulty,
): void {
  for (const { part, line, column } of faults) {
    counters.add('pillarbox_template_faults_total', { part })
    log.warn({ emailId, projectId, part, line, column }, 'an email has a fault in its template')
  }
}

function toStored({ part, line, column, message }: StoredFault): StoredFault {
  return { part, line, column, message }
}
