import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type ActivityEntry,
  emailOfEntry,
  FILTER_TYPES,
  factsOfEntry,
  subjectOfEntry,
  toneOfEntry,
} from '../../src/dashboard/logic/activity.ts'
import { en } from '../../src/dashboard/text/en.ts'
import { ACTIVITY_TYPES } from '../../src/features/insight/activity/activity-entry.ts'
import { UNLISTED_EVENTS } from '../../src/records/words.ts'

const entry = (type: string, metadata: object = {}): ActivityEntry => ({
  ...{ id: 'a', type, timestamp: '2026-11-30T00:00:00.000Z' },
  metadata: metadata as Record<string, unknown>,
})

describe('an entry of the feed', () => {
  it('has a word for every type of the server', () => {
    for (const type of [...ACTIVITY_TYPES, ...UNLISTED_EVENTS])
      assert.ok(`type.${type}` in en, type)
    for (const type of FILTER_TYPES) {
      assert.ok([...ACTIVITY_TYPES, ...UNLISTED_EVENTS].includes(type), type)
    }
  })

  it('is bad only if something failed', () => {
    assert.equal(toneOfEntry(entry('email.bounced')), 'bad')
    assert.equal(toneOfEntry(entry('email.bounced', { transientBounce: true })), 'warn')
    assert.equal(toneOfEntry(entry('workflow.completed', { status: 'FAILED' })), 'bad')
    assert.equal(toneOfEntry(entry('workflow.completed', { status: 'COMPLETED' })), 'good')
    assert.equal(toneOfEntry(entry('of.tomorrow')), 'off')
  })

  it('is about its subject, or about the name of what it is of', () => {
    assert.equal(
      subjectOfEntry(entry('email.sent', { subject: 'Hello', campaignName: 'News' })),
      'Hello',
    )
    assert.equal(subjectOfEntry(entry('campaign.sent', { campaignName: 'News' })), 'News')
    assert.equal(
      subjectOfEntry(entry('event.triggered', { subject: 'no', eventName: 'bought' })),
      'bought',
    )
    assert.equal(subjectOfEntry(entry('email.sent', { subject: 7 })), '')
  })

  it('leads to its email, if it is of one', () => {
    assert.equal(emailOfEntry(entry('email.sent', { emailId: 'x' })), 'x')
    assert.equal(emailOfEntry(entry('event.triggered', { emailId: 'x' })), undefined)
  })

  it('has facts without empty ones and without bodies', () => {
    const metadata = { subject: 'S', body: '<p>', a: null, b: '', c: 0, d: { x: 1 } }
    assert.deepEqual(factsOfEntry(entry('email.sent', metadata)), [
      ['c', '0'],
      ['d', '{\n "x": 1\n}'],
    ])
  })
})
