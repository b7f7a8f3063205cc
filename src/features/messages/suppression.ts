/** The list of addresses that a project does not send to: our refusal, not the contact's wish. */
import { and, eq } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { type SuppressionReason, suppressions } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'

const findSuppression = statement((db) =>
  db
    .select({ id: suppressions.id })
    .from(suppressions)
    .where(
      and(
        eq(suppressions.projectId, parameter('projectId')),
        eq(suppressions.email, parameter('email')),
      ),
    ),
)

export async function isSuppressed(tx: Tx, projectId: string, email: string): Promise<boolean> {
  return (await tx.find(findSuppression, { projectId, email })) !== undefined
}

export type NewSuppression = {
  projectId: string
  email: string
  reason: SuppressionReason
  /** What led to it, for people: a reply, an operator. */
  source: string
  emailId: string | null
  at: number
}

/** Puts an address on the list; one that stands there already keeps its first reason. */
export async function suppress(tx: Tx, suppression: NewSuppression): Promise<void> {
  const { at, ...row } = suppression
  await tx
    .insert(suppressions)
    .values({ ...row, id: newId(), createdAt: at })
    .onConflictDoNothing()
}
