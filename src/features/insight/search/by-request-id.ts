/**
 * Finds requests of the log by their id. The log has no index of ids. An id that the server made tells
 * its time, so only the requests of that moment are read; of ids that clients chose, the newest
 * requests are searched.
 */
import { SECOND_MS } from '../../../base/clock.ts'
import { isUuid } from '../../../store/ids.ts'
import { selectRequestStretch } from '../../ground/requests/list.ts'
import { timeOfRequestId } from '../../ground/requests/request-id.ts'
import { type Candidate, RANK, type SearchDeps, type SearchedText } from './candidate.ts'

const MAX_REQUESTS = 5
/** How far the time in an id may be from that of its request. */
const MAX_DISTANCE_MS = SECOND_MS
/** Shorter texts are words that people type, rather than ids of requests. */
const REQUEST_ID = /^[A-Za-z0-9._-]{8,128}$/

type FoundRequest = {
  id: string
  method: string
  path: string
  statusCode: number
  errorCode: string | null
}

export async function searchRequests(
  { store }: SearchDeps,
  { projectId, text }: SearchedText,
): Promise<Candidate[]> {
  if (!REQUEST_ID.test(text)) return []
  for (const { requestId, ...span } of tries(text)) {
    const query = { projectId, limit: MAX_REQUESTS, requestId, ...span }
    const found = await store.scan.all<FoundRequest>(
      selectRequestStretch(query, { after: undefined, wanted: MAX_REQUESTS }),
    )
    if (found.length > 0) return found.map((row) => ({ rank: RANK.id, result: toResult(row) }))
  }
  return []
}

/** What to search, one after the other; without bounds of time: the newest requests. */
function tries(text: string): { requestId: string; startAt?: number; endAt?: number }[] {
  const lower = text.toLowerCase()
  const at = timeOfRequestId(lower)
  const ofMoment =
    at === undefined
      ? []
      : [{ requestId: lower, startAt: at - MAX_DISTANCE_MS, endAt: at + MAX_DISTANCE_MS }]
  return [...ofMoment, { requestId: isUuid(lower) ? lower : text }]
}

function toResult({ id, method, path, statusCode, errorCode }: FoundRequest): Candidate['result'] {
  const detail = errorCode === null ? String(statusCode) : `${statusCode} ${errorCode}`
  return { kind: 'request', id, title: `${method} ${path}`, detail, workflowId: null }
}
