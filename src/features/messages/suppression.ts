/** The list of addresses that a project does not send to: our refusal, not the contact's wish. */
import { newId } from '../../store/ids.ts'
import { type SuppressionReason, suppressions } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'

export type NewSuppression = {
  projectId: string
  email: string
  reason: SuppressionReason
  /** What led to it, for people: a reply, an operator. */
  source: string
  emailId: string | null
  at: number
}

const insertSuppression = statement((db) =>
  db
    .insert(suppressions)
    .values({
      id: parameter('id'),
      projectId: parameter('projectId'),
      email: parameter('email'),
      reason: parameter('reason'),
      source: parameter('source'),
      emailId: parameter('emailId'),
      createdAt: parameter('createdAt'),
    })
    .onConflictDoNothing(),
)

/**
 * Puts an address on the list; one that stands there already keeps its first reason. Whether it did
 * not.
 */
export async function suppress(tx: Tx, suppression: NewSuppression): Promise<boolean> {
  const { at, ...row } = suppression
  return (await tx.execute(insertSuppression, { ...row, id: newId(), createdAt: at })) === 1
}
