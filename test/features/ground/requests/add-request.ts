import type { RequestLogEntry } from '../../../../src/features/ground/requests/log.ts'
import { newId } from '../../../../src/store/ids.ts'
import { apiRequests } from '../../../../src/store/schema/service.ts'
import type { TestCore } from '../../../core.ts'

/** Adds a line to the log of requests, as the log writes it; returns its id. */
export async function addRequest(
  { store, now }: Pick<TestCore, 'store' | 'now'>,
  entry: Partial<RequestLogEntry> & { projectId: string },
): Promise<string> {
  const row = {
    ...{ id: newId(), method: 'GET', path: '/contacts', statusCode: 200, durationMs: 1 },
    ...{ userId: null, caller: 'secret' as const, ip: null, userAgent: null },
    ...{ errorCode: null, errorMessage: null, requestSizeBytes: 0, responseSizeBytes: 2 },
    createdAt: now(),
    ...entry,
  }
  const authType = row.caller === 'session' ? 'jwt' : 'apiKey'
  await store.write((tx) => tx.insert(apiRequests).values({ ...row, authType }))
  return row.id
}
