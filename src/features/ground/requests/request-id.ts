/**
 * The ids of requests that the server makes tell the time. The request log has no index of ids, and
 * finds a request by that time (`insight/search/by-request-id.ts`).
 */
import { idTime, isUuid, newId } from '../../../store/ids.ts'

export function newRequestId(): string {
  return newId()
}

/** Returns the time of the request in epoch milliseconds; undefined for an id that tells none. */
export function timeOfRequestId(id: string): number | undefined {
  return isUuid(id) && id[14] === '7' ? idTime(id) : undefined
}
