/** `POST /v1/track`: events of contacts, some of which start a workflow. */
import type { Operation } from '../plan/operations.ts'
import { makeRecipients } from './recipients.ts'
import type { Handler, Traffic } from './traffic.ts'

export const WORKFLOW_EVENT = 'signup'
const EVENTS = ['soak.visit', 'soak.purchase', 'soak.login'] as const
const VISITORS = 400

export const track: Handler = (traffic, operation) =>
  trackEvent(traffic, operation, { name: chooseName(operation), email: visitorOf(operation) })

export const trackKeyed: Handler = (traffic, operation) => {
  const key = `track-${operation.number}`
  return trackEvent(traffic, operation, {
    ...{ name: chooseName(operation), email: visitorOf(operation), key },
  })
}

/** A contact of its own, because a contact walks through the workflow once. */
export const startWorkflow: Handler = (traffic, operation) => {
  const [address = ''] = makeRecipients(operation)
  const email = `w${operation.number}${address.slice(address.indexOf('@'))}`
  const key = operation.lots[0] < 0.5 ? { key: `signup-${operation.number}` } : {}
  return trackEvent(traffic, operation, { name: WORKFLOW_EVENT, email, ...key })
}

type Event = { name: string; email: string; key?: string }

async function trackEvent(
  { history, main }: Traffic,
  { number }: Operation,
  { name, email, key }: Event,
): Promise<void> {
  const data = { number: { value: number, persistent: false } }
  const request = { method: 'POST', path: '/v1/track', body: { event: name, email, data } }
  const { outcome, body } = await main.api.ask({
    ...request,
    ...(key === undefined ? {} : { key }),
  })
  const id = outcome === 'acknowledged' ? (body as { event: string }).event : undefined
  history.events.push({ number, name, email, outcome, id, startsWorkflow: name === WORKFLOW_EVENT })
}

function chooseName({ lots }: Operation): string {
  return EVENTS[Math.floor(lots[0] * EVENTS.length)] ?? EVENTS[0]
}

function visitorOf({ lots }: Operation): string {
  return `v${Math.floor(lots[1] * VISITORS)}@visitors.test`
}
