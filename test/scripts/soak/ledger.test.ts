import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  arrival,
  at,
  email,
  event,
  type Fabricated,
  fabricate,
  findingsOf,
  hook,
} from './fabricate.ts'

/** What one change of a history that balances must bring to light. */
type Case = [name: string, change: (it: Fabricated) => void, findings: string[]]

const find = <T>(list: readonly T[], isIt: (one: T) => boolean): T => {
  const found = list.find(isIt)
  if (found === undefined) throw new TypeError('it is not there')
  return found
}
const byId = (id: string) => (one: { id: string }) => one.id === id
const importJobs = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ id: `j${100 + index}`, kind: 'import', state: 'completed', error: null },
  }))
const without = <T extends { id: string }>(list: T[], id: string) =>
  void list.splice(list.findIndex(byId(id)), 1)

const emails: Case[] = [
  [
    'an acknowledged email that is not stored',
    ({ rows }) => without(rows.emails, 'e1'),
    ['emails acknowledged: e1', 'messages at receivers: e1'],
  ],
  [
    'an acknowledged email that no receiver has',
    ({ history }) => void history.arrivals.shift(),
    ['emails delivered: e1'],
  ],
  [
    'an acknowledged email that never ends',
    ({ rows }) => void Object.assign(find(rows.emails, byId('e2')), { state: 'deferred' }),
    ['emails without an end: e2'],
  ],
  [
    'a request that is stored twice',
    ({ rows, history }) => {
      rows.emails.push(email('e9', { number: 1, recipient: 'e1@healthy.test' }))
      rows.events.push(...fakeEvents('e9'))
      history.hooks.push(hook('e9 email.sent'), hook('e9 email.delivery'))
      history.arrivals.push(arrival('e9', { number: 1, to: 'e1@healthy.test' }))
    },
    ['emails acknowledged: e1'],
  ],
  [
    'a refused request that is sent all the same',
    ({ history }) => {
      const send = find(history.sends, ({ number }) => number === 2)
      Object.assign(send, { outcome: 'refused', ids: [] })
    },
    ['emails refused: e2'],
  ],
  [
    'an email that nobody asked for',
    ({ rows }) => void Object.assign(find(rows.emails, byId('e2')), { number: 77 }),
    ['emails acknowledged: e2', 'emails that nobody asked for: e2'],
  ],
  [
    'a message that nobody accepted',
    ({ history }) => void history.arrivals.push(arrival('stranger')),
    ['messages at receivers: stranger'],
  ],
  [
    'a message at the wrong recipient',
    ({ history }) =>
      void Object.assign(
        find(history.arrivals, ({ emailId }) => emailId === 'w1'),
        { to: 'x@y.test' },
      ),
    ['messages at receivers: w1'],
  ],
  [
    'a message that arrives again without a disruption',
    ({ history, rows }) => {
      history.arrivals.push(arrival('e1', { at: at(9), repliedAt: at(9) }))
      Object.assign(find(rows.emails, byId('e1')), { uncertainAttempts: 1 })
    },
    ['messages that arrived again: e1'],
  ],
  [
    'a repetition after a graceful restart',
    ({ history, rows }) => {
      Object.assign(find(rows.emails, byId('e1')), { uncertainAttempts: 1 })
      history.arrivals.push(arrival('e1', { at: at(9), repliedAt: at(9) }))
      history.disruptions.push({ kind: 'restart', from: at(1), to: at(2) })
    },
    ['messages that arrived again: e1'],
  ],
  [
    'a repetition long after a kill',
    ({ history, rows }) => {
      Object.assign(find(rows.emails, byId('e1')), { uncertainAttempts: 1 })
      history.arrivals.push(arrival('e1', { at: at(19), repliedAt: at(19) }))
      history.arrivals.shift()
      history.arrivals.push(arrival('e1', { at: at(15), repliedAt: at(15), number: 1 }))
      history.disruptions.push({ kind: 'kill', from: at(1), to: at(2) })
    },
    ['messages that arrived again: e1'],
  ],
  [
    'a bounce without a refusal',
    ({ history }) => void history.refusals.shift(),
    ['emails bounced: e2'],
  ],
  [
    'a bounced email that a receiver has',
    ({ history }) => {
      const fields = { number: 2, to: 'gone@strict.test', site: 'strict.test' }
      history.arrivals.push(arrival('e2', fields))
    },
    ['emails bounced: e2'],
  ],
  [
    'an email that was given up at once',
    ({ rows }) => {
      const fields = { state: 'failed', status: 'FAILED', error: 'connect ECONNREFUSED' }
      Object.assign(find(rows.emails, byId('e2')), fields)
      rows.events.splice(rows.events.findIndex(byId('e2 email.bounce')), 1)
    },
    ['emails failed: e2', 'events told to the endpoint: e2 email.bounce'],
  ],
  [
    'a cancelled email that nobody cancelled',
    ({ rows }) => {
      Object.assign(find(rows.emails, byId('e2')), { state: 'failed', error: 'cancelled' })
    },
    ['emails failed: e2'],
  ],
]

const people: Case[] = [
  [
    'a contact without its last acknowledged change',
    ({ rows }) =>
      void Object.assign(find(rows.contacts, isAt('c1@people.test')), { data: { revision: 3 } }),
    ['changes of contacts: c1@people.test'],
  ],
  [
    'a contact that was deleted and is there',
    ({ history }) => {
      const contact = history.contacts.get('c1@people.test')
      if (contact !== undefined) contact.possible = [null]
    },
    ['changes of contacts: c1@people.test'],
  ],
  [
    'a row of an import that is missing',
    ({ rows }) => void rows.contacts.splice(rows.contacts.findIndex(isAt('p2@healthy.test')), 1),
    ['imported contacts: p2@healthy.test'],
  ],
  [
    'an import whose job is gone',
    ({ rows }) => void rows.jobs.splice(0, 1, ...importJobs(49)),
    ['imported contacts: j5'],
  ],
  [
    'someone who unsubscribed and is subscribed',
    ({ history }) =>
      void history.unsubscriptions.push({
        ...{ emailId: 'p1', email: 'p1@healthy.test', outcome: 'acknowledged' },
      }),
    ['unsubscriptions: p1@healthy.test'],
  ],
  [
    'an acknowledged event that is lost',
    ({ rows }) => without(rows.events, 'v7'),
    ['events acknowledged: v7', 'events told to the endpoint: v7'],
  ],
  [
    'an event that is stored twice',
    ({ rows, history }) => {
      rows.events.push(event('v7 again', { number: 7 }))
      history.hooks.push(hook('v7 again'))
    },
    ['events acknowledged: v7'],
  ],
  [
    'an event that nobody tracked',
    ({ rows, history }) => {
      rows.events.push(event('v99', { number: 99 }))
      history.hooks.push(hook('v99'))
    },
    ['events acknowledged: v99'],
  ],
  [
    'a delivered email without its event',
    ({ rows, history }) => {
      without(rows.events, 'e1 email.delivery')
      history.hooks.splice(history.hooks.findIndex(byId('e1 email.delivery')), 1)
    },
    ['events of emails: e1'],
  ],
]

const effects: Case[] = [
  [
    'an event that the endpoint was not told',
    ({ history }) => void history.hooks.splice(history.hooks.findIndex(byId('v7')), 1),
    ['events told to the endpoint: v7'],
  ],
  [
    'a webhook that is told again without a failure',
    ({ history }) => void history.hooks.push(hook('v7', { at: at(30) })),
    ['webhooks told again: v7'],
  ],
  [
    'a webhook without a right signature',
    ({ history }) => void Object.assign(find(history.hooks, byId('v7')), { isSigned: false }),
    ['signatures of webhooks: v7'],
  ],
  [
    'an event that starts nothing',
    ({ rows }) => {
      Object.assign(rows, { executions: [], steps: [] })
      without(rows.emails, 'w1')
    },
    [
      'messages at receivers: w1',
      'executions of the workflow: w1@healthy.test',
      'effects of steps: s2',
    ],
  ],
  [
    'an execution without an end',
    ({ rows }) => void Object.assign(find(rows.executions, byId('x1')), { status: 'WAITING' }),
    ['executions of the workflow: x1'],
  ],
  [
    'a step that sends two emails',
    ({ rows, history }) => {
      const fields = { source: 'WORKFLOW', executionId: 'x1', stepExecutionId: 's1' } as const
      rows.emails.push(email('w9', fields))
      rows.events.push(...fakeEvents('w9'))
      history.hooks.push(hook('w9 email.sent'), hook('w9 email.delivery'))
      history.arrivals.push(arrival('w9'))
    },
    ['effects of steps: x1'],
  ],
  [
    'a request of a step under a second id',
    ({ history }) =>
      void history.hooks.push(hook('s9', { path: '/step', email: 'w1@healthy.test' })),
    ['effects of steps: s9'],
  ],
  [
    'a request of a step that is repeated',
    ({ history }) =>
      void history.hooks.push(hook('s2', { path: '/step', email: 'w1@healthy.test', at: at(9) })),
    ['effects of steps: s2'],
  ],
  [
    'a step that changed nothing',
    ({ rows }) => void Object.assign(find(rows.contacts, isAt('w1@healthy.test')), { data: {} }),
    ['effects of steps: x1'],
  ],
  [
    'a campaign that missed a contact',
    ({ rows }) => void Object.assign(find(rows.campaigns, byId('k5')), { skippedUnsubscribed: 0 }),
    ['campaigns: k5'],
  ],
  [
    'a campaign that does not end',
    ({ rows }) => void Object.assign(find(rows.campaigns, byId('k5')), { status: 'SENDING' }),
    ['campaigns: k5'],
  ],
  [
    'a figure that is not that of a recount',
    ({ rows }) =>
      void Object.assign(
        find(rows.counts, ({ name }) => name === 'contacts'),
        { kept: 5 },
      ),
    ['figures equal a recount: contacts'],
  ],
  [
    'a bounce that was acknowledged and changed nothing',
    ({ history }) =>
      void history.reports.push({
        ...{ number: 11, kind: 'bounce', emailId: 'e1', mark: 'e1' },
        ...{ outcome: 'acknowledged', tries: 1 },
      }),
    ['bounces and complaints: e1'],
  ],
  [
    'a reply that was acknowledged and is not stored',
    ({ history }) =>
      void history.reports.push({
        ...{ number: 12, kind: 'reply', emailId: 'e1', mark: 'Reply 12' },
        ...{ outcome: 'acknowledged', tries: 1 },
      }),
    ['replies: Reply 12'],
  ],
  [
    'an open that nobody made',
    ({ rows }) => void Object.assign(find(rows.emails, byId('e1')), { openedAt: at(5) }),
    ['opens and clicks: e1'],
  ],
  [
    'a broken database',
    ({ rows }) => void rows.integrity.push('row 3 missing from index'),
    ['integrity of the database: database'],
  ],
  [
    'an answer that nobody expects',
    ({ history }) =>
      void history.surprises.push({ at: at(1), what: 'GET /emails', status: 500, text: '' }),
    ['answers that nobody expects: GET /emails'],
  ],
]

describe('the ledger of the soak', () => {
  it('balances when everything is accounted for', () => {
    assert.deepEqual(findingsOf(fabricate()), [])
  })

  it('excuses the job of an import that 50 newer ones have driven out', () => {
    const it = fabricate()
    it.rows.jobs.splice(0, 1, ...importJobs(50))
    assert.deepEqual(findingsOf(it), [])
  })

  it('excuses a repetition that a kill or a silent receiver explains', () => {
    const killed = fabricate()
    const certain = fabricate()
    certain.history.arrivals.push(arrival('e1', { at: at(9), repliedAt: at(9) }))
    certain.history.disruptions.push({ kind: 'kill', from: at(1.5), to: at(3) })
    Object.assign(find(killed.rows.emails, byId('e1')), { uncertainAttempts: 1 })
    killed.history.arrivals.push(arrival('e1', { at: at(9), repliedAt: at(9) }))
    killed.history.disruptions.push({ kind: 'kill', from: at(1.5), to: at(3) })
    const silent = fabricate()
    silent.history.arrivals.push(arrival('e1', { at: at(0), repliedAt: null }))
    Object.assign(find(silent.rows.emails, byId('e1')), { uncertainAttempts: 1 })
    assert.deepEqual([findingsOf(killed), findingsOf(silent)], [[], []])
    // The server must know, too.
    assert.deepEqual(findingsOf(certain), ['messages that arrived again: e1'])
  })

  it('excuses a webhook that a graceful stop aborted, and none long after it', () => {
    const wrongOf = (restart: number) => {
      const fabricated = fabricate()
      fabricated.history.hooks.push(hook('v7', { at: at(30) }))
      const times = { from: at(restart), to: at(restart + 5) }
      fabricated.history.disruptions.push({ kind: 'restart', ...times })
      return findingsOf(fabricated)
    }
    assert.deepEqual([wrongOf(2), wrongOf(20)], [[], ['webhooks told again: v7']])
  })

  it('accepts an email with an unknown outcome, stored or not', () => {
    const stored = fabricate()
    stored.rows.emails.push(email('e3', { number: 3 }))
    stored.rows.events.push(...fakeEvents('e3'))
    stored.history.hooks.push(hook('e3 email.sent'), hook('e3 email.delivery'))
    stored.history.arrivals.push(arrival('e3', { number: 3 }))
    assert.deepEqual(findingsOf(stored), [])
  })

  for (const [name, change, findings] of [...emails, ...people, ...effects]) {
    it(`names ${name}`, () => {
      const fabricated = fabricate()
      change(fabricated)
      assert.deepEqual(findingsOf(fabricated), findings)
    })
  }
})

function fakeEvents(id: string) {
  return ['email.sent', 'email.delivery'].map((name) =>
    event(`${id} ${name}`, { name, emailId: id }),
  )
}

function isAt(address: string) {
  return (contact: { email: string }) => contact.email === address
}
