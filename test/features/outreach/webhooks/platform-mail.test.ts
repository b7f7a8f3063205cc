/** Webhooks of the project that sends the server's mail to its users. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Core } from '../../../../src/core/core.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { trustDomain } from '../../../core.ts'
import { findNeedles, writeEveryKind } from '../../tenancy/accounts/platform-mail/every-kind.ts'
import { openStage } from './harness.ts'

const NAMES = ['email.sent', 'email.delivery', 'email.bounce', 'email.failed', 'email.suppressed']

test('S30: no webhook has the links or texts of mail to users', async (t) => {
  const bodies: string[] = []
  const webhookClient: Core['webhookClient'] = {
    request: async ({ url, body }) => {
      bodies.push(Buffer.from(body ?? '').toString())
      const answer = { status: 200, headers: {}, body: Buffer.from('ok'), isCut: false }
      return { kind: 'response', url, ...answer }
    },
    mayRequest: () => true,
    closeIdle: () => undefined,
  }
  const { core, projectId, ...stage } = await openStage(t, {
    configure: (config) => ({ ...config, accounts: { ...config.accounts } }),
    parts: { webhookClient },
  })
  await trustDomain(core, projectId, 'example.test')
  core.config.accounts.mailProject = projectId
  const endpoint = await stage.addEndpoint('https://hooks.example.test/')
  const written = await writeEveryKind(core)
  for (const { emailId } of written) {
    const email = await core.store.read.select().from(emails).where(eq(emails.id, emailId)).get()
    assert.ok(email)
    const of = { emailId, contactId: email.contactId }
    await stage.append(...NAMES.map((name) => ({ name, ...of })))
  }
  const rows = await stage.settled(endpoint.id, ({ status }) => status === 'SUCCEEDED')
  assert.ok(rows.length >= written.length * NAMES.length)
  assert.equal(bodies.length, rows.length)
  assert.ok(bodies.some((body) => body.includes(written[0]?.emailId ?? '-')))
  const needles = written.flatMap((one) => one.needles)
  for (const body of bodies) assert.deepEqual(findNeedles(body, needles), [])
})
