import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../../../../../src/base/log.ts'
import { recordAttempts } from '../../../../../src/features/mail/messages/outcome/record-attempts.ts'
import { countedLines } from '../../../../counted-lines.ts'
import { setEmails } from '../../../../set-emails.ts'
import { attempted, openSender, type Sender } from '../sender.ts'

const fault = { part: 'body', line: 2, column: 5, message: 'undefined filter: shout' } as const
const other = { part: 'subject', line: null, column: null, message: 'too long' } as const

async function record(sender: Sender, faults: readonly (typeof fault | typeof other)[]) {
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  const email = { ...(await sender.email(id)), isSealed: false }
  const report = attempted({ emailId: id, domain: 'dest.test' } as never, 'delivered')
  await sender.core.store.write(async (tx) => {
    await setEmails(tx, { state: 'sending', dueAt: null })
    assert.ok(report.kind === 'attempted')
    const deps = { ...sender.core, steadyNow: sender.core.now }
    await recordAttempts(deps, tx, [{ ...report, email, faults }])
  })
  return id
}

function logTo(sender: Sender): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = []
  sender.core.log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  return lines
}

test('a fault of a template is stored with the email, logged and counted', async (t) => {
  const sender = await openSender(t)
  const lines = logTo(sender)
  const id = await record(sender, [other, fault])
  const { templateFaults, state, projectId } = await sender.email(id)
  assert.deepEqual(templateFaults, [other, fault])
  assert.equal(state, 'delivered')
  const warned = lines.filter(({ msg }) => msg === 'an email has a fault in its template')
  assert.equal(warned.length, 2)
  const { emailId, projectId: logged, part, line, column } = warned[1] ?? {}
  assert.deepEqual([emailId, logged], [id, projectId])
  assert.deepEqual([part, line, column], ['body', 2, 5])
  // The message quotes the template.
  assert.ok(!JSON.stringify(lines).includes(fault.message))
  assert.deepEqual(countedLines(sender.core, 'pillarbox_template_faults_total'), [
    { labels: { part: 'subject' }, count: 1 },
    { labels: { part: 'body' }, count: 1 },
  ])
})

test('an email without a fault has no fault stored, logged or counted', async (t) => {
  const sender = await openSender(t)
  const lines = logTo(sender)
  const id = await record(sender, [])
  assert.equal((await sender.email(id)).templateFaults, null)
  assert.deepEqual(
    lines.filter(({ part }) => part !== undefined),
    [],
  )
  assert.deepEqual(countedLines(sender.core, 'pillarbox_template_faults_total'), [])
})
