/** Whether the address of an email is suppressed, for emails whose end may have to do with that. */
import type { Answer } from '../../api/client.ts'
import { failureOf, useCall } from '../../api/queries.ts'
import type { EmailRecord } from './record.ts'

export type Suppression = Answer<'GET /suppressions'>['data'][number]

/** `record`: undefined while it is not known, and for emails that ended otherwise. */
export type SuppressionState = {
  record: Suppression | undefined
  failure: Error | null
  reload(): Promise<unknown>
}

const ASKED: readonly string[] = ['BOUNCED', 'COMPLAINED', 'SUPPRESSED', 'FAILED']

export function useSuppression({
  status,
  recipientAddress,
  projectId,
}: EmailRecord): SuppressionState {
  const query = useCall(
    'GET /suppressions',
    { query: { search: recipientAddress, limit: 20 }, project: projectId },
    { isEnabled: ASKED.includes(status) },
  )
  const address = recipientAddress.toLowerCase()
  const record = query.data?.data.find(({ email }) => email.toLowerCase() === address)
  return { record, failure: failureOf(query), reload: query.refetch }
}
