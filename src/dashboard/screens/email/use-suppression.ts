/** Whether the address of a sent email is suppressed. */
import type { Answer } from '../../api/client.ts'
import { failureOf, useCall } from '../../api/queries.ts'
import type { EmailRecord } from './record.ts'

export type Suppression = Answer<'GET /suppressions'>['data'][number]

/** `record`: undefined while it is not known, and for received mail. */
export type SuppressionState = {
  record: Suppression | undefined
  failure: Error | null
  reload(): Promise<unknown>
}

export function useSuppression({
  sourceType,
  recipientAddress,
  projectId,
}: EmailRecord): SuppressionState {
  const query = useCall(
    'GET /suppressions',
    { query: { search: recipientAddress, limit: 20 }, project: projectId },
    { isEnabled: sourceType !== 'INBOUND' },
  )
  const address = recipientAddress.toLowerCase()
  const record = query.data?.data.find(({ email }) => email.toLowerCase() === address)
  return { record, failure: failureOf(query), reload: query.refetch }
}
