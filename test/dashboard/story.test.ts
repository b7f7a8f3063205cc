import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failedStep, type StoryFacts, storyOf } from '../../src/dashboard/logic/story.ts'
import { visible } from '../../src/dashboard/logic/visible.ts'

const minute = (count: number) => new Date(Date.UTC(2026, 10, 30, 9, count)).toISOString()

function attempt(at: string, result: string, more: object = {}) {
  return {
    ...{ at, result, durationMs: 241, host: 'mx.a.example', address: '192.0.2.10', tls: null },
    ...{ class: null, reply: null, error: null, finalRecipient: null, maybeDelivered: false },
    steps: [],
    ...more,
  }
}

function event(name: string, at: string, data: unknown = {}) {
  return { id: `${name} ${at}`, name, data, createdAt: at }
}

const email: StoryFacts = {
  ...{ createdAt: minute(0), nextAttemptAt: null, status: 'PENDING', attempts: [], events: [] },
  ...{ opens: 0, clicks: 0, machineOpens: 0, machineClicks: 0, openedAt: null, clickedAt: null },
}

const kinds = (facts: StoryFacts, suppressedAt: string | null = null) =>
  storyOf(facts, suppressedAt).map((item) => item.kind)

describe('the story of an email', () => {
  it('goes from the next attempt down to the beginning', () => {
    const items = storyOf(
      {
        ...email,
        nextAttemptAt: minute(40),
        attempts: [attempt(minute(1), 'deferred'), attempt(minute(9), 'deferred')],
      },
      null,
    )
    assert.deepEqual(
      items.map((item) => [item.kind, 'number' in item ? item.number : 0]),
      [
        ['next', 3],
        ['attempt', 2],
        ['attempt', 1],
        ['accepted', 0],
      ],
    )
  })

  it('has no next attempt while one runs', () => {
    assert.deepEqual(kinds({ ...email, status: 'SENDING', nextAttemptAt: minute(40) }), [
      'accepted',
    ])
  })

  it('tells a report after the session apart from attempts', () => {
    const attempts = [attempt(minute(1), 'delivered'), attempt(minute(30), 'reported-bounced')]
    const facts = { ...email, status: 'BOUNCED' as const, attempts }
    assert.deepEqual(kinds(facts, minute(31)), ['suppressed', 'report', 'attempt', 'accepted'])
  })

  it('counts opens and clicks once each, by link, and machines apart', () => {
    const items = storyOf(
      {
        ...email,
        ...{ status: 'CLICKED', opens: 2, clicks: 3, machineOpens: 4, machineClicks: 1 },
        ...{ openedAt: minute(10), clickedAt: minute(11) },
        attempts: [attempt(minute(1), 'delivered')],
        events: [
          event('email.open', minute(10)),
          event('email.click', minute(11), { link: 'https://a.example/x' }),
          event('email.click', minute(12), { link: 'https://a.example/y' }),
          event('email.click', minute(13), { link: 'https://a.example/y' }),
          event('email.open', minute(20)),
        ],
      },
      null,
    )
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['opened', 'clicked', 'machines', 'attempt', 'accepted'],
    )
    const clicked = items.find((item) => item.kind === 'clicked')
    assert.deepEqual(clicked?.kind === 'clicked' && clicked.links, [
      { link: 'https://a.example/y', count: 2 },
      { link: 'https://a.example/x', count: 1 },
    ])
  })

  it('tells a cancelled email apart from one that was given up', () => {
    const told = (data: object) => {
      const [item] = storyOf({ ...email, events: [event('email.failed', minute(5), data)] }, null)
      return item?.kind === 'event' && item.name
    }
    assert.equal(told({ error: 'cancelled', reason: 'cancelled' }), 'cancelled')
    assert.equal(told({ error: 'cancelled', reason: 'error' }), 'failed')
  })

  it('reads steps of any form, with the answer in the words of the receiver', () => {
    const reply = { code: 451, enhancedCode: '4.7.1', text: 'later\nplease' }
    const steps = [
      { step: 'rcpt', at: 205, durationMs: 36, reply },
      { step: 'dns', at: 0, durationMs: 3, error: 'no answer' },
      {},
    ]
    const [item] = storyOf(
      { ...email, attempts: [attempt(minute(1), 'deferred', { steps })] },
      null,
    )
    assert.deepEqual(item?.kind === 'attempt' && item.steps.map(({ answer }) => answer), [
      '451 4.7.1 later\nplease',
      'no answer',
      null,
    ])
  })

  it('names the step that was refused, and not the one after it', () => {
    const stepOf = (steps: object[]) => {
      const attempts = [attempt(minute(1), 'bounced', { steps })]
      const [item] = storyOf({ ...email, attempts }, null)
      return item?.kind === 'attempt' && failedStep(item.steps)?.step
    }
    const step = (name: string, code: number) => ({ step: name, reply: { code, text: 'x' } })
    const steps = [step('mail', 250), step('rcpt', 550), step('data', 503)]
    assert.equal(stepOf(steps), 'rcpt')
    assert.equal(stepOf([step('mail', 250), { step: 'rcpt', error: 'timeout' }]), 'rcpt')
    assert.equal(stepOf([step('mail', 250)]), 'mail')
  })
})

describe('the words of a receiver', () => {
  it('hide nothing: control characters show as numbers', () => {
    assert.equal(
      visible('550 \u0007no\u202egnp\r\n\tuser'),
      '550 <U+0007>no<U+202E>gnp<U+000D>\n\tuser',
    )
    for (const text of ['Grüße 你好 🙂', '👩\u200d👧', 'می\u200cروم'])
      assert.equal(visible(text), text)
  })
})
