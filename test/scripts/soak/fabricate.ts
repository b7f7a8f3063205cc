/** A small history and the rows that fit it: one of each thing, all accounted for. */
import {
  type Arrival,
  createHistory,
  type History,
  type HookRequest,
} from '../../../scripts/soak/history/history.ts'
import { judge } from '../../../scripts/soak/ledger/judge.ts'
import type { EmailRow, EventRow, Rows } from '../../../scripts/soak/ledger/rows.ts'

export const GIVE_UP_MS = 60_000
const T = Date.parse('2026-11-26T12:00:00Z')

export type Fabricated = { history: History; rows: Rows }

/** `second` 0 is the start of the run. */
export const at = (second: number) => T + second * 1_000

export function email(id: string, fields: Partial<EmailRow> = {}): EmailRow {
  return {
    ...{ id, project: 'main', recipient: `${id}@healthy.test`, number: null },
    ...{ source: 'TRANSACTIONAL', state: 'delivered', status: 'DELIVERED', error: null },
    ...{ campaignId: null, executionId: null, stepExecutionId: null },
    ...{ createdAt: at(0), updatedAt: at(1), openedAt: null, clickedAt: null },
    ...{ uncertainAttempts: 0, ...fields },
  } as EmailRow
}

export function arrival(id: string, fields: Partial<Arrival> = {}): Arrival {
  const to = `${id}@healthy.test`
  const times = { at: at(1), repliedAt: at(1) }
  return { site: 'healthy.test', emailId: id, number: null, to, ...times, ...fields }
}

export function event(id: string, fields: Partial<EventRow> = {}): EventRow {
  return {
    ...{ seq: 100, id, project: 'main', name: 'soak.visit' },
    ...{ emailId: null, number: null, data: {}, ...fields },
  } as EventRow
}

export function hook(id: string, fields: Partial<HookRequest> = {}): HookRequest {
  return { path: '/events', id, at: at(1), status: 200, isSigned: true, email: '', ...fields }
}

const eventsOf = (id: string, ...names: string[]) =>
  names.map((name) => event(`${id} ${name}`, { name, emailId: id }))

/** Everything is as it should be. */
export function fabricate(): Fabricated {
  const history = createHistory()
  const send = { project: 'main', via: 'http', outcome: 'acknowledged' } as const
  history.sends.push({ ...send, number: 1, to: ['e1@healthy.test'], ids: ['e1'] })
  history.sends.push({ ...send, number: 2, to: ['gone@strict.test'], ids: ['e2'] })
  history.sends.push({ ...send, number: 3, to: ['e3@healthy.test'], ids: [], outcome: 'unknown' })
  history.arrivals.push(arrival('e1', { number: 1 }), arrival('w1'), arrival('p1', { number: 5 }))
  history.refusals.push({ site: 'strict.test', emailId: 'e2', to: 'gone@strict.test', at: at(1) })
  const tracked = { name: 'soak.visit', email: 'v@visitors.test', startsWorkflow: false }
  history.events.push({ ...tracked, number: 7, id: 'v7', outcome: 'acknowledged' })
  history.events.push({ ...tracked, number: 8, id: undefined, outcome: 'unknown' })
  const signup = { name: 'signup', email: 'w1@healthy.test', startsWorkflow: true }
  history.events.push({ ...signup, number: 9, id: 'v9', outcome: 'acknowledged' })
  history.contacts.set('c1@people.test', {
    ...{ email: 'c1@people.test', id: 'c1', isRetired: false, isBusy: false, acknowledged: 2 },
    possible: [{ subscribed: true, revision: 4 }],
  })
  const list = { number: 5, jobId: 'j5', emails: ['p1@healthy.test', 'p2@healthy.test'] }
  history.imports.push({ ...list, outcome: 'acknowledged' })
  const audience = list.emails
  history.campaigns.push({
    ...{ number: 5, id: 'k5', audience, send: 'acknowledged', cancel: undefined },
  })
  const stored = [
    event('v7', { number: 7 }),
    event('v9', { number: 9, name: 'signup' }),
    ...['e1', 'w1', 'p1'].flatMap((id) => eventsOf(id, 'email.sent', 'email.delivery')),
    ...eventsOf('e2', 'email.bounce'),
  ]
  history.hooks.push(...stored.map(({ id }) => hook(id)))
  history.hooks.push(hook('s2', { path: '/step', email: 'w1@healthy.test' }))
  const step = { executionId: 'x1', email: 'w1@healthy.test', status: 'COMPLETED' }
  const contact = { project: 'main', subscribed: true } as const
  const rows: Rows = {
    emails: [
      email('e1', { number: 1 }),
      email('e2', {
        ...{ number: 2, recipient: 'gone@strict.test', state: 'bounced', status: 'BOUNCED' },
      }),
      email('w1', { source: 'WORKFLOW', executionId: 'x1', stepExecutionId: 's1' }),
      email('p1', { source: 'CAMPAIGN', campaignId: 'k5', number: 5 }),
    ],
    contacts: [
      { ...contact, email: 'c1@people.test', data: { revision: 4 } },
      { ...contact, email: 'p1@healthy.test', data: { batch: 'b5' } },
      { ...contact, email: 'p2@healthy.test', subscribed: false, data: { batch: 'b5' } },
      { ...contact, email: 'w1@healthy.test', data: { stage: 'welcomed' } },
    ],
    events: stored,
    executions: [{ id: 'x1', email: 'w1@healthy.test', status: 'EXITED', exitReason: 'done' }],
    steps: [
      { ...step, id: 's1', type: 'SEND_EMAIL' },
      { ...step, id: 's2', type: 'WEBHOOK' },
      { ...step, id: 's3', type: 'UPDATE_CONTACT' },
    ],
    campaigns: [{ id: 'k5', status: 'SENT', rowsMade: 1, skippedUnsubscribed: 1 }],
    received: [],
    jobs: [{ id: 'j5', kind: 'import', state: 'completed', error: null }],
    unread: [],
    deliveries: stored.map(({ id }) => ({ id: `d ${id}`, eventId: id, status: 'SUCCEEDED' })),
    endpointAfterSeq: 0,
    counts: [{ name: 'contacts', kept: 4, recounted: 4 }],
    integrity: [],
  }
  return { history, rows }
}

/** `row: id` of everything that does not match. */
export function findingsOf({ history, rows }: Fabricated): string[] {
  return judge(history, rows, { giveUpMs: GIVE_UP_MS }).flatMap(({ name, findings }) =>
    findings.map(({ id }) => `${name}: ${id}`),
  )
}
