/** Lists held suppressions, newest first (`messages/outcome/` says when a suppression is held). */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import { and, count, desc, eq, gte } from '../../../store/drizzle.ts'
import { heldSuppressions } from '../../../store/schema/suppressions.ts'
import type { HeldCause, SuppressionReason } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'

export type HeldView = {
  id: string
  projectId: string
  email: string
  reason: SuppressionReason
  /** `fuse`: until an operator decides; `domain`: until DNS has been queried for its domain again. */
  cause: HeldCause
  source: string
  emailId: string
  createdAt: string
  /** When DNS is queried for the domain again. */
  dueAt: string | null
}

/** All projects without `projectId`; all times without `since` (epoch ms). */
export type HeldScope = { projectId?: string | undefined; since?: number | undefined }

type HeldPage = { data: HeldView[]; hasMore: boolean; total: number }

export async function listHeld(
  { store }: Pick<Base, 'store'>,
  { limit, ...scope }: HeldScope & { limit: number },
): Promise<HeldPage> {
  const rows = await store.scan
    .select()
    .from(heldSuppressions)
    .where(isHeldIn(scope))
    .orderBy(desc(heldSuppressions.createdAt), desc(heldSuppressions.id))
    .limit(limit)
  const total = await countHeld({ store }, scope)
  return { data: rows.map(toView), hasMore: total > rows.length, total }
}

export async function countHeld(
  { store }: Pick<Base, 'store'>,
  scope: HeldScope & { cause?: HeldCause },
): Promise<number> {
  const found = store.scan.select({ total: count() }).from(heldSuppressions).where(isHeldIn(scope))
  return (await found.get())?.total ?? 0
}

export function isHeldIn({ projectId, since, cause }: HeldScope & { cause?: HeldCause }) {
  return and(
    projectId === undefined ? undefined : eq(heldSuppressions.projectId, projectId),
    since === undefined ? undefined : gte(heldSuppressions.createdAt, since),
    cause === undefined ? undefined : eq(heldSuppressions.cause, cause),
  )
}

function toView(row: typeof heldSuppressions.$inferSelect): HeldView {
  const { id, projectId, address, reason, cause, source, emailId } = row
  const times = { createdAt: formatInstant(row.createdAt), dueAt: formatOptionalInstant(row.dueAt) }
  return { id, projectId, email: address, reason, cause, source, emailId, ...times }
}
