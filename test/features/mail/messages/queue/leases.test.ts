import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { correctDueTimes } from '../../../../../src/features/mail/messages/queue/leases.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender } from '../sender.ts'

test('F3: mail that a wrong clock made due tomorrow is due at once when the clock is set right', async (t) => {
  const sender = await openSender(t)
  const accepted = await sender.send()
  const id = accepted.emails[0]?.email as string
  const setDueAt = (dueAt: number) =>
    sender.core.store.write((tx) => setEmails(tx, { state: 'deferred', dueAt }))
  await setDueAt(sender.clock.now + DAY_MS + MINUTE_MS)
  await correctDueTimes(sender.core)
  assert.equal((await sender.email(id)).dueAt, sender.clock.now)
  // The longest wait that a schedule or a reply asks for stays.
  await setDueAt(sender.clock.now + DAY_MS / 4)
  await correctDueTimes(sender.core)
  assert.equal((await sender.email(id)).dueAt, sender.clock.now + DAY_MS / 4)
})
