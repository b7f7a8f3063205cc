/** Whether the address of a sent email is suppressed. */
import type { Answer } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import type { EmailRecord } from './record.ts'

export type Suppression = Answer<'GET /suppressions'>['data'][number]

/** `record`: undefined while it is not known, and for received mail. */
export type SuppressionState = { record: Suppression | undefined; reload(): Promise<unknown> }

export function useSuppression({ sourceType, recipientAddress }: EmailRecord): SuppressionState {
  const { data, refetch } = useCall(
    'GET /suppressions',
    { query: { search: recipientAddress, limit: 20 } },
    { isEnabled: sourceType !== 'INBOUND' },
  )
  const address = recipientAddress.toLowerCase()
  const record = data?.data.find(({ email }) => email.toLowerCase() === address)
  return { record, reload: refetch }
}
