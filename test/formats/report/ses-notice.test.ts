/** Notices of Amazon SES in mail of strangers: what no notice of SES has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSesNotice } from '../../../src/formats/report/ses-notice.ts'

const DEEP = `${'['.repeat(28_000)}${']'.repeat(28_000)}`

test('values deeper than the stack are none', () => {
  for (const name of ['notificationType', 'eventType']) {
    assert.equal(readSesNotice(`{"${name}":${DEEP}}`), undefined, name)
  }
  const notice = readSesNotice(`{"eventType":"Complaint","complaint":${DEEP}}`)
  assert.deepEqual(notice, { type: 'complaint', feedbackType: 'abuse', recipients: [] })
})

test('a subtype with the name of a method is unknown', () => {
  const bounce = {
    bounceSubType: 'constructor',
    bounceType: 'Transient',
    bouncedRecipients: [{ emailAddress: 'a@dest.test' }],
  }
  const notice = readSesNotice(JSON.stringify({ notificationType: 'Bounce', bounce }))
  const [recipient] = notice?.type === 'delivery' ? notice.recipients : []
  assert.equal(recipient?.diagnostic, 'temporary failure')
})
