/** The list of addresses that a project does not send to: our refusal, not the contact's wish. */
import { sql } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { type SuppressionReason, suppressions } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'

const listSuppressions = statement((db) =>
  db
    .select({ email: suppressions.email })
    .from(suppressions)
    .where(
      sql`${suppressions.projectId} = ${parameter('projectId')}
        and ${suppressions.email} in (select value from json_each(${parameter('emails')}))`,
    ),
)

/** Those of the addresses that are on the project's list. */
export async function findSuppressed(
  tx: Tx,
  projectId: string,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.list(listSuppressions, { projectId, emails: JSON.stringify(emails) })
  return new Set(rows.map(({ email }) => email))
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
