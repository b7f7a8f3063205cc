/** Whether the address of an email is suppressed, for emails whose end may have to do with that. */
import type { Answer } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import type { EmailRecord } from './record.ts'

export type Suppression = Answer<'GET /suppressions'>['data'][number]

/** `record`: undefined while it is not known, and for emails that ended otherwise. */
export type SuppressionState = { record: Suppression | undefined; reload(): Promise<unknown> }

const ASKED: readonly string[] = ['BOUNCED', 'COMPLAINED', 'SUPPRESSED', 'FAILED']

export function useSuppression({
  status,
  recipientAddress,
  projectId,
}: EmailRecord): SuppressionState {
  const { data, refetch } = useCall(
    'GET /suppressions',
    { query: { search: recipientAddress, limit: 20 }, project: projectId },
    { isEnabled: ASKED.includes(status) },
  )
  const address = recipientAddress.toLowerCase()
  const record = data?.data.find(({ email }) => email.toLowerCase() === address)
  return { record, reload: refetch }
}
