/** The list of addresses that a project does not send to: our refusal, not the contact's wish. */
import { newId } from '../../store/ids.ts'
import { type SuppressionReason, suppressions } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'

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
