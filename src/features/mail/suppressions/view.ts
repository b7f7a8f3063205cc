/** The form of a suppression that the API shows. */
import { formatInstant } from '../../../base/clock.ts'
import type { Suppression } from '../../../store/schema/suppressions.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'

export type { SuppressionReason } from '../../../store/schema/words.ts'

export const SUPPRESSION_REASONS: readonly SuppressionReason[] = [
  'HARD_BOUNCE',
  'COMPLAINT',
  'MANUAL',
  'STRIKES',
]

export type SuppressionView = {
  id: string
  email: string
  reason: SuppressionReason
  /** The cause, as text for people. */
  source: string
  emailId: string | null
  createdAt: string
}

export function toSuppressionView(row: Suppression): SuppressionView {
  const { id, address, reason, source, emailId, createdAt } = row
  return { id, email: address, reason, source, emailId, createdAt: formatInstant(createdAt) }
}
