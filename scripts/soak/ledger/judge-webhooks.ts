/**
 * What the receiver of webhooks got against the events: the watched endpoint gets each event of its
 * project, all requests are signed, and none is for something that did not happen. A request may be
 * repeated after a failure, or if the server was disrupted in between. A
 * graceful stop aborts requests that take more than a second, so they may be repeated, too.
 */
import type { DisruptionRecord, History, HookRequest } from '../history/history.ts'
import { type Finding, isDisrupted, type LedgerRow } from './finding.ts'
import type { DeliveryRow, EventRow } from './rows.ts'

export const EVENTS_PATH = '/events'
export const STEP_PATH = '/step'

const ABORTED_MS = 2_000

type HookHistory = Pick<History, 'hooks' | 'disruptions' | 'contacts'>
type Stored = {
  events: readonly EventRow[]
  deliveries: readonly DeliveryRow[]
  endpointAfterSeq: number
}

export function judgeWebhooks(
  history: HookHistory,
  { events, deliveries, endpointAfterSeq }: Stored,
): LedgerRow[] {
  const hooks = history.hooks.filter(({ path }) => path === EVENTS_PATH)
  const byId = Map.groupBy(hooks, ({ id }) => id)
  const wanted = events.filter(({ project, seq }) => project === 'main' && seq > endpointAfterSeq)
  const known = new Set(events.map(({ id }) => id))
  // With a contact its events go, but not the requests that told of them.
  const foreign = hooks.filter(({ id, email }) => !known.has(id) && !history.contacts.has(email))
  const unfinished = deliveries.filter(({ status }) => status !== 'SUCCEEDED')
  const signed = history.hooks.filter(({ path }) => path === EVENTS_PATH || path === STEP_PATH)
  return [
    {
      name: 'events told to the endpoint',
      count: wanted.length,
      findings: [
        ...wanted
          .filter(({ id }) => !isTaken(byId.get(id)))
          .map(({ id, name }) => ({ id, text: `${name} was not told` })),
        ...foreign.map(({ id }) => ({ id, text: 'told, and not stored' })),
        ...unfinished.map(({ eventId: id, status }) => ({ id, text: `its delivery is ${status}` })),
      ],
    },
    {
      name: 'webhooks told again',
      count: [...byId.values()].reduce((sum, { length }) => sum + length - 1, 0),
      note: 'each after a failure or a cut',
      findings: [...byId.values()].flatMap((requests) => judgeRepetitions(history, requests)),
    },
    {
      name: 'signatures of webhooks',
      count: signed.length,
      findings: signed
        .filter(({ isSigned }) => !isSigned)
        .map(({ id, path }) => ({ id, text: `a request to ${path} without a right signature` })),
    },
  ]
}

function isTaken(requests: readonly HookRequest[] = []): boolean {
  return requests.some(({ status }) => status === 200)
}

/** Each request but the last must have failed, or the server was disrupted before the next. */
export function judgeRepetitions(
  { disruptions }: Pick<History, 'disruptions'>,
  requests: readonly HookRequest[],
): Finding[] {
  const sorted = requests.toSorted((a, b) => a.at - b.at)
  return sorted
    .slice(0, -1)
    .filter(({ status, at: from }, index) => {
      const to = sorted[index + 1]?.at ?? from
      if (status !== 200 || isDisrupted(disruptions, { from, to })) return false
      return !isDuringRestart(disruptions, from)
    })
    .map(({ id, at }) => {
      const time = new Date(at).toISOString()
      return { id, text: `told ${requests.length} times; nothing was cut at ${time}` }
    })
}

function isDuringRestart(disruptions: readonly DisruptionRecord[], at: number): boolean {
  return disruptions.some(({ kind, from, to }) => {
    return kind === 'restart' && from < at + ABORTED_MS && to > at
  })
}
