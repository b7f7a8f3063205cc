/** The form of a suppression that the API shows. */
import { formatInstant } from '../../../base/clock.ts'
import type { SuppressionRecord } from '../../../records/suppression.ts'
import type { Suppression } from '../../../store/schema/suppressions.ts'

export type { SuppressionReason } from '../../../store/schema/words.ts'

export function toSuppressionRecord(row: Suppression): SuppressionRecord {
  const { id, address, reason, source, emailId, createdAt } = row
  return { id, email: address, reason, source, emailId, createdAt: formatInstant(createdAt) }
}
